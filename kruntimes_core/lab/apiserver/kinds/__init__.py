"""The kinds that are served: how objects of each are read, prepared, judged and deleted."""
