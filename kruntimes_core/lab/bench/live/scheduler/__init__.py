"""The scheduler that is measured: what is started, and what it costs."""
