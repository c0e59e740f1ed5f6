"""The HTTP face of the API server in memory, and a host on it in virtual time."""
