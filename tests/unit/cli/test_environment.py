"""Variables that dependencies obey: they change nothing, or the error names them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

_NO_EXTENSIONS = ("AIOHTTP", "YARL", "MULTIDICT", "PROPCACHE", "FROZENLIST")
_DEV = ("dev", "--runs=1", "--exit-when-done")


def _hostile(folder: Path) -> dict[str, str]:
    """Every variable that a dependency, or what it is built on, looks at, with a value that it cannot use."""
    (folder / "broken").write_text("[x\nx = = x\n")
    nowhere = str(folder / "no" / "such" / "file")
    return {
        "PROMETHEUS_MULTIPROC_DIR": nowhere,
        "prometheus_multiproc_dir": nowhere,
        "PROMETHEUS_DISABLE_CREATED_SERIES": "?",
        "PROMETHEUS_LEGACY_NAME_VALIDATION": "?",
        **{f"{name}_NO_EXTENSIONS": "1" for name in _NO_EXTENSIONS},
        "AIOHTTP_NOSENDFILE": "1",
        "NETRC": nowhere,
        "PYTHONASYNCIODEBUG": "1",
        "PYDANTIC_DISABLE_PLUGINS": "?,__all__",
        "HTTP_PROXY": "http://me:s3cret@[half",
        "HTTPS_PROXY": "http://me:s3cret@[half",
        "ALL_PROXY": "socks9://me:s3cret@nowhere:0",
        "NO_PROXY": "[,/,:0,*.*,10.0.0.0/99",
        "REQUESTS_CA_BUNDLE": nowhere,
        "CURL_CA_BUNDLE": nowhere,
        "SSL_CERT_FILE": nowhere,
        "SSL_CERT_DIR": nowhere,
        "OPENSSL_CONF": str(folder / "broken"),
        "WEBSOCKET_CLIENT_CA_BUNDLE": nowhere,
        "NO_COLOR": "?",
        "FORCE_COLOR": "?",
        "COLUMNS": "-7",
        "LINES": "?",
        "TERM": "\x1b[",
        "COLORTERM": "?",
        "UNICODE_VERSION": "?",
        "TTY_COMPATIBLE": "?",
        "TTY_INTERACTIVE": "?",
        "JUPYTER_COLUMNS": "?",
        "DATABRICKS_RUNTIME_VERSION": "?",
        "PAGER": "?",
        "TZ": "?/?",
        "_KRUNTIMES_COMPLETE": "bash_complete",
        "OAUTHLIB_INSECURE_TRANSPORT": "1",
        "GOOGLE_APPLICATION_CREDENTIALS": nowhere,
        "KUBERNETES_EXEC_INFO": "?",
    }


def _run(
    *arguments: str, environment: Mapping[str, str] | None = None, limits: Callable[[], None] | None = None
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "kruntimes_core.cli", *arguments],
        env={**clean, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=limits,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_whole_cluster_works_however_hostile_the_environment_is(tmp_path: Path) -> None:
    code, output, errors = _run(*_DEV, environment=_hostile(tmp_path))
    assert (code, "1 Run: 1 Succeeded" in output) == (0, True), errors
    assert "Traceback" not in errors
    assert "s3cret" not in output + errors


@pytest.mark.parametrize(
    "command", [["version"], ["plugins", "list"], ["config", "show"], ["plan", "--help"]]
)
def test_other_commands_work_in_it_too(tmp_path: Path, command: list[str]) -> None:
    code, output, errors = _run(*command, environment=_hostile(tmp_path))
    assert (code, errors) == (0, "")
    assert output


@pytest.mark.parametrize("name", ["PROMETHEUS_MULTIPROC_DIR", "prometheus_multiproc_dir"])
def test_metrics_are_not_shared_in_files(tmp_path: Path, name: str) -> None:
    code, _, errors = _run(*_DEV, environment={name: str(tmp_path)})
    assert code == 0, errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"SSLKEYLOGFILE": "/no/such/keys"}, "correct SSLKEYLOGFILE, or unset it"),
        ({"SSLKEYLOGFILE": "/"}, "correct SSLKEYLOGFILE, or unset it"),
        ({"KUBERNETES_SERVICE_HOST": "a b", "KUBERNETES_SERVICE_PORT": "1"}, "$KUBERNETES_SERVICE_HOST and"),
        ({"KUBERNETES_SERVICE_HOST": "a", "KUBERNETES_SERVICE_PORT": "tcp://"}, "$KUBERNETES_SERVICE_PORT"),
        ({"KUBECONFIG": "/no/such/config"}, "no kubeconfig at /no/such/config"),
    ],
)
def test_what_keeps_a_scheduler_from_starting_is_named(environment: dict[str, str], named: str) -> None:
    code, _, errors = _run("scheduler", environment=environment)
    assert code == 2
    assert named in errors
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("limit", [24, 64, 250])
def test_a_limit_of_open_files_that_is_too_low_is_one_line(limit: int) -> None:
    def low() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    code, _, errors = _run("scheduler", "--kubeconfig=/dev/null", limits=low)
    assert code == 2
    assert errors == (
        f"error: this process may have {limit} files and connections open, and the scheduler needs 282:"
        " raise the limit (ulimit -n, LimitNOFILE)\n"
    )


def test_a_limit_that_may_be_raised_is_raised() -> None:
    def low() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    _, _, errors = _run("scheduler", "--kubeconfig=/dev/null", limits=low)
    assert "is empty: name another" in errors
