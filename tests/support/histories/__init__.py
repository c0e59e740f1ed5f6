"""Generated histories of a cluster, played on a host."""
