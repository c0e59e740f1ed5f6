"""Simulated Runtimes: Pods that come up, send heartbeats and execute the Runs that are bound to them.

They stand in for the Runtime controller, kubelet and runtimed of a cluster. `simulation` decides, as a pure
state machine; `simulated_runtimes` joins it to any API server.
"""
