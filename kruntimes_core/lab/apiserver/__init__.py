"""An API server in memory: what `kruntimes dev` and tests use in place of a cluster.

`ApiServer` (server) has the verbs, on objects and without I/O: a simulator may drive it in virtual time.
`EmbeddedServer` (http.embedded) serves it over HTTP on loopback, behind a `Middleware` and an `Authorizer`
(http.middleware) where a test puts faults and access rules.

Codes, reasons, paths of fields, objects and events were compared with kube-apiserver 1.37 request by
request. It differs, on purpose, in this:

- Messages are its own. There is no server-side apply (415), no dry run (400), and objects have no
  `managedFields`.
- Bodies and answers are JSON or YAML, watches JSON; only the Namespace of `kubectl create namespace` is read
  as protocol buffers. A client that accepts nothing else gets a 406, as from a kube-apiserver for custom
  resources. A key that stands twice in YAML is refused, not warned of.
- A JSON patch is what RFC 6902 says: a kube-apiserver also replaces, copies and tests fields that are not
  there.
- Of a Pod, only what this system can meet is judged, and unknown fields are found in the spec, in the
  containers and in the status, not deeper.
- A changed CustomResourceDefinition is served at once, is judged for what serving needs only, and cannot be
  deleted. Beside those of the kinds listed here there are no resources, so no SubjectAccessReviews either.
- Rules of a schema are not evaluated about what did not change.
- With `controllers` a deleted namespace is emptied at once, its Pods without grace, and goes when the last
  finalizer of what is in it is gone; nothing waits for a garbage collector. Without, as on a bare
  kube-apiserver, a namespace waits until a client finalizes it.
"""
