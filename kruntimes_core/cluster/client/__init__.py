"""Requests and answers as plain values, and the one file that sends them with aiohttp."""
