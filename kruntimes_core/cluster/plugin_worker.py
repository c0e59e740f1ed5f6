"""The plugin worker: calls plugins on threads outside of the loop, so that a hanging call blocks one profile
only.

A call that exceeds its time limit is interrupted. If it still does not return, the worker abandons the call,
finds the plugin by the stack of the thread, and blocks the profile until the call returns. Then a new thread
builds new instances of the profile's plugins.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Protocol
from weakref import WeakSet

from kruntimes_core.cluster.observability.log import Log
from kruntimes_core.cluster.plugin_thread import (
    LIMIT_SECONDS,
    Culprit,
    PluginThread,
    call_on,
    culprit_in_error,
    failure,
    overdue,
)
from kruntimes_core.engine.plugin_work import (
    PluginWork,
    QueueKeyWork,
    ReserveAnswer,
    ReserveWork,
    Runners,
    RunWork,
    UnreserveWork,
    WorkResult,
    plugins_of,
    profile_of,
)
from kruntimes_core.framework.configuration import Configuration, Profiles, build_profiles
from kruntimes_core.framework.plugin_registry import PluginRegistry
from kruntimes_core.framework.profile import (
    CurrentCall,
    InterruptedCallError,
    PluginError,
    Profile,
)
from kruntimes_core.framework.runtime import PluginFailure, plugin_calls

Done = Callable[[WorkResult], None]
"""Takes the result of a piece of work, on the thread of the loop."""

GRACE_SECONDS = 1.0
"""How long an interrupted call may take to return."""
MOMENT_SECONDS = 0.002
"""How long the loop waits for a plan. Most plans take a tenth of that, and a callback in a later turn costs
more.
"""
UNATTENDED = 16
"""When a plan took longer, the loop does not wait for this number of further plans: they may take long, too.
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A call that does not return. Until it does, the worker does not begin the work that the call blocks."""

    profile: Profile
    error: PluginError
    """Names the plugin and its hook."""
    since: float
    """When the call was abandoned, by the loop's clock."""
    holds_profile: bool
    """Whether the call blocks its profile, because the instances of the plugins may be in any state."""
    holds_queue: bool
    """Whether it is a call of `queue_key`, without which no Run of any profile gets a place in the queue."""


