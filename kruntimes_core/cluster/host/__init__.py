"""One scheduler host: watches, planner and writer around one engine."""
