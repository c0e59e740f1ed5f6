"""Following a resource: lists committed whole or not at all, and watches that never go back in time."""
