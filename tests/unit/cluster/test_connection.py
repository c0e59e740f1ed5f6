"""How a connection is found, and the one line that says why there is none."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import logging.config
import os
import pwd
import ssl
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kruntimes_core.cluster.client.connection import (
    SERVICE_ACCOUNT,
    Connection,
    connect,
    connect_by_kubeconfig,
    connect_in_cluster,
    in_cluster,
    try_connection,
)
from kruntimes_core.cluster.client.transport import Call, NotSentError, Response
from kruntimes_core.cluster.clock import SystemClock
from kruntimes_core.engine.clock import SECOND, Now
from kruntimes_core.model.messages import InputError
from kruntimes_core.model.yaml_files import SETTINGS_BYTES

IN_POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> Now:
        return Now(datetime(2026, 1, 2, tzinfo=UTC), round(self.seconds * SECOND))


@pytest.fixture
def authority() -> str:
    """A file of certificate authorities that any machine with Python has."""
    import certifi

    return certifi.where()


@pytest.fixture
def account(tmp_path: Path, authority: str) -> Path:
    """What the kubelet mounts into a Pod."""
    (tmp_path / "ca.crt").write_text(Path(authority).read_text())
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "namespace").write_text("kruntimes-system")
    return tmp_path


def authorization(connection: Connection) -> str | None:
    return asyncio.run(_authorization(connection))


async def _authorization(connection: Connection) -> str | None:
    return await connection.credentials.authorization()


# In a Pod


def test_a_pod_is_told_where_its_cluster_is(account: Path) -> None:
    made = connect_in_cluster(IN_POD, Hands(), account)
    assert made.server == "https://10.96.0.1:443"
    assert made.namespace == "kruntimes-system"
    assert made.tls is not None
    assert made.tls.verify_mode is ssl.CERT_REQUIRED
    assert made.proxy is None
    assert authorization(made) == "Bearer first"


def test_an_ipv6_cluster_is_written_in_brackets(account: Path) -> None:
    made = connect_in_cluster({**IN_POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, Hands(), account)
    assert made.server == "https://[fd00::1]:443"


def test_a_rotated_token_is_used_within_seconds(account: Path) -> None:
    clock = Hands()
    made = connect_in_cluster(IN_POD, clock, account)
    (account / "token").write_text("second")
    clock.seconds = 5
    assert authorization(made) == "Bearer first"
    clock.seconds = 10
    assert authorization(made) == "Bearer second"


def test_a_refused_token_is_read_again_at_once_and_a_missing_one_changes_nothing(account: Path) -> None:
    made = connect_in_cluster(IN_POD, Hands(), account)
    (account / "token").write_text("second")
    asyncio.run(made.credentials.renew())
    assert authorization(made) == "Bearer second"
    (account / "token").unlink()
    asyncio.run(made.credentials.renew())
    assert authorization(made) == "Bearer second"


@pytest.mark.parametrize(
    ("missing", "named"), [("token", "no token in"), ("ca.crt", "certificate authority")]
)
def test_what_the_kubelet_did_not_mount_is_named(account: Path, missing: str, named: str) -> None:
    (account / missing).unlink()
    with pytest.raises(InputError, match=named):
        connect_in_cluster(IN_POD, Hands(), account)


def test_an_empty_address_is_none() -> None:
    assert in_cluster(IN_POD)
    assert not in_cluster({**IN_POD, "KUBERNETES_SERVICE_HOST": ""})
    assert not in_cluster({})


# By kubeconfig


def kubeconfig(
    folder: Path,
    user: Mapping[str, Any] | None = None,
    cluster: Mapping[str, Any] | None = None,
    **changed: Any,
) -> str:
    """A kubeconfig with the contexts `one` and `two`; two is in the namespace `team-b`."""
    path = folder / "config"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "clusters": [{"name": "c", "cluster": {"server": "https://api.example:6443", **(cluster or {})}}],
        "users": [{"name": "u", "user": {"token": "secret"} if user is None else user}],
        "contexts": [
            {"name": "one", "context": {"cluster": "c", "user": "u"}},
            {"name": "two", "context": {"cluster": "c", "user": "u", "namespace": "team-b"}},
        ],
        **changed,
    }
    path.write_text(json.dumps(content))
    return str(path)


def by_kubeconfig(
    path: str | None, context: str | None = None, environment: Mapping[str, str] | None = None
) -> Connection:
    return asyncio.run(connect_by_kubeconfig(path, context, environment or {}, SystemClock()))


def test_a_server_may_have_any_port_but_none(tmp_path: Path) -> None:
    assert by_kubeconfig(kubeconfig(tmp_path, cluster={"server": "http://a:1"})).server == "http://a:1"


def test_the_current_context_is_used_unless_another_is_named(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path)
    one, two = by_kubeconfig(path), by_kubeconfig(path, "two")
    assert (one.server, one.namespace) == ("https://api.example:6443", None)
    assert (two.namespace, two.origin) == ("team-b", f"context two of {path}")
    assert authorization(one) == "Bearer secret"


def test_the_environment_names_files_that_may_be_missing(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path)
    made = by_kubeconfig(None, None, {"KUBECONFIG": f"{tmp_path}/none:{path}"})
    assert made.server == "https://api.example:6443"


def test_plain_http_has_no_tls_and_a_proxy_may_be_in_the_file(tmp_path: Path) -> None:
    cluster = {"server": "http://api.example/", "proxy-url": "http://proxy:1"}
    made = by_kubeconfig(kubeconfig(tmp_path, {}, cluster))
    assert (made.server, made.tls, made.proxy) == ("http://api.example", None, "http://proxy:1")
    assert authorization(made) is None


def test_a_server_is_verified_unless_the_file_says_otherwise(tmp_path: Path, authority: str) -> None:
    verified = by_kubeconfig(
        kubeconfig(tmp_path, cluster={"certificate-authority": authority, "tls-server-name": "kubernetes"})
    )
    assert verified.tls is not None
    assert verified.tls.check_hostname
    assert verified.server_name == "kubernetes"
    trusting = by_kubeconfig(kubeconfig(tmp_path, cluster={"insecure-skip-tls-verify": True}))
    assert trusting.tls is not None
    assert trusting.tls.verify_mode is ssl.CERT_NONE


def program(folder: Path, text: str) -> Mapping[str, Any]:
    """A user whose credentials a program fetches."""
    script = folder / "login.py"
    script.write_text(text)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script)],
            "interactiveMode": "Never",
        }
    }


def test_a_program_may_fetch_the_credentials_and_is_asked_again_when_they_are_refused(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    counter.write_text("")
    user = program(
        tmp_path,
        f"""
