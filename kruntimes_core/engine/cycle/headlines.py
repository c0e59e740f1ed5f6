"""Which text a Run shows that waits, and when another one is worth a write."""

from __future__ import annotations

from kruntimes_core.engine.queueing.classes import WaitingClass
from kruntimes_core.engine.record.decision import Decision, Outcome
from kruntimes_core.engine.runs import RunEntry
from kruntimes_core.framework.profile import Profile
from kruntimes_core.framework.runtime import Unschedulable, WaitingMessage
from kruntimes_core.framework.texts import BASE_COMPLETION, waiting_text


def headline_of(entry: RunEntry, profile: Profile, outcome: Unschedulable) -> WaitingMessage:
    """Why the Run waits; a Pod that was reserved in vain had passed every filter."""
    if not entry.turned_down:
        return outcome.waiting_message
    last = list(entry.turned_down.values())[-1]
    completion = BASE_COMPLETION
    for plugin in profile.plugins:
        if plugin.name == last.plugin:
            # A profile that was loaded meanwhile may have built it with other reasons.
            completion = plugin.reasons.get(last.reject.reason, BASE_COMPLETION)
    text = waiting_text(completion, entry.run.runtime)
    return WaitingMessage(last.reject.reason, text, last.plugin, len(profile.plugins))


def is_news(before: Decision | None, waiting: WaitingClass | None, headline: WaitingMessage) -> bool:
    """Whether a Run that waited shows another reason now. before: what was decided of it last.

    In a cycle of its own, always. When its class was offered changed Pods, only if they got
    further than those before, or as far and for another reason: else the text of a Run that
    can never be placed would change, and be written, each time that other Runs come and go.
    """
    if waiting is None or waiting.swept or before is None:
        return True
    if before.outcome is not Outcome.WAITING:
        return True
    if headline.place == before.furthest:
        return headline.text != before.message
    return headline.place > before.furthest