class PluginWorker(Protocol):
    """Executes one piece of work at a time."""

    @property
    def free(self) -> bool:
        """Whether the worker takes work now."""

    @property
    def stuck(self) -> Mapping[str, int]:
        """Plugins with calls that do not return, and the number of these calls."""

    @property
    def worked_at(self) -> float:
        """When a step of a cycle last ended, by the loop's clock."""

    def block_of(self, profile: Profile, queue_profile: Profile | None) -> Block | None:
        """The block that keeps Runs of a profile from being placed; None if there is none.

        queue_profile: the profile whose plugin orders the queue.
        """

    def keep(self, profiles: Collection[Profile]) -> None:
        """Call only the plugins of these profiles from now on."""

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work, and call `done` once, in this call or later. Only while the worker is `free`."""

    def close(self) -> None:
        """Take no more work, and do not wait for the current call."""


class ThreadPluginWorker:
    """Executes work one piece at a time, on a thread for each profile: the one that built its plugins.

    All methods but `build` belong to the loop's thread.
    """

    def __init__(
        self,
        log: Log,
        *,
        limit_seconds: float = LIMIT_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
        moment_seconds: float = MOMENT_SECONDS,
    ) -> None:
        """limit_seconds: until a call is interrupted. grace_seconds: from then until it is abandoned.

        moment_seconds: how long `submit` waits at most for the result.
        """
        self._log = log
        self._limit = limit_seconds
        self._grace = grace_seconds
        self._wait = AdaptiveWait(moment_seconds)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._threads: dict[_Place, ProfileThread] = {}
        self._lost: WeakSet[Profile] = WeakSet()
        """Profiles whose thread is not used any more: a new thread must build new instances."""
        self._call: PluginCall | None = None
        self._abandoned: dict[PluginThread, Block] = {}
        self._unbuilt: set[Profile] = set()
        """Profiles whose plugins could not be built lately: an `unreserve` waits until that is tried again.
        """
        self._deferred = DeferredUnreserves()
        self._resuming = False
        """Whether a turn of the loop is scheduled that calls the next deferred unreserve."""
        self.worked_at = 0.0

    @property
    def free(self) -> bool:
        """Whether the worker takes work now."""
        return self._call is None and not self._deferred.due

    @property
    def stuck(self) -> Mapping[str, int]:
        """See `PluginWorker`."""
        return Counter(block.error.plugin for block in self._abandoned.values())

    def block_of(self, profile: Profile, queue_profile: Profile | None) -> Block | None:
        """See `PluginWorker`."""
        return self._profile_block(profile) or self._queue_block(queue_profile)

    def build(self, configuration: Configuration, registry: PluginRegistry) -> Profiles:
        """Build the profiles of a configuration, each on the thread that will call its plugins.

        Returns when they are built. May be called on any thread, for one configuration at a time. Raises the
        errors of `build_profiles`, and an `InputError` that names a plugin whose import or constructor does
        not return.
        """
        threads: list[tuple[Profile, ProfileThread]] = []

        def build_on(build: Callable[[], Profile]) -> Profile:
            thread = self._new_thread(rebuild=False)
            try:
                profile = call_on(thread.thread, build, registry.current, self._limit)
            except BaseException:
                thread.thread.retire()
                raise
            threads.append((profile, thread))
            return profile

        try:
            profiles = build_profiles(configuration, registry, build_on)
        except BaseException:
            for _, thread in threads:
                thread.thread.retire()
            raise
        self._threads.update({_Place(profile): thread for profile, thread in threads})
        return profiles

    def keep(self, profiles: Collection[Profile]) -> None:
        """See `PluginWorker`. The current call and each `unreserve` that is due still end."""
        kept = {*profiles, *self._deferred.profiles}
        if self._call is not None:
            kept.add(self._call.place.profile)
        for place, thread in list(self._threads.items()):
            if place.profile not in kept:
                self._lose(thread.thread)

    def submit(self, work: PluginWork, done: Done) -> None:
        """Execute work on the profile's thread, unless the profile is blocked."""
        block = self._block_for(work)
        if isinstance(work, UnreserveWork) and self._held_back(profile_of(work)):
            self._deferred.add(work, done)
        elif block is None:
            self._start(work, done)
        else:
            error, name = block.error, block.profile.name
            problem = f"plugins of profile {name} are not called until an earlier call returns"
            done(not_begun(work, PluginError(error.plugin, error.origin, error.hook, problem)))

    def close(self) -> None:
        """Take no more work. If a call still runs, it ends with the process."""
        if self._call is not None:
            self._call.end_limit()
        for thread in list(self._threads.values()):
            thread.thread.retire()

    # Blocks

    def _block_for(self, work: PluginWork) -> Block | None:
        if isinstance(work, QueueKeyWork):
            return self._queue_block(work.owner)
        return self._profile_block(profile_of(work))

    def _profile_block(self, profile: Profile) -> Block | None:
        blocks = self._abandoned.values()
        return next((one for one in blocks if one.holds_profile and one.profile is profile), None)

    def _held_back(self, profile: Profile) -> bool:
        """Whether an `unreserve` for the profile has to wait."""
        return profile in self._unbuilt or self._profile_block(profile) is not None

    def _queue_block(self, owner: Profile | None) -> Block | None:
        blocks = self._abandoned.values()
        return next((one for one in blocks if one.holds_queue and one.profile is owner), None)

    # One call

    def _start(self, work: PluginWork, done: Done) -> None:
        self._loop = loop = asyncio.get_running_loop()
        place = self._place_of(work)
        if place not in self._threads:
            self._threads[place] = self._new_thread(rebuild=place.apart or place.profile in self._lost)
        thread = self._threads[place]
        self._call = call = PluginCall(work, done, place, thread)
        thread.thread.execute(partial(self._execute, call))
        wait = self._wait.next()
        if call.wait(wait):
            self._finish(call, call.result)
        else:
            self._wait.late(wait)
            call.limit(loop.call_later(self._limit, self._overdue))

    def _place_of(self, work: PluginWork) -> _Place:
        """Where work is executed. `queue_key` moves to a thread of its own when another hook blocks its
        profile.
        """
        profile = profile_of(work)
        if isinstance(work, QueueKeyWork):
            apart = _Place(profile, apart=True)
            if apart in self._threads or self._profile_block(profile) is not None:
                return apart
        return _Place(profile)

    def _new_thread(self, rebuild: bool) -> ProfileThread:
        return ProfileThread(lambda thread, error: self._tell(self._ended, thread, error), rebuild)

    def _execute(self, call: PluginCall) -> None:
        """Called on the profile's thread."""
        error = call.thread.build(call.work)
        call.not_built = error is not None
        call.finish(call.thread.execute(call.work) if error is None else not_begun(call.work, error))
        if call.late:
            self._tell(self._delivered, call)

    def _tell(self, what: Callable[..., None], *arguments: object) -> None:
        """Call back on the loop's thread, unless the loop is closed."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(what, *arguments)

    def _overdue(self) -> None:
        call, loop = self._call, asyncio.get_running_loop()
        if call is None:
            return
        if call.thread.thread.in_debugger:
            call.limit(loop.call_later(self._limit, self._overdue))
            return
        call.interrupt()
        call.limit(loop.call_later(self._grace, self._abandon))

    def _abandon(self) -> None:
        call = self._call
        if call is None:
            return
        thread, apart = call.thread, call.place.apart
        error = overdue(thread.thread, thread.current, self._limit)
        call.not_built = thread.current.loading is not None
        self._abandoned[thread.thread] = Block(
            profile=call.place.profile,
            error=error,
            since=asyncio.get_running_loop().time(),
            holds_profile=not apart,
            holds_queue=isinstance(call.work, QueueKeyWork),
        )
        self._log.warning(
            "abandoned a call",
            plugin=error.plugin,
            origin=error.origin,
            hook=error.hook,
            profile=call.place.profile.name,
        )
        self._deferred.sort(self._held_back)
        self._finish(call, failed(call.work, error))

    def _finish(self, call: PluginCall, result: WorkResult) -> None:
        call.end_limit()
        self._call = None
        if call.interrupted:
            # The instances may be in any state, and the interruption may still arrive.
            self._lose(call.thread.thread)
        elif isinstance(call.work, RunWork):
            self.worked_at = asyncio.get_running_loop().time()
        if call.not_built and isinstance(call.work, UnreserveWork):
            self._postpone(call.work, call.done)
        else:
            call.done(result)
        self._resume_soon()

    def _lose(self, thread: PluginThread) -> None:
        """Stop using a thread. The next call of its profile uses a new thread with new instances."""
        thread.retire()
        for place, one in list(self._threads.items()):
            if one.thread is thread:
                del self._threads[place]
                self._lost.add(place.profile)

    # From the thread

    def _delivered(self, call: PluginCall) -> None:
        if self._call is call:
            self._finish(call, call.result)

    def _ended(self, thread: PluginThread, error: BaseException | None) -> None:
        call = self._call
        self._lose(thread)
        if call is not None and call.thread.thread is thread:
            self._finish(call, failed(call.work, self._escaped(error, call.work)))
        if thread in self._abandoned:
            block = self._abandoned.pop(thread)
            plugin, name = block.error.plugin, block.profile.name
            self._log.info("an abandoned call returned", plugin=plugin, profile=name)
            self._deferred.sort(self._held_back)
            self._resume_soon()

    def _escaped(self, error: BaseException | None, work: PluginWork) -> PluginError:
        """The error for an exception that ended the thread, although a call catches all exceptions of
        plugins.
        """
        culprit: Culprit | None = culprit_in_error(error, plugins_of(work)) if error is not None else None
        problem = plugin_calls.describe(error) if error is not None else "the worker ended"
        if culprit is None and not isinstance(error, InterruptedCallError):
            self._log.warning("a plan ended with a defect of the host", error=problem)
        return failure(culprit, problem)

    # Deferred unreserves

    def _postpone(self, work: UnreserveWork, done: Done) -> None:
        """Keep an unreserve for which the plugins could not be built, and try to build them again later."""
        profile = profile_of(work)
        self._deferred.add(work, done)
        if profile not in self._unbuilt:
            self._unbuilt.add(profile)
            self._log.warning("plugins could not be built: unreserve is called later", profile=profile.name)
            asyncio.get_running_loop().call_later(self._limit, self._try_to_build_again, profile)
        self._deferred.sort(self._held_back)

    def _try_to_build_again(self, profile: Profile) -> None:
        self._unbuilt.discard(profile)
        self._deferred.sort(self._held_back)
        self._resume_soon()

    def _resume_soon(self) -> None:
        """Call the next deferred unreserve in the next turn of the loop, because there may be thousands."""
        if self._deferred.due and not self._resuming:
            self._resuming = True
            asyncio.get_running_loop().call_soon(self._resume)

    def _resume(self) -> None:
        self._resuming = False
        if self._deferred.due and self._call is None:
            self.submit(*self._deferred.pop())
            self._resume_soon()


class AdaptiveWait:
    """How long the loop waits for each plan. After that it goes on, and gets the result in a callback.

    To wait is cheaper for short plans. For long plans it would keep the loop from other work.
    """

    def __init__(self, moment_seconds: float = MOMENT_SECONDS) -> None:
        """moment_seconds: the longest to wait for one plan."""
        self._moment = moment_seconds
        self._unattended = 0

    def next(self) -> float:
        """Seconds to wait for the next plan."""
        if not self._unattended:
            return self._moment
        self._unattended -= 1
        return 0.0

    def late(self, waited: float) -> None:
        """Note that a plan was not done within the time of `next`."""
        if waited:
            self._unattended = UNATTENDED


class DeferredUnreserves:
    """Unreserves of blocked profiles: each is called exactly once, as soon as its profile is not blocked."""

    def __init__(self) -> None:
        self._due: deque[tuple[UnreserveWork, Done]] = deque()
        self._waiting: list[tuple[UnreserveWork, Done]] = []

    @property
    def due(self) -> bool:
        """Whether an unreserve can be called now."""
        return bool(self._due)

    @property
    def profiles(self) -> set[Profile]:
        """The profiles of all deferred unreserves."""
        return {work.assumption.profile for work, _ in [*self._due, *self._waiting]}

    def add(self, work: UnreserveWork, done: Done) -> None:
        """Keep an unreserve whose profile is blocked."""
        self._waiting.append((work, done))

    def pop(self) -> tuple[UnreserveWork, Done]:
        """Take the next unreserve that is due."""
        return self._due.popleft()

    def sort(self, held_back: Callable[[Profile], bool]) -> None:
        """Find out which unreserves are due. held_back: whether those of a profile have to wait."""
        kept = [*self._due, *self._waiting]
        self._due.clear()
        self._waiting.clear()
        for work, done in kept:
            queue = self._waiting if held_back(work.assumption.profile) else self._due
            queue.append((work, done))


# Threads and calls


@dataclass(frozen=True, slots=True)
class _Place:
    """A thread for a profile's plugins. apart: the thread for `queue_key` only, with its own instance."""

    profile: Profile
    apart: bool = False


