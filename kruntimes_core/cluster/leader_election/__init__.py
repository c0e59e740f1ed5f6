"""Leader election by a Lease, as client-go does it, so that electors of either kind take over from the other.

A host leads by its own clock alone: until the renew deadline after the renewal that it sent last, whatever
a record says. No fence stops a write that a network holds back; `docs/explanation/leading.md` says what
then happens.
"""