import json, pathlib
count = pathlib.Path({str(counter)!r})
count.write_text(count.read_text() + "x")
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                   "status": {{"token": "fetched-" + count.read_text()}}}}))
""",
    )
    clock = Hands()

    async def main() -> list[str | None]:
        made = await connect_by_kubeconfig(kubeconfig(tmp_path, user), None, {}, clock)
        seen = [await made.credentials.authorization()]
        await made.credentials.renew()
        seen.append(await made.credentials.authorization())
        clock.seconds = 10
        await made.credentials.renew()
        return [*seen, await made.credentials.authorization()]

    assert asyncio.run(main()) == ["Bearer fetched-x", "Bearer fetched-x", "Bearer fetched-xx"]


@pytest.mark.parametrize("named", ["--kubeconfig", "KUBECONFIG", "several files"])
def test_it_is_read_again_where_it_was_whatever_the_working_directory_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """A plugin may change it. The token file is named by a path, too."""
    (tmp_path / "token").write_text("first")
    kubeconfig(tmp_path, {"tokenFile": "token"})
    monkeypatch.chdir(tmp_path)
    path = "config" if named == "--kubeconfig" else None
    environment = {"KUBECONFIG": "none:config" if named == "several files" else "config"}
    clock = Hands()

    async def main() -> list[str | None]:
        made = await connect_by_kubeconfig(path, None, environment, clock)
        seen = await made.credentials.authorization()
        os.chdir("/")
        (tmp_path / "token").write_text("second")
        clock.seconds = 10
        await made.credentials.renew()
        return [seen, await made.credentials.authorization()]

    assert asyncio.run(main()) == ["Bearer first", "Bearer second"]


_OUTPUTS = {
    "no JSON": "print('s3cret')",
    "JSON that ends early": 'print(\'{"status": {"token": "s3cret\')',
    "another version": "write(apiVersion='s3cret')",
    "no object": "print('[\"s3cret\"]')",
    "a status that is text": "write(status='s3cret')",
    "a time that is none": "write(status={'token': 's3cret', 'expirationTimestamp': 's3cret'})",
    "no token": "write(status={'password': 's3cret'})",
    "no key": "write(status={'clientCertificateData': 's3cret'})",
    "a failure": "print('s3cret'); sys.exit('x' * 100_000)",
    "an endless line": "print('s3cret' * 100_000); sys.exit(3)",
}
_WRITE = """
import json, sys
def write(**changed):
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {}}
    print(json.dumps(credential | changed))
