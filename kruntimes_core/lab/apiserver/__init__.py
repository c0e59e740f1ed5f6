"""An API server in memory: what `kruntimes dev` and tests use in place of a cluster.

`ApiServer` (server) has the verbs, on objects and without I/O: a simulator may drive it in virtual time.
`EmbeddedServer` (http.embedded) serves it over HTTP on loopback. `Faults` (faults.faults) lets go wrong
what can go wrong between a client and a server, and `Invariants` (faults.invariants) watch over the writes.

What is written and judged, and in which words, was compared with kube-apiserver 1.37 request by request.
It differs, on purpose, in this:

- There is no server-side apply (415), no dry run (400), and objects have no `managedFields`.
- Bodies are JSON; only the Namespace of `kubectl create namespace` is read as protocol buffers.
- Of a Pod, only what this system can meet is judged, and unknown fields are found in the spec, in the
  containers and in the status, not deeper. What a text says about a wrong JSON document is our own.
- A changed CustomResourceDefinition is served at once, is judged for what serving needs only, and cannot be
  deleted. Beside those of the kinds listed here there are no resources, so no SubjectAccessReviews either.
- Rules of a schema are not asked about what did not change, and not at all without the extra
  `kruntimes-core[dev]`.
- With `controllers` a deleted namespace is emptied and gone at once, and nothing waits for a garbage
  collector; without, as on a bare kube-apiserver, it waits for ever.
"""
