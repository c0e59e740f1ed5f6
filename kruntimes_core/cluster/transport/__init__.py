"""Requests and answers as plain values, and two ways to send them: straight, and with aiohttp."""