"""


@pytest.mark.parametrize("output", _OUTPUTS.values(), ids=_OUTPUTS)
def test_what_a_program_wrote_is_bounded_and_its_output_is_never_shown(
    tmp_path: Path, output: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = kubeconfig(tmp_path, program(tmp_path, _WRITE + output))
    with caplog.at_level("DEBUG", "kruntimes_core"), pytest.raises(InputError, match="exec: ") as refused:
        by_kubeconfig(path)
    said = str(refused.value).removeprefix(f"kubeconfig: {path}")
    assert "s3cret" not in said
    assert len(said) < 400
    assert "s3cret" not in caplog.text + capfd.readouterr().err


def test_a_renewal_that_fails_shows_no_output_either(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Hands()

    async def main() -> str | None:
        good = _WRITE + "write(status={'token': 'first'})"
        made = await connect_by_kubeconfig(kubeconfig(tmp_path, program(tmp_path, good)), None, {}, clock)
        program(tmp_path, "print('s3cret')")
        clock.seconds = 10
        await made.credentials.renew()
        return await made.credentials.authorization()

    with caplog.at_level("DEBUG", "kruntimes_core"):
        assert asyncio.run(main()) == "Bearer first"
    assert "credentials were not renewed" in caplog.text
    assert "s3cret" not in caplog.text


def _refuse(*_: object, **__: object) -> logging.LogRecord:
    raise ValueError("no records")


def _silence_handlers() -> None:
    for name in ("", "kubernetes", "kubernetes.aio.config.kube_config"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = False


_SILENCED: Mapping[str, Callable[[], object]] = {
    "logging is disabled": lambda: logging.disable(logging.CRITICAL),
    "a dictConfig disables the loggers there are": lambda: logging.config.dictConfig({"version": 1}),
    "no record can be made": lambda: logging.setLogRecordFactory(_refuse),
    "handlers are gone": _silence_handlers,
    "the client's logger is at a level of its own": lambda: logging.getLogger("kubernetes").setLevel(99),
}


@pytest.fixture
def usual_logging() -> Iterator[None]:
    """What a test does to the logging of this process, undone."""
    names = ("", *logging.root.manager.loggerDict)
    before = {
        name: (one.level, one.disabled, one.propagate, [*one.handlers])
        for name in names
        if (one := logging.getLogger(name))
    }
    factory = logging.getLogRecordFactory()
    yield
    logging.disable(logging.NOTSET)
    logging.setLogRecordFactory(factory)
    for name, (level, disabled, propagate, handlers) in before.items():
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.disabled, logger.propagate, logger.handlers[:] = disabled, propagate, handlers


@pytest.mark.usefixtures("usual_logging")
@pytest.mark.parametrize("silence", _SILENCED.values(), ids=_SILENCED)
@pytest.mark.parametrize("output", ["sys.exit(3)", "write(status={})", "print('no JSON')"])
def test_credentials_stay_where_a_program_fails_and_a_plugin_silenced_logging(
    tmp_path: Path, silence: Callable[[], object], output: str
) -> None:
    clock = Hands()

    async def main() -> str | None:
        good = _WRITE + "write(status={'token': 'first'})"
        made = await connect_by_kubeconfig(kubeconfig(tmp_path, program(tmp_path, good)), None, {}, clock)
        program(tmp_path, _WRITE + output)
        logging.getLogger("kruntimes_core").setLevel(logging.DEBUG)
        silence()
        clock.seconds = 10
        await made.credentials.renew()
        return await made.credentials.authorization()

    assert asyncio.run(main()) == "Bearer first"


@pytest.mark.usefixtures("usual_logging")
def test_two_logins_at_a_time_hear_only_their_own_errors(tmp_path: Path) -> None:
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
    good = program(tmp_path / "good", _WRITE + "write(status={'token': 'first'})")
    bad = program(tmp_path / "bad", _WRITE + "sys.exit(3)")

    async def main() -> list[Connection | BaseException]:
        users = {"good": good, "bad": bad}
        logins = (
            connect_by_kubeconfig(kubeconfig(tmp_path / name, user), None, {}, Hands())
            for name, user in users.items()
        )
        return await asyncio.gather(*logins, return_exceptions=True)

    made, refused = asyncio.run(main())
    assert isinstance(made, Connection)
    assert "process returned 3" in str(refused)


_ADDRESSES = [
    {"server": "https://me:s3cret@host:6443"},
    {"server": "https://s3cret@host"},
    {"server": "https//me:s3cret@host"},
    {"server": "ftp://me:s3cret@host"},
    {"server": "https://me:s3cret%40host"},
    {"server": "https://host:6443/?token=s3cret"},
    {"server": "https://host:6443#s3cret"},
    {"server": "https://me s3cret"},
    {"tls-server-name": "me:s3cret@host"},
    {"tls-server-name": "https://host/?token=s3cret"},
    {"proxy-url": "socks5://me:s3cret@host:1080"},
    {"proxy-url": "http://me:s3cret@"},
    {"proxy-url": "http://me:s3cret@ho st"},
]


@pytest.mark.parametrize("cluster", _ADDRESSES, ids=[str(one) for one in _ADDRESSES])
def test_an_address_with_a_secret_is_refused_without_it(tmp_path: Path, cluster: Mapping[str, str]) -> None:
    with pytest.raises(InputError, match=r"server|proxy-url") as refused:
        by_kubeconfig(kubeconfig(tmp_path, cluster=cluster))
    assert "s3cret" not in str(refused.value)


def test_a_proxy_may_have_a_password_of_its_own(tmp_path: Path) -> None:
    made = by_kubeconfig(kubeconfig(tmp_path, cluster={"proxy-url": "http://me:s3cret@proxy:3128"}))
    assert made.proxy == "http://me:s3cret@proxy:3128"


@pytest.mark.parametrize(
    ("host", "port"),
    [("me:s3cret@host", "443"), ("host/s3cret", "443"), ("h", "s3cret"), ("h", "0"), ("a b", "1")],
)
def test_what_names_the_api_server_in_a_pod_must_be_an_address(account: Path, host: str, port: str) -> None:
    environment = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    with pytest.raises(InputError, match=r"KUBERNETES_SERVICE_HOST and") as refused:
        connect_in_cluster(environment, Hands(), account)
    assert "s3cret" not in str(refused.value)


def test_a_kubeconfig_needs_a_home_folder_for_the_official_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in [one for one in sys.modules if one.startswith("kubernetes.aio.config")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(InputError, match="has no home folder: set HOME"):
        by_kubeconfig(kubeconfig(tmp_path))


EXPIRES_SOON = """
import datetime, json, pathlib, sys, time
here = pathlib.Path({folder!r})
count = here / "count"
count.write_text(count.read_text() + "x")
if (here / "fails").exists():
    sys.exit("the login is out of order")
