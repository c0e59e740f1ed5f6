"""A development cluster in one process: embedded API server, simulated Runtimes, scheduler, workload."""
