"""The two names that tie plugin packages to the host."""

PROJECT = "kruntimes"
ENTRY_POINT_GROUP = "kruntimes.plugins"
