"""The engine: state, queue, cycle, reservations. No I/O, no clock, no thread of its own.

Events come in, work and requests go out, and what came of them comes back in as events. The same
engine is driven by the host in a cluster, by the offline planner and by tests with virtual time.
It is entered by one thread at a time; the snapshots and records that it hands out need no lock.
"""
