"""A dry run's comparison of what this scheduler would do with what the running one did."""
