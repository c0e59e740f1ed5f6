"""The kubeconfig is there while the cluster is, and overwrites nobody's file."""

from __future__ import annotations

import errno
import fcntl
import os
import pwd
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from kruntimes_core.lab.dev.kubeconfig import default_path, kubeconfig
from kruntimes_core.model.messages import InputError

URL = "http://127.0.0.1:4711"


def test_it_leads_to_the_server_and_goes_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config"
    with kubeconfig(path, URL):
        config = yaml.safe_load(path.read_text())
        assert config["clusters"][0]["cluster"]["server"] == URL
        assert config["current-context"] == config["contexts"][0]["name"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == []


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("apiVersion: v1\nkind: Config\n")
    with pytest.raises(InputError, match="config is not from kruntimes dev: remove it, or choose"):
        kubeconfig(path, URL).__enter__()
    assert path.read_text() == "apiVersion: v1\nkind: Config\n"


def test_an_empty_file_is_nobodys_loss(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.touch()
    with kubeconfig(path, URL):
        assert URL in path.read_text()


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_what_is_no_file_is_neither_read_nor_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "config"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null")
    with pytest.raises(InputError, match="config is not a regular file: choose another"):
        kubeconfig(path, URL).__enter__()
    assert path.exists()


def test_one_that_was_left_behind_is_replaced(tmp_path: Path) -> None:
    path, former = tmp_path / "config", tmp_path / "former"
    with kubeconfig(former, "http://127.0.0.1:1"):
        path.write_bytes(former.read_bytes())
    with kubeconfig(path, URL):
        assert URL in path.read_text()


@pytest.mark.parametrize("how", ["replaced", "written into"])
def test_one_that_somebody_else_wrote_meanwhile_stays(tmp_path: Path, how: str) -> None:
    path = tmp_path / "config"
    with kubeconfig(path, URL):
        if how == "replaced":
            path.unlink()
        path.write_text("kind: Config\n")
    assert path.read_text() == "kind: Config\n"


def test_one_whose_cluster_is_still_served_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "config"
    with kubeconfig(path, URL):
        for _ in range(2):
            with pytest.raises(InputError, match="belongs to another kruntimes dev that is still running: "):
                kubeconfig(path, "http://127.0.0.1:1").__enter__()
        assert URL in path.read_text()
        assert list(tmp_path.iterdir()) == [path]
    with kubeconfig(path, "http://127.0.0.1:1"):
        assert "http://127.0.0.1:1" in path.read_text()


def test_one_whose_process_was_killed_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "config"
    serve = f"with kubeconfig(Path({str(path)!r}), {URL!r}): os.kill(os.getpid(), 9)"
    imports = "import os; from pathlib import Path; from kruntimes_core.lab.dev.kubeconfig import kubeconfig"
    killed = subprocess.run([sys.executable, "-c", f"{imports}\n{serve}"], check=False, timeout=50)
    assert killed.returncode == -9
    assert URL in path.read_text()
    with kubeconfig(path, "http://127.0.0.1:1"):
        assert "http://127.0.0.1:1" in path.read_text()
    assert not path.exists()


def test_where_there_are_no_locks_the_last_one_has_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    path = tmp_path / "config"
    with kubeconfig(path, URL):
        other = kubeconfig(path, "http://127.0.0.1:1")
        other.__enter__()
    assert "http://127.0.0.1:1" in path.read_text()
    other.__exit__(None, None, None)
    assert not path.exists()


def test_a_place_that_cannot_be_written_to_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot write the kubeconfig .*: choose another --kubeconfig-out"):
        kubeconfig(tmp_path / "file" / "config", URL).__enter__()


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_RUNTIME_DIR": "/run/user/1", "XDG_CACHE_HOME": "/c"}, Path("/run/user/1")),
        ({"XDG_CACHE_HOME": "/c"}, Path("/c")),
        ({"XDG_RUNTIME_DIR": ""}, Path.home() / ".cache"),
        ({"XDG_RUNTIME_DIR": "here", "XDG_CACHE_HOME": "/c"}, Path("/c")),
        ({"XDG_RUNTIME_DIR": "here", "XDG_CACHE_HOME": "there"}, Path.home() / ".cache"),
    ],
)
def test_the_default_place_is_the_users_own(environment: dict[str, str], folder: Path) -> None:
    assert default_path(7, environment) == folder / "kruntimes" / "dev-7.kubeconfig"


def test_a_user_without_a_home_is_asked_for_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: {}[_])
    with pytest.raises(InputError, match="no home folder for the kubeconfig: give --kubeconfig-out"):
        default_path(7, {})


@pytest.mark.parametrize("raised", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_one_that_could_not_be_written(
    raised: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise raised

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises((InputError, KeyboardInterrupt)):
        kubeconfig(tmp_path / "config", URL).__enter__()
    assert list(tmp_path.iterdir()) == []
