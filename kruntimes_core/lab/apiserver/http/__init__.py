"""The network around the server; only this folder knows aiohttp."""
