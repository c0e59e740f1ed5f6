"""The sets of a filter's answers say what one answer for each Pod would say."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core import Reject
from kruntimes_core.framework.runtime.filter import FilterAnswers
from kruntimes_core.framework.runtime.pod_set import bits_of
from kruntimes_core.testing.builders import NOW

SIZE = 12
ANSWERS = (
    None,
    Reject("Full", "1 in use"),
    Reject("Full", "2 in use"),
    Reject("Other"),
    Reject("Full", pinned_elsewhere=True),
    Reject("Full", retry_at=NOW),
    Reject("Full", retry_at=NOW + timedelta(seconds=1)),
)
# Many Pods and mostly one answer, or one Pod: as filters are asked.
usual = st.sampled_from(ANSWERS)
rounds = st.lists(
    st.tuples(
        st.lists(st.integers(0, SIZE - 1), unique=True, min_size=1, max_size=SIZE),
        usual,
        st.dictionaries(st.integers(0, SIZE - 1), usual, max_size=3),
    ),
    min_size=1,
    max_size=12,
)


@given(rounds)
def test_sets_follow_the_answers(rounds: list[tuple[list[int], Reject | None, dict[int, Reject]]]) -> None:
    sets, naive = FilterAnswers(), dict[int, Reject | None]()
    for positions, answer, others in rounds:
        answers = [others.get(position, answer) for position in positions]
        sets.learn(positions, bits_of(positions), answers)
        naive.update(zip(positions, answers, strict=True))
        rejected = {position: reject for position, reject in naive.items() if reject is not None}
        assert sets.passed == bits_of([position for position in naive if position not in rejected])
        assert dict(sets.rejected(bits_of(range(SIZE)))) == Counter(
            (reject.reason, reject.pinned_elsewhere, reject.retry_at) for reject in rejected.values()
        )
