"""Leader election by a Lease, as client-go does it, so that electors of either kind take over from the other.

A scheduler leads by its own clock alone: until the renew deadline after the last renewal that it sent. No
fence stops a write that the network delays; `docs/explanation/leading.md` says what then happens.
"""
