"""Authentication and authorization of the embedded API server: bearer tokens, and rules as in RBAC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kruntimes_core.lab.apiserver.errors import ApiError, forbidden_request, unauthorized
from kruntimes_core.lab.apiserver.requests import RequestInfo

_EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A rule as in a Role: verbs, groups, and resources with their subresource (`runs/status`). `*` means
    all.

    names: only objects of these names; empty for all. namespaces: only objects in these namespaces; empty for
    all, and for resources without a namespace.
    """

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    names: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()

    def allows(self, info: RequestInfo) -> bool:
        """Whether this rule allows a request."""
        return (
            _in(info.verb, self.verbs)
            and _in(info.resource.group, self.groups)
            and _in(_full_resource(info), self.resources)
            and (not self.names or info.name in self.names)
            and (not self.namespaces or info.namespace in self.namespaces)
        )


@dataclass(slots=True)
class AccessRules:
    """An `Authorizer` with tokens, and with rules for each user. Both may change while the server runs."""

    tokens: Mapping[str, str]
    """Token -> user."""
    rules: Mapping[str, Sequence[PolicyRule]]
    """User -> rules. A user without rules may use discovery only."""

    def user(self, authorization: str) -> str:
        """The user of an `Authorization` header. Raises `ApiError` (401)."""
        scheme, _, token = authorization.partition(" ")
        user = self.tokens.get(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user

    def check(self, user: str, info: RequestInfo) -> None:
        """Check that the user may send this request. Raises `ApiError` (403)."""
        if not any(rule.allows(info) for rule in self.rules.get(user, ())):
            raise denied(user, info)


def denied(user: str, info: RequestInfo) -> ApiError:
    """The 403 that RBAC of a kube-apiserver would answer."""
    resource = info.resource
    place = f'in the namespace "{info.namespace}"' if info.namespace else "at the cluster scope"
    what = f'resource "{_full_resource(info)}" in API group "{resource.group}"'
    why = f'User "{user}" cannot {info.verb} {what} {place}'
    return forbidden_request(resource.group, resource.plural, info.name, why)


def _full_resource(info: RequestInfo) -> str:
    return f"{info.resource.plural}/{info.subresource}" if info.subresource else info.resource.plural


def _in(value: str, allowed: frozenset[str]) -> bool:
    return value in allowed or _EVERYTHING in allowed
