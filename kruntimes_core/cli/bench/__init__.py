"""`kruntimes bench` measures: any scheduler on an API server, or the engine alone."""
