"""The kinds that are served: how objects of each are read, prepared, validated and deleted."""
