import copy
import pickle
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from kruntimes_core.model.frozen import FrozenMap
from kruntimes_core.model.pod import Capacity
from kruntimes_core.model.run import Request

maps = st.dictionaries(st.text(max_size=3), st.integers(), max_size=4)


@given(maps, maps)
def test_maps_are_equal_and_hashed_by_their_items(first: dict[str, int], second: dict[str, int]) -> None:
    one, other = FrozenMap(first), FrozenMap(second)
    assert (one == other) is (first == second)
    assert one == FrozenMap(dict(reversed(first.items())))
    assert hash(one) == hash(FrozenMap(dict(reversed(first.items()))))
    assert dict(one) == first
    assert list(one) == list(first)
    assert len(one) == len(first)
    assert all(one.get(key) == value and key in one for key, value in first.items())


def test_a_map_does_not_follow_the_one_it_was_made_from() -> None:
    items = {"gpu": 1}
    frozen = Request(items)
    items["gpu"] = 2
    assert frozen["gpu"] == 1
    assert frozen.get("cpu") is None
    assert frozen.get("cpu", 7) == 7


def test_maps_of_different_meaning_are_never_equal() -> None:
    assert Request({"runs": 2}) != Capacity({"runs": 2})
    assert Request({"runs": 2}) != {"runs": 2}


def test_copies_are_equal() -> None:
    request = Request({"runs": 2})
    hash(request)
    assert copy.deepcopy(request) == request
    assert pickle.loads(pickle.dumps(request)) == request  # noqa: S301 - our own bytes
    assert type(copy.copy(request)) is Request


def test_a_copy_in_another_process_hashes_as_that_process_does() -> None:
    request = Request({"runs": 2})
    hash(request)
    program = (
        "import pickle, sys\n"
        "from kruntimes_core.model.run import Request\n"
        "print(pickle.loads(sys.stdin.buffer.read()) in {Request({'runs': 2})})"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(request), capture_output=True, check=True
    )
    assert answer.stdout.decode().strip() == "True"
