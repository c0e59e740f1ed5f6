"""One behaviour of hypothesis for all tests: the same examples each time, and no stopwatch.

A test that fails on one machine has to fail on the next, however busy it is.
"""

from hypothesis import settings

settings.register_profile("kruntimes", derandomize=True, deadline=None, database=None)
settings.load_profile("kruntimes")
