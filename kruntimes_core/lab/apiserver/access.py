"""Who may do what: bearer tokens and rules like those of RBAC. Without it everybody may do everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kruntimes_core.lab.apiserver.errors import ApiError, forbidden_request, quote, unauthorized
from kruntimes_core.lab.apiserver.kinds.strategy import Resource

_EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """What is allowed, as in a Role: verbs, groups, and resources with their subresource (`runs/status`).

    `*` stands for all. names: only objects of these names; empty for all. namespaces: only in these;
    empty for all and for what has no namespace.
    """

    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    names: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()

    def allows(self, verb: str, group: str, resource: str, namespace: str, name: str) -> bool:
        """Whether this rule allows it."""
        return (
            _in(verb, self.verbs)
            and _in(group, self.groups)
            and _in(resource, self.resources)
            and (not self.names or name in self.names)
            and (not self.namespaces or namespace in self.namespaces)
        )


@dataclass(slots=True)
class Access:
    """Tokens, and the rules of each user. Both may be changed while the server runs."""

    tokens: Mapping[str, str]
    """Token -> user."""
    rules: Mapping[str, Sequence[PolicyRule]]
    """User -> what is allowed; a user without rules may do nothing but discovery."""

    def user(self, authorization: str) -> str:
        """The user of an `Authorization` header. Raises `ApiError` (401)."""
        scheme, _, token = authorization.partition(" ")
        user = self.tokens.get(token.strip()) if scheme.lower() == "bearer" else None
        if user is None:
            raise unauthorized()
        return user

    def check(
        self, user: str, verb: str, resource: Resource, subresource: str, namespace: str, name: str
    ) -> None:
        """That the user may do it. Raises `ApiError` (403)."""
        full = f"{resource.plural}/{subresource}" if subresource else resource.plural
        for rule in self.rules.get(user, ()):
            if rule.allows(verb, resource.group, full, namespace, name):
                return
        raise denied(user, verb, resource, subresource, namespace, name)


def denied(user: str, verb: str, resource: Resource, subresource: str, namespace: str, name: str) -> ApiError:
    """403 in the words of RBAC."""
    full = f"{resource.plural}/{subresource}" if subresource else resource.plural
    place = f"in the namespace {quote(namespace)}" if namespace else "at the cluster scope"
    what = f"resource {quote(full)} in API group {quote(resource.group)}"
    why = f"User {quote(user)} cannot {verb} {what} {place}"
    return forbidden_request(resource.group, resource.plural, name, why)


def _in(value: str, allowed: frozenset[str]) -> bool:
    return value in allowed or _EVERYTHING in allowed
