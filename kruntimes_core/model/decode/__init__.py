"""From what an API server or a file says to the values of this room, and never an exception on the way."""

from kruntimes_core.model.decode.decoder import Decoder
from kruntimes_core.model.decode.selector import compile_selector

__all__ = ["Decoder", "compile_selector"]
