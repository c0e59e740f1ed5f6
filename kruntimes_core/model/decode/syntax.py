"""The spellings that Kubernetes allows for names, keys and label values (apimachinery `validation`)."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")
_MAX_NAME = 63
_MAX_SUBDOMAIN = 253


def is_label_value(text: str) -> bool:
    """Whether `text` can be the value of a label: empty, or up to 63 letters, digits, `-`, `_`, `.`."""
    return not text or _is_name(text)


def is_qualified_name(text: str) -> bool:
    """Whether `text` can be the key of a label: a name, or a DNS subdomain, a slash and a name."""
    prefix, slash, name = text.rpartition("/")
    return _is_name(name) and (not slash or is_subdomain(prefix))


def is_subdomain(text: str) -> bool:
    """Whether `text` is a DNS-1123 subdomain of at most 253 characters."""
    return len(text) <= _MAX_SUBDOMAIN and _SUBDOMAIN.fullmatch(text) is not None


def _is_name(text: str) -> bool:
    return len(text) <= _MAX_NAME and _NAME.fullmatch(text) is not None