while (here / "hangs").exists():
    time.sleep(0.01)
soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=1)
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                   "status": {{"token": "fetched-" + count.read_text(),
                               "expirationTimestamp": soon.isoformat()}}}}))
"""


@pytest.mark.parametrize("trouble", ["", "fails", "hangs"])
def test_a_token_that_expires_soon_is_fetched_anew_and_no_request_waits_for_it(
    tmp_path: Path, trouble: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "count").write_text("")
    user = program(tmp_path, EXPIRES_SOON.format(folder=str(tmp_path)))
    clock = Hands()

    async def asked_again() -> None:
        while (tmp_path / "count").read_text() != "xx":
            await asyncio.sleep(0)

    async def everything_ended() -> None:
        while len(asyncio.all_tasks()) > 1:
            await asyncio.sleep(0)

    async def main() -> str | None:
        made = await connect_by_kubeconfig(kubeconfig(tmp_path, user), None, {}, clock)
        if trouble:
            (tmp_path / trouble).touch()
        clock.seconds = 31
        assert await made.credentials.authorization() == "Bearer fetched-x"
        await asked_again()
        if trouble == "hangs":
            assert await made.credentials.authorization() == "Bearer fetched-x"
            (tmp_path / "hangs").unlink()
        await everything_ended()
        return await made.credentials.authorization()

    wanted = "Bearer fetched-x" if trouble == "fails" else "Bearer fetched-xx"
    assert asyncio.run(main()) == wanted
    # What the program and the official client say of it is no line of the scheduler's log.
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("make", "context", "named"),
    [
        (lambda folder: str(folder / "none"), None, "none: no such file: name a kubeconfig"),
        (lambda folder: str(folder / "none" / "below"), None, "below: no such file: name a kubeconfig"),
        (lambda folder: "", None, "^--kubeconfig is empty: name a kubeconfig"),
        (lambda folder: str(folder), None, "it is a directory: name a kubeconfig in it"),
        (
            lambda folder: _pipe(folder),
            None,
            "it is a pipe, which can be read only once, .*: write it to a file",
        ),
        (lambda folder: "/dev/zero", None, "^--kubeconfig /dev/zero: it is not a file: name a kubeconfig"),
        (lambda folder: "/dev/null", None, "^kubeconfig /dev/null is empty: name another"),
        (lambda folder: str(folder / ("n" * 300)), None, "file name too long: name another"),
        (kubeconfig, "three", "--context names the context 'three', which is not there: known are one, two"),
        (lambda folder: kubeconfig(folder, clusters=[]), None, "context one names the cluster 'c', which is"),
        (lambda folder: kubeconfig(folder, users=[]), None, "context one names the user 'u', which is"),
        (lambda folder: kubeconfig(folder, contexts=None), None, "names the context 'one', which is not"),
        (lambda folder: kubeconfig(folder, contexts="one"), None, "are not lists of named entries"),
        (lambda folder: kubeconfig(folder, clusters=[{"name": "c"}]), None, "the cluster c is not a mapping"),
        (
            lambda folder: kubeconfig(folder, None, None, **{"current-context": ""}),
            None,
            "it has no current-context: give --context NAME",
        ),
        (lambda folder: kubeconfig(folder, cluster={"server": None}), None, "write https://HOST:PORT"),
        (
            lambda folder: kubeconfig(folder, cluster={"server": "api:6443"}),
            None,
            "the server of the cluster c is not a valid address: write",
        ),
        (lambda folder: kubeconfig(folder, cluster={"server": "ftp://api"}), None, "write https://HOST:PORT"),
        (lambda folder: kubeconfig(folder, cluster={"server": "http://a:99999"}), None, "write https://HOST"),
        (lambda folder: kubeconfig(folder, cluster={"server": "http://a:0"}), None, "write https://HOST"),
        (
            lambda folder: kubeconfig(folder, cluster={"certificate-authority-data": "%"}),
            None,
            "certificate-authority-data of the cluster c is not valid base64: copy it again",
        ),
        (
            lambda folder: kubeconfig(folder, {"client-key-data": "a"}),
            None,
            "client-key-data of the user u is not valid base64: copy it again",
        ),
        (
            lambda folder: kubeconfig(folder, {"exec": {"command": "no-such-login"}}),
            None,
            "user u logs in with no-such-login, which is not installed: install it",
        ),
        (lambda folder: kubeconfig(folder, cluster={"certificate-authority": "/none"}), None, "/none"),
        (lambda folder: kubeconfig(folder, {"client-certificate": "/none"}), None, "/none"),
        (lambda folder: kubeconfig(folder, program(folder, "raise SystemExit(3)")), None, "returned 3"),
        (
            lambda folder: kubeconfig(folder, {"tokenFile": "/dev/zero"}),
            None,
            "the tokenFile /dev/zero of the user u holds no token: name another",
        ),
        (
            lambda folder: kubeconfig(folder, {"tokenFile": _sparse(folder).name}),
            None,
            "tokenFile .*/large of the user u holds no token: name another",
        ),
        (lambda folder: str(_sparse(folder)), None, "large holds more than 16 MiB"),
        (lambda folder: _written(folder, "- just\n- a list\n"), None, "not a mapping of clusters"),
        (lambda folder: _written(folder, ""), None, "is empty: name another"),
        (lambda folder: _written(folder, "a: [b\n"), None, r"config:1: .* expected ',' or ']'"),
        (lambda folder: _written(folder, b"\xff\xfe\x00"), None, "config:1: this is not UTF-8 text"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_one_line(
    tmp_path: Path, make: Any, context: str | None, named: str
) -> None:
    with pytest.raises(InputError, match=named) as refused:
        by_kubeconfig(make(tmp_path), context)
    assert "\n" not in str(refused.value)


def _pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    return str(folder / "pipe")


def _sparse(folder: Path) -> Path:
    with (folder / "large").open("wb") as file:
        file.truncate(SETTINGS_BYTES + 1)
    return folder / "large"


def _written(folder: Path, text: str | bytes) -> str:
    (folder / "config").write_bytes(text.encode() if isinstance(text, str) else text)
    return str(folder / "config")


def test_without_any_kubeconfig_the_options_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no cluster: .* give --kubeconfig FILE"):
        by_kubeconfig(None, None, {"KUBECONFIG": str(tmp_path / "none")})


@pytest.mark.parametrize(
    ("path", "environment", "named"),
    [
        (None, {}, r"there is no kubeconfig at ~/\.kube/config: give --kubeconfig FILE"),
        (None, {"KUBECONFIG": "~/k"}, "there is no kubeconfig at ~/k: give --kubeconfig FILE"),
        ("~/k", {}, "^--kubeconfig ~/k: no such file: name a kubeconfig"),
        ("~no-such-user/k", {}, "^--kubeconfig ~no-such-user/k: no such file: name a kubeconfig"),
    ],
)
def test_a_user_without_a_home_has_no_kubeconfig_there(
    monkeypatch: pytest.MonkeyPatch, path: str | None, environment: dict[str, str], named: str
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: {}[_])
    with pytest.raises(InputError, match=named):
        by_kubeconfig(path, None, environment)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda folder: str(folder), "it is a directory: name a kubeconfig in it"),
        (lambda folder: f"{folder}/none:{_pipe(folder)}", "pipe: it is a pipe"),
        (lambda folder: "/dev/null", "^kubeconfig /dev/null is empty: name another"),
        (lambda folder: f"/dev/null:{_written(folder, '')}", "^kubeconfig /dev/null is empty: name another"),
    ],
)
def test_what_the_environment_names_is_looked_at_in_the_same_way(
    tmp_path: Path, make: Any, named: str
) -> None:
    with pytest.raises(InputError, match=named):
        by_kubeconfig(None, None, {"KUBECONFIG": make(tmp_path)})


def test_of_several_files_empty_ones_add_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    paths = ["/dev/null", str(tmp_path / "empty"), kubeconfig(tmp_path), str(tmp_path / "none")]
    assert by_kubeconfig(None, None, {"KUBECONFIG": ":".join(paths)}).server == "https://api.example:6443"


def test_one_that_must_not_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = kubeconfig(tmp_path)

    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match="permission denied: name another"):
        by_kubeconfig(file)


def test_of_several_files_the_first_names_the_context_as_for_kubectl(tmp_path: Path) -> None:
    paths = []
    for name, current in (("a", ""), ("b", "two"), ("c", "one")):
        (tmp_path / name).mkdir()
        paths.append(kubeconfig(tmp_path / name, None, None, **{"current-context": current}))
    made = by_kubeconfig(None, None, {"KUBECONFIG": ":".join(paths)})
    assert made.namespace == "team-b"


def test_line_breaks_in_encoded_data_are_no_mistake(tmp_path: Path, authority: str) -> None:
    import base64

    encoded = base64.encodebytes(Path(authority).read_bytes()).decode()
    assert "\n" in encoded
    assert by_kubeconfig(kubeconfig(tmp_path, cluster={"certificate-authority-data": encoded})).tls


def test_a_named_kubeconfig_counts_before_the_pod(tmp_path: Path) -> None:
    made = asyncio.run(connect(kubeconfig(tmp_path), None, IN_POD, SystemClock()))
    assert made.server == "https://api.example:6443"


@pytest.mark.skipif(SERVICE_ACCOUNT.exists(), reason="this is a Pod")
def test_a_pod_without_a_named_kubeconfig_uses_its_own_account(tmp_path: Path) -> None:
    """Even where there is a kubeconfig; here it is told that its token is not mounted."""
    environment = {**IN_POD, "KUBECONFIG": kubeconfig(tmp_path)}
    with pytest.raises(InputError, match="in-cluster: no token in"):
        asyncio.run(connect(None, None, environment, SystemClock()))
    by_context = asyncio.run(connect(None, "two", environment, SystemClock()))
    assert (by_context.server, by_context.namespace) == ("https://api.example:6443", "team-b")


# Trying it

VERSION = b'{"major": "1", "minor": "37"}'


class Answers:
    """A transport with a script."""

    def __init__(self, *answers: Response | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def request(self, call: Call) -> Response:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def tried(*answers: Response | Exception) -> None:
    tried_with(Answers(*answers))


def tried_with(transport: Answers) -> None:
    from virtual.time import VirtualClock, run_virtual

    async def main() -> None:
        connection: Any = Connection(server="https://api", credentials=Any, origin="context one")  # type: ignore[arg-type]
        await try_connection(transport, connection, VirtualClock())  # type: ignore[arg-type]

    run_virtual(main())


def test_a_server_that_is_starting_is_waited_for() -> None:
    tried(NotSentError("refused"), NotSentError("refused"), Response(200, VERSION))
    tried(Response(503, b"starting"))


@pytest.mark.parametrize(("lasting", "asked"), [(False, 11), (True, 1)])
def test_it_is_asked_each_half_second_for_five_seconds_unless_waiting_cannot_help(
    lasting: bool, asked: int
) -> None:
    transport = Answers(NotSentError("refused", lasting=lasting))
    with pytest.raises(InputError, match="cannot reach"):
        tried_with(transport)
    assert transport.asked == asked


def test_a_server_that_does_not_tell_its_version_is_followed_all_the_same() -> None:
    tried(Response(403))


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (
            NotSentError("no connection: Connection refused"),
            "cannot reach .*https://api .context one.*refused",
        ),
        (NotSentError("its certificate is not trusted", lasting=True), "certificate is not trusted"),
        (Response(401), "does not accept the credentials"),
        (
            Response(404, b"<html>\nnothing"),
            r"does not answer like an API server .404: <html> nothing.: name the",
        ),
        (Response(400, b"Client sent HTTP to HTTPS"), r".400: Client sent HTTP to HTTPS.: name the right"),
        (Response(302), r"does not answer like an API server .302.: name the right server"),
        (Response(200, b"<html>"), r"does not answer like an API server .200: <html>."),
        (Response(201, VERSION), r"does not answer like an API server .201: "),
        (Response(200, b"[]"), r"does not answer like an API server .200: \[\]."),
    ],
)
def test_a_server_that_cannot_be_used_is_given_up(answer: Response | Exception, named: str) -> None:
    with pytest.raises(InputError, match=named):
        tried(answer)
