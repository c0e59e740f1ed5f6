"""How to reach the API server, and as whom: in-cluster or by kubeconfig, directly or by a proxy."""
