"""A host that runs dry beside another scheduler, which does what a test says."""
