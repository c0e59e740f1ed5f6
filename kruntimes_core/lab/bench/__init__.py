"""Measures how fast Runs are placed: `live` on an API server, `engine` without one."""
