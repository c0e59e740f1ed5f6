"""Who is tried next, and who is woken by what."""
