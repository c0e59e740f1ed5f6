"""Several schedulers on one API server in memory, in virtual time, each with clocks and a line of its own."""
