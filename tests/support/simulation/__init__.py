"""The embedded API server without a network, and simulated Runtimes on it in virtual time."""
