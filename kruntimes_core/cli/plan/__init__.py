"""`kruntimes plan` shows what the scheduler would decide for the objects in files."""
