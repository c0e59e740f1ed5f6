"""The proxy is chosen as Go programs choose it, CIDR in NO_PROXY included."""

from __future__ import annotations

import pytest

from kruntimes_core.cluster.client.connection import bypasses, choose_proxy
from kruntimes_core.model.messages import InputError

SERVER = "https://10.96.0.1:443"
PROXY = {"HTTPS_PROXY": "http://proxy.example:3128"}


@pytest.mark.parametrize(
    ("server", "no_proxy"),
    [
        (SERVER, "10.96.0.1"),
        (SERVER, "10.96.0.0/16"),
        (SERVER, "example.com, 10.0.0.0/8"),
        (SERVER, "10.96.0.1:443"),
        (SERVER, "*"),
        ("https://[fd00::1]:6443", "fd00::/8"),
        ("https://[fd00::1]:6443", "fd00:0::1"),
        ("https://[fd00::1]:6443", "[fd00::1]:6443"),
        ("https://api.example.com", "example.com"),
        ("https://api.example.com", ".example.com"),
        ("https://api.example.com", "*.example.com"),
        ("https://API.example.com", "api.EXAMPLE.com"),
        ("https://example.com", "example.com:443"),
        ("https://localhost:6443", ""),
        ("https://127.0.0.1:6443", ""),
        ("https://[::1]:6443", ""),
    ],
)
def test_what_is_reached_directly(server: str, no_proxy: str) -> None:
    assert bypasses(server, no_proxy)
    assert choose_proxy(server, {**PROXY, "NO_PROXY": no_proxy}) is None


@pytest.mark.parametrize(
    ("server", "no_proxy"),
    [
        (SERVER, ""),
        (SERVER, "10.97.0.0/16"),
        (SERVER, "10.96.0.1:6443"),
        (SERVER, "10.96.0"),
        (SERVER, "fd00::/8"),
        (SERVER, "not/a/network"),
        ("https://api.example.com", "ample.com"),
        ("https://example.com", ".example.com"),
        ("https://api.example.com", "10.0.0.0/8"),
    ],
)
def test_what_goes_by_the_proxy(server: str, no_proxy: str) -> None:
    assert choose_proxy(server, {**PROXY, "NO_PROXY": no_proxy}) == "http://proxy.example:3128"


def test_a_kubeconfigs_own_proxy_counts_before_the_environment() -> None:
    assert choose_proxy(SERVER, {**PROXY, "NO_PROXY": "*"}, "http://own:1") == "http://own:1"


def test_the_variable_belongs_to_the_scheme_and_may_be_in_lower_case() -> None:
    assert choose_proxy("http://api", PROXY) is None
    assert choose_proxy("http://api", {"http_proxy": "proxy:80"}) == "http://proxy:80"
    assert choose_proxy(SERVER, {**PROXY, "no_proxy": "10.0.0.0/8"}) is None


def test_another_kind_of_proxy_is_refused_without_its_password() -> None:
    with pytest.raises(InputError, match="socks5://bastion is of a kind") as refused:
        choose_proxy(SERVER, {"HTTPS_PROXY": "socks5://me:secret@bastion:1080"})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "proxy", ["http://", "::bad", "http://[half", "http://proxy:99999", "http://proxy:0", "http://me:secret@"]
)
def test_what_is_no_address_is_one_line_without_its_password(proxy: str) -> None:
    with pytest.raises(InputError, match="not a valid address: write http://HOST:PORT") as refused:
        choose_proxy(SERVER, {"HTTPS_PROXY": proxy})
    assert "secret" not in str(refused.value)
