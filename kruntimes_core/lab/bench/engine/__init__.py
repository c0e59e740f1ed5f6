"""What the engine and the plugins cost by themselves: the host's own engine, without I/O and without waiting.

Only the engine's face is used, so whatever is measured here is what every driver of it pays.
"""
