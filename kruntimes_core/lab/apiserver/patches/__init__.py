"""The three forms of patches: merge (RFC 7386), JSON (RFC 6902), and strategic merge for built-in kinds.

None of them changes what it is given; what a patch does not touch stays the same object.
"""
