"""The only room that talks to an API server: watches come in, status patches go out.

It decides nothing; it drives the engine. Transport, clocks, random source and plugin worker are arguments,
and it uses plain asyncio alone, so that tests run the same code in virtual time.
"""
