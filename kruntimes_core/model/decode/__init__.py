"""From what an API server or a file says to the values of this room, and never an exception on the way."""
