"""The chart in `deploy/chart`, rendered as Helm would, and what is made of it.

`python -m deployment` writes the files in `deploy/` that follow from others; the tests hold them equal.
"""
