"""`kruntimes scheduler` runs the host."""
