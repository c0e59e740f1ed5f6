"""A dry run: what this scheduler would do, compared with what the running one did."""
