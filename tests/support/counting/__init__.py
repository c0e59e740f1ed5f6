"""Counting what is done: questions, cycles, requests, lines of code. Counts are alike on any machine."""
