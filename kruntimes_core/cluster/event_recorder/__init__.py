"""Events (events.k8s.io/v1) about what lasts or needs somebody. Nothing else waits for them."""
