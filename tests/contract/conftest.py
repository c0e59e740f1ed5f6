"""Fixtures of the contract suite."""

from contract.stage import embedded, stage
from realcluster.fixtures import cluster

__all__ = ["cluster", "embedded", "stage"]
