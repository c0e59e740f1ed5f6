"""`kruntimes bench engine`: what a decision costs without an API server, and which plugin costs it."""
