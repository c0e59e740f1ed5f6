"""What others see of a running host: log lines, metrics, probes."""
