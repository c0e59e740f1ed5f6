"""The rights that a scheduler needs of the cluster, and which of them it is refused now."""
