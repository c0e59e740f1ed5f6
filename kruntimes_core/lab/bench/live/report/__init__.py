"""From what was seen to figures, and to the document of them."""
