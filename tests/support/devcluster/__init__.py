"""`kruntimes dev` as its own process."""
