"""How somebody who looks for a mistake says so: to plugin authors, the command shows what it hides."""

DEBUG = "KRUNTIMES_DEBUG"
"""Set to anything: errors come with where they were raised, and calls of plugins have no time limit."""
