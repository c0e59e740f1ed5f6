"""The API dispatcher: status patches and the reads that settle unknown outcomes, at most one for each Run."""
