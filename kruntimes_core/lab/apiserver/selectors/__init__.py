"""Which objects a list or a watch is about: label selectors and field selectors."""
