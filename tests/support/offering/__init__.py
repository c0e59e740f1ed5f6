"""Waiting Runs in several classes, and a worker whose calls may fail to come back."""
