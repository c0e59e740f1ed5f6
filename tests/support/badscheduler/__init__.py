"""Schedulers that do one thing wrong, for whoever is to notice it: `python -m badscheduler FAULT ...`."""
