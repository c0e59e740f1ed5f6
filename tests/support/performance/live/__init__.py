"""The figures of a scheduler on a real API server: measured in turn, kept, and put into tables."""
