"""Events (events.k8s.io/v1) about what lasts or needs an operator. Scheduling never waits for them."""
