"""Values that all rooms use, decoding of API objects into them, and readers of YAML, JSON and files."""
