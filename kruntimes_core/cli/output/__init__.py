"""The forms in which answers are shown."""
