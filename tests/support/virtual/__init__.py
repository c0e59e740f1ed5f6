"""Hosts in virtual time."""
