"""The hooks and what each may name are a promise to plugin authors, written down here once more."""

from kruntimes_core.framework.hookspecs import argument_names, hook_names

# The table "What a plugin may name" of the semantics, and queue_key of the design.
PROMISED = {
    "queue_key": ("run", "now", "last"),
    "prefilter": ("request", "labels", "affinity", "workspace", "targets", "run", "snapshot"),
    "filter": ("pod", "state", "run", "snapshot"),
    "score": ("pod", "state", "run", "snapshot"),
    "normalize": ("scores", "state", "run", "snapshot"),
    "reserve": ("pod", "state", "run"),
    "unreserve": ("pod", "state", "run", "bound"),
}


def test_the_hooks_are_these_seven_in_the_order_of_a_cycle() -> None:
    assert hook_names() == tuple(PROMISED)


def test_each_hook_may_name_exactly_these_arguments() -> None:
    assert {hook: argument_names(hook) for hook in hook_names()} == PROMISED
