"""The scheduler of a cluster: informers, plugin worker and API dispatcher around one engine."""
