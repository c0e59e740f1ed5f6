"""Status patches and the reads that settle doubts: many in flight, one for each Run."""
