"""Leader election by a Lease, as Go electors do it, so that either kind takes over from the other.

It leads by its own clock alone: until the renew deadline after the renewal that it sent last, never by
what a record says. Nobody fences off a write that a network holds back; `docs/explanation/leading.md`
says what then happens.
"""
