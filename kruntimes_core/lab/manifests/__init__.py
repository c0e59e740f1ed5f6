"""Manifests to values: what `kubectl get -o yaml` prints, read back as the scheduler would see it."""
