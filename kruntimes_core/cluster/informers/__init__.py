"""Informers: each lists and watches one resource, and hands what it sees to a resource event handler.

A list is committed whole or not at all, and no watch goes back in time (`semantics`, Lists).
"""
