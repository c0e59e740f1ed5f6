"""A plan without a cluster: reads manifests as the scheduler would, and decides every Pending Run."""
