"""The order in which Runs leave the queue: of arrival, or by a plugin's `queue_key`."""

from __future__ import annotations

from typing import Any

from kruntimes_core.engine.runs import Order
from kruntimes_core.framework.profile import ActivePlugin
from kruntimes_core.framework.runtime.plugin_calls import can_be_ordered, describe, safe_repr


def by_arrival(arrival: int) -> Order:
    """The place of a Run that no plugin orders; before all Runs that one does."""
    return (0, arrival)


def by_key(key: Any, arrival: int) -> Order:
    """The place of a Run with a plugin's key; equal keys leave in order of arrival."""
    return (1, _PluginKey(key), arrival)


def key_of(order: Order) -> Any:
    """The plugin's key in an order, or None."""
    return order[1].key if order and order[0] == 1 else None


def greatest(last: Any, key: Any) -> Any:
    """The greater of two keys of one plugin; None is smaller than all."""
    if key is None or (last is not None and not _PluginKey(last) < _PluginKey(key)):
        return last
    return key


def check_key(plugin: ActivePlugin, key: Any, *samples: Any) -> None:
    """Raise `PluginError` if `key` cannot be ordered against `samples`, other keys of the plugin or None."""
    try:
        ordered = can_be_ordered(key)
        for sample in samples:
            if sample is not None:
                # By their values: libraries of numbers have truth values of their own.
                ordered = ordered and all(less in (True, False) for less in (key < sample, sample < key))
    except Exception as error:  # noqa: BLE001 - the comparison is the plugin author's
        raise plugin.error("queue_key", f"gave {safe_repr(key)}: {describe(error)}") from None
    if not ordered:
        raise plugin.error("queue_key", f"gave {safe_repr(key)}, which cannot be ordered")


class _PluginKey:
    """A plugin's key; if its comparison fails in spite of `check_key`, it counts as equal."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: _PluginKey) -> bool:
        try:
            return bool(self.key < other.key)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - checked when it came in; the queue must not break
            return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PluginKey) and not self < other and not other < self

    __hash__ = None  # type: ignore[assignment]
