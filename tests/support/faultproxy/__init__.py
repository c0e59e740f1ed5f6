"""A proxy with TLS in front of a real API server, on which anything may go wrong on purpose."""
