"""Runs by where their code comes from, and what their paths may lead to."""

from __future__ import annotations

from contrast.cases import FUNCTION, INLINE, REMOVED, REPOSITORY, Create, accepted, refused

_ENTRYPOINT = "spec.mode.task.entrypoint"
_INLINE_PATH = "spec.source.inlinePath"


def _starts(entrypoint: str) -> dict[str, object]:
    return {"task": {"entrypoint": entrypoint}}


def _inline_at(path: str) -> dict[str, str]:
    return {**INLINE, "inlinePath": path}


SOURCES: list[Create] = [
    accepted("empty source", source={}),
    accepted("repository without a commit", source={"repoURL": "https://git.example.invalid/jobs.git"}),
    accepted("inline source of 262,144 characters", source={"inline": "x" * 262_144}),
    accepted("inline source counted in characters, not bytes", source={"inline": "é" * 262_144}),
    accepted(
        "URL of 2,048 and commit of 256 characters", source={"repoURL": "u" * 2048, "commitSHA": "c" * 256}
    ),
    refused("inline source of 262,145 characters", "spec.source.inline", source={"inline": "x" * 262_145}),
    refused("URL of 2,049 characters", "spec.source.repoURL", source={"repoURL": "u" * 2049}),
    refused(
        "commit of 257 characters",
        "spec.source.commitSHA",
        source={"repoURL": "u", "commitSHA": "c" * 257},
    ),
    refused("inline source and a repository", "spec.source", source={**INLINE, **REPOSITORY}),
    refused("commit without a repository", "spec.source.commitSHA", source={"commitSHA": "4b825dc"}),
    accepted("dots inside a name of the entrypoint", mode=_starts("v1..2/run...sh")),
    accepted("absolute entrypoint for inline source", mode=_starts("/usr/bin/python3"), source=INLINE),
    accepted("entrypoint above its folder for inline source", mode=_starts("../run"), source=INLINE),
    refused("absolute entrypoint in a repository", _ENTRYPOINT, mode=_starts("/bin/sh")),
    refused("absolute entrypoint without a source", _ENTRYPOINT, mode=_starts("/bin/sh"), source=REMOVED),
    refused("entrypoint that begins above its folder", _ENTRYPOINT, mode=_starts("../run")),
    refused("entrypoint that climbs in the middle", _ENTRYPOINT, mode=_starts("bin/../../run")),
    refused("entrypoint that ends above", _ENTRYPOINT, mode=_starts("bin/..")),
    accepted("inline function", mode=FUNCTION, source=_inline_at("pkg/handler.py")),
    accepted("inline path without an upper bound", mode=FUNCTION, source=_inline_at("p/" * 4096 + "p")),
    accepted("inline function in hidden names", mode=FUNCTION, source=_inline_at(".pkg/..handler")),
    refused("inline function without a path", "spec.source", mode=FUNCTION, source=INLINE),
    refused("inline path of a task", _INLINE_PATH, source=_inline_at("run.py")),
    refused(
        "inline path beside a repository",
        _INLINE_PATH,
        mode=FUNCTION,
        source={**REPOSITORY, "inlinePath": "run.py"},
    ),
    *(
        refused(f"inline path {path!r}", _INLINE_PATH, mode=FUNCTION, source=_inline_at(path))
        for path in ("", "/run.py", "pkg//run.py", "pkg/", "./run.py", "pkg/./run.py", "../run.py", "pkg/..")
    ),
]
