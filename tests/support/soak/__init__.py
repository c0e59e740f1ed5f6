"""Schedulers under random faults, on a real API server, judged by a watch of its own."""
