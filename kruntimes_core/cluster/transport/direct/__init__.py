"""HTTP/1.1 straight to a server.

A host does it five times for each Run, and a client for everybody takes three times as long for it.
"""
