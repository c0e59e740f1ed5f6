"""A plugin that remembers what it was asked to keep and to give back."""
