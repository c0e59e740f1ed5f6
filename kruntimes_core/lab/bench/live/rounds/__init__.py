"""One load after the other, and what the API server takes without any scheduler between them."""
