"""`kruntimes dev` runs a whole cluster in one process, to try things on."""
