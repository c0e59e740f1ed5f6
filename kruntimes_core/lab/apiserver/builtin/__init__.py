"""The kinds that every API server has, as far as this system uses them."""
