"""The plugin worker: calls plugins beside the event loop, with a time limit for each piece of work."""
