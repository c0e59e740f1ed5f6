"""The place where plugins' code runs: here and now, or beside the loop with a time limit."""
