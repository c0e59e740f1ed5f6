"""What is known of the cluster: immutable values, replaced when they change."""

from kruntimes_core.engine.state.claims import Claim
from kruntimes_core.engine.state.pictures import Changes
from kruntimes_core.engine.state.state import State

__all__ = ["Changes", "Claim", "State"]
