"""What a bench makes in a cluster, and takes away again."""
