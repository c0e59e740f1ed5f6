"""The scheduling cycle of one Run: take, plan, commit."""
