"""The contract suite's tools: one script of requests, played to several servers, and its answers compared.

A script is a function of a `Site`. It says what must be true of every answer that matters; what nobody
thought of is found by the comparison of everything that the servers said.
"""

from contract.site import Site
from contract.stage import Stage, contract

__all__ = ["Site", "Stage", "contract"]
