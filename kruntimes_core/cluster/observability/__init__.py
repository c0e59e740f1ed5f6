"""What operators see of a running scheduler: log lines, metrics, probes."""
