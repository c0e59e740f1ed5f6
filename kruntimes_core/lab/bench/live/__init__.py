"""Loads a scheduler on an API server and judges it from outside: by its own watch and its own clock.

Nothing in here knows how the scheduler works, so that any program that binds Runs can be measured.
"""
