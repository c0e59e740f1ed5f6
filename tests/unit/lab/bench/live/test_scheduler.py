"""The command that is started, its kubeconfig, and what it costs."""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from kruntimes_core.lab.bench.live.scheduler import (
    PLACEHOLDERS,
    check_process,
    command_of,
    kubeconfig_for,
    our_command,
    running,
    usage_of,
)
from kruntimes_core.model.messages import InputError

AROUND = ("/my folder/config", ["a", "b"])


def test_placeholders_are_filled_in_and_other_braces_stay() -> None:
    words = command_of("run --n={namespaces} '{\"a\":1}' {kubeconfig} :{port} :{port}", *AROUND)
    assert words[:4] == ["run", "--n=a,b", '{"a":1}', "/my folder/config"]
    ports = [int(word.removeprefix(":")) for word in words[4:]]
    assert all(0 < port < 65_536 for port in ports)


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_every_placeholder_stands_for_something(name: str) -> None:
    (word,) = command_of(f"{{{name}}}", *AROUND)
    assert word
    assert "{" not in word


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "is empty"), ("x '", "No closing quotation"), ("x {other}", "no such placeholder {other}")],
)
def test_a_command_that_cannot_be_used_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match="--scheduler-cmd") as refused:
        command_of(text, *AROUND)
    assert words in str(refused.value)


def test_in_a_pod_there_is_no_kubeconfig_to_name() -> None:
    with pytest.raises(InputError, match="has no value in a Pod"):
        command_of("x {kubeconfig}", None, ["a"])
    command = our_command(None, ["a"], None, Path("unused"), steady=False)
    assert not any("kubeconfig" in word for word in command)


def test_ours_keeps_to_the_namespaces_of_the_bench(tmp_path: Path) -> None:
    command = our_command(*AROUND, None, tmp_path, steady=True)
    assert "--namespaces=a,b" in command
    (config,) = [word.partition("=")[2] for word in command if word.startswith("--config=")]
    assert "heartbeatStalenessSeconds: 3600" in Path(config).read_text()
    assert "--config=mine" in our_command(*AROUND, "mine", tmp_path, steady=True)


def test_a_kubeconfig_is_handed_on_as_it_is(tmp_path: Path) -> None:
    assert kubeconfig_for(str(tmp_path / "mine"), None, {}, tmp_path) == str(tmp_path / "mine")
    assert kubeconfig_for(None, None, {"KUBECONFIG": str(tmp_path / "other")}, tmp_path) == str(
        tmp_path / "other"
    )


def test_a_chosen_context_is_the_current_one_of_a_copy(tmp_path: Path) -> None:
    source = tmp_path / "mine"
    source.write_text(
        json.dumps(
            {
                "current-context": "one",
                "clusters": [{"name": "c", "cluster": {"certificate-authority": "ca.crt"}}],
                "users": [{"name": "u", "user": {"exec": {"command": "./login"}}}],
                "contexts": [],
            }
        )
    )
    (tmp_path / "copies").mkdir()
    path = Path(kubeconfig_for(str(source), "two", {}, tmp_path / "copies"))
    config = json.loads(path.read_text())
    assert config["current-context"] == "two"
    assert config["clusters"][0]["cluster"]["certificate-authority"] == str(tmp_path / "ca.crt")
    assert Path(config["users"][0]["user"]["exec"]["command"]).resolve() == tmp_path / "login"
    assert path.stat().st_mode & 0o077 == 0


def test_several_files_cannot_be_handed_on(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name one for the scheduler"):
        kubeconfig_for(None, None, {"KUBECONFIG": "a:b"}, tmp_path)


def children_of(process: int) -> list[int]:
    """The numbers of the processes that it has started."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(number) for number in listed.split()]


def has_ended(handle: int) -> bool:
    """Wait for the end of a process, by its handle."""
    ends = select.poll()
    ends.register(handle, select.POLLIN)
    return bool(ends.poll(20_000))


def test_a_scheduler_ends_with_its_children_even_if_it_will_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kruntimes_core.lab.bench.live.scheduler._STOP_SECONDS", 0.2)
    command = ["sh", "-c", "trap '' TERM; sleep 600 & wait; sleep 600"]

    async def main() -> list[int]:
        async with running(command, None, tmp_path / "log") as scheduler:
            number = scheduler._process.pid
            while not children_of(number):
                await asyncio.sleep(0.01)
            return [os.pidfd_open(one) for one in (number, *children_of(number))]

    assert all(map(has_ended, asyncio.run(main())))


CHILD = "import sys; x = bytearray(30_000_000); print('done', flush=True); sys.stdin.read()"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"


def test_children_are_counted_with_their_parent() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        used = usage_of(process.pid)
        process.communicate("")
    assert used is not None
    assert used.resident_bytes > 30_000_000
    assert used.peak_bytes >= used.resident_bytes
    assert used.processor_seconds > 0


def test_a_process_that_is_gone_has_no_usage() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert usage_of(process.pid) is None
    with pytest.raises(InputError, match=f"--scheduler-pid {process.pid}: no such process"):
        check_process(process.pid)


def test_a_process_that_is_there_may_be_measured() -> None:
    check_process(os.getpid())
    check_process(1)


def test_the_usage_of_a_process_is_that_which_it_knows_itself() -> None:
    before = sum(os.times()[:4])
    used = usage_of(os.getpid())
    assert used is not None
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert before - 4 * tick <= used.processor_seconds <= sum(os.times()[:4]) + 4 * tick
