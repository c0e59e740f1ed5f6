"""Fields that nobody knows: refused, warned of, or passed over."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import pod_body, run_body
from realcluster.client import PODS, RUNS

ODD_RUN = {**run_body(spec={"surprise": 1, "retryPolicy": {"odd": 2}}), "extra": True}
ODD_POD = pod_body(spec={"surprise": 1})
TWICE = (
    b'{"apiVersion":"kruntimes.io/v1alpha1","kind":"Run","metadata":{"name":"r9"},'
    b'"spec":{"runtime":"a","runtime":"b","mode":{"task":{"entrypoint":"m"}}}}'
)


@contract
def test_strict(site: Site) -> None:
    refused = site.create(RUNS, ODD_RUN, fieldValidation="Strict")
    assert (refused.status, refused.reason) == (400, "BadRequest")
    assert 'unknown field "spec.retryPolicy.odd"' in refused.message
    assert site.create(PODS, ODD_POD, fieldValidation="Strict").status == 400
    assert site.create(RUNS, run_body(), fieldValidation="Strict").status == 201


@contract
def test_warn(site: Site) -> None:
    for query in ({"fieldValidation": "Warn"}, {}):
        site.create(RUNS, {**ODD_RUN, "metadata": {"name": f"r{len(query)}"}}, **query)
    warned = site.create(PODS, ODD_POD)
    assert warned.warnings == ('299 - "unknown field \\"spec.surprise\\""',)


@contract
def test_ignore(site: Site) -> None:
    assert site.create(RUNS, ODD_RUN, fieldValidation="Ignore").warnings == ()
    assert site.create(PODS, ODD_POD, fieldValidation="Ignore").warnings == ()


@contract
def test_a_word_that_is_none(site: Site) -> None:
    refused = site.create(RUNS, run_body(), fieldValidation="Hope")
    assert (refused.status, refused.reason) == (422, "Invalid")
    site.made(RUNS, run_body("r2"))
    change = {"spec": {"ttlSecondsAfterFinished": 1}}
    assert site.patch(RUNS, "r2", change, fieldValidation="Hope").status == 422


@contract
def test_patches(site: Site) -> None:
    site.made(RUNS, run_body())
    site.made(PODS, pod_body())
    for word in ("Strict", "Warn", "Ignore"):
        site.patch(RUNS, "r1", {"spec": {"mode": {"surprise": 1}}}, fieldValidation=word)
        site.patch(RUNS, "r1", {"status": {"surprise": 1}}, "status", fieldValidation=word)
        site.patch(
            RUNS,
            "r1",
            [{"op": "add", "path": "/spec/mode/odd", "value": 1}],
            kind="json",
            fieldValidation=word,
        )
        site.patch(PODS, "py-0", {"spec": {"surprise": 1}}, kind="strategic", fieldValidation=word)


@contract
def test_puts(site: Site) -> None:
    run = site.made(RUNS, run_body())
    odd = {**run, "spec": {**run["spec"], "mode": {**run["spec"]["mode"], "surprise": 1}}}
    assert site.replace(RUNS, odd, fieldValidation="Strict").status == 400
    assert site.replace(RUNS, odd).status == 200


@contract
def test_a_field_that_is_there_twice(site: Site) -> None:
    for word in ("Strict", "Warn", "Ignore"):
        site.send("POST", site.path(RUNS), TWICE, fieldValidation=word)
        site.delete(RUNS, "r9")


@contract
def test_unknown_metadata(site: Site) -> None:
    odd = run_body(surprise=1)
    for word in ("Strict", "Warn", "Ignore"):
        site.create(RUNS, odd, fieldValidation=word)
        site.create(PODS, pod_body(surprise=1), fieldValidation=word)
