"""What the bench sees of its Runs and Pods, and what must hold of it."""
