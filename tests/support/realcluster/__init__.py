"""A real kube-apiserver and etcd on loopback, for tests.

The API server decides what the scheduler's driver, the CRDs and the embedded server have to do; an idea
of ours does not. `python -m realcluster` gets the binaries, `fixtures` starts them.
"""
