"""Where several tests begin."""
