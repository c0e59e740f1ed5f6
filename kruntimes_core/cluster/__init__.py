"""The only room that talks to an API server: watches in, status patches out, probes and metrics beside.

It decides nothing; it drives the engine. Transport, clocks, random source and the place where plans
run are arguments, and of the loop only plain asyncio is used, so the same code runs in virtual time.
"""