class ProfileThread:
    """The thread of one profile, with the instances that were built on it."""

    def __init__(self, ended: Callable[[PluginThread, BaseException | None], None], rebuild: bool) -> None:
        """ended: see `PluginThread`. rebuild: whether to build new instances of the profile's plugins."""
        self.current = CurrentCall()
        self.thread = PluginThread(ended)
        self._runners = Runners(rebuild=rebuild, current=self.current)

    def build(self, work: PluginWork) -> PluginError | None:
        """Build the plugins for work, if they are not built. Called on this thread, like `execute`.

        Returns the error if a constructor failed.
        """
        try:
            self._runners.of(profile_of(work))
        except PluginError as error:
            return error
        return None

    def execute(self, work: PluginWork) -> WorkResult:
        """Execute work whose plugins are built."""
        return self.current.call(plugins_of(work), lambda: work.execute(self._runners))


class PluginCall:
    """One piece of work for a thread, and its result."""

    __slots__ = (
        *("_finished", "_timer", "done", "interrupted", "late", "not_built", "place", "result", "thread"),
        "work",
    )

    def __init__(self, work: PluginWork, done: Done, place: _Place, thread: ProfileThread) -> None:
        self.work = work
        self.done = done
        self.place = place
        self.thread = thread
        self.result: WorkResult = None
        self.late = False
        """Whether the loop did not wait any longer, so that the thread must deliver the result."""
        self.interrupted = False
        self.not_built = False
        """Whether no plugin was called, because one could not be built."""
        self._timer: asyncio.TimerHandle | None = None
        self._finished = Lock()
        self._finished.acquire()

    def wait(self, seconds: float) -> bool:
        """Wait for the result; whether it came in time. Called once, on the loop's thread."""
        if self._finished.acquire(timeout=seconds):
            return True
        self.late = True
        # If the result came between these two steps, the thread does not deliver it.
        return self._finished.acquire(blocking=False)

    def limit(self, timer: asyncio.TimerHandle) -> None:
        """Set the timer that ends the call when it takes too long."""
        self._timer = timer

    def end_limit(self) -> None:
        """Cancel the timer, because the call has ended."""
        if self._timer is not None:
            self._timer.cancel()

    def interrupt(self) -> None:
        """Raise `InterruptedCallError` in the call, as soon as it runs Python code."""
        self.interrupted = True
        self.thread.thread.interrupt()

    def finish(self, result: WorkResult) -> None:
        """Set the result. Called on the profile's thread."""
        self.result = result
        self._finished.release()


# Results of work that failed


def failed(work: PluginWork, error: PluginError) -> WorkResult:
    """The result of work that ended with `error`."""
    return work.failed(error) if isinstance(work, ReserveWork) else PluginFailure(error)


def not_begun(work: PluginWork, error: PluginError) -> WorkResult:
    """The result of work that called no plugin: without a call of `reserve`, no `unreserve` is due."""
    return ReserveAnswer((), broken=error) if isinstance(work, ReserveWork) else PluginFailure(error)
