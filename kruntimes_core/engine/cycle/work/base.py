"""What all work for a Run has in common, and the runners that one worker executes it with."""

from __future__ import annotations

from dataclasses import dataclass

from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Runner
from kruntimes_core.model.run import Run


class Runners:
    """One `Runner` for each profile, all of one worker."""

    def __init__(self, reuse: bool = True) -> None:
        self._reuse = reuse
        self._runners: dict[str, Runner] = {}

    def of(self, profile: Profile) -> Runner:
        """The runner of a profile; that of a former profile of the same name is forgotten."""
        runner = self._runners.get(profile.name)
        if runner is None or runner.profile is not profile:
            runner = self._runners[profile.name] = Runner(profile, self._reuse)
        return runner


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWork:
    """Work for one Run. Void when the Run has left its stage since (`token`)."""

    entry: RunEntry
    token: int
    run: Run
    profile: Profile
    waiting: WaitingClass | None = None
    """The class whose first Run this is, if it was taken from one."""
