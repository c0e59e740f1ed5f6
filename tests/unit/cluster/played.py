"""Scenes as tests: an async test is played in virtual time, with a scheduler of the supplied plugins."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, update_wrapper
from inspect import Parameter, Signature, signature
from typing import Any

import dryrun.site
import memoryapi.events
import memoryapi.site
import replicas.site

from kruntimes_core.framework.configuration import Profiles

Scene = Callable[..., Coroutine[None, None, None]]
Decorator = Callable[[Scene], Callable[..., None]]
_ACTORS = ("site", "other", "way")
"""What a scene gets from the function that plays it; it gets everything else from pytest."""


def _played_by(play: Callable[..., None]) -> Callable[..., Decorator]:
    def with_arguments(**arguments: Any) -> Decorator:
        def test_of(scene: Scene) -> Callable[..., None]:
            wanted = [one for one in signature(scene).parameters if one not in _ACTORS]

            def test(profiles: Profiles, **given: Any) -> None:
                play(profiles, partial(scene, **given), **arguments)

            update_wrapper(test, scene)
            names = ["profiles", *wanted]
            test.__signature__ = Signature(  # type: ignore[attr-defined]
                [Parameter(name, Parameter.KEYWORD_ONLY) for name in names]
            )
            return test

        return test_of

    return with_arguments


scheduler_scene = _played_by(memoryapi.site.play)
"""A scheduler beside an API server. Arguments: those of `Scheduler`."""
election_scene = _played_by(replicas.site.play)
"""Several schedulers that elect a leader. durations: of the Lease."""
dry_run_scene = _played_by(dryrun.site.play)
"""A dry run beside another scheduler. Arguments: those of `Scheduler`."""
event_scene = _played_by(memoryapi.events.play_announced)
"""A scheduler that sends Events. Arguments: those of `EventWay.sink`."""
