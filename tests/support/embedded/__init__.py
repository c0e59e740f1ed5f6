"""An embedded API server for tests: deterministic, and with a small client over HTTP."""
