"""Label and field selectors, the good and the bad."""

from __future__ import annotations

from contract import Site, contract
from embedded.bodies import event_body, pod_body, run_body
from realcluster.client import PODS, RUNS, Resource

EVENTS = Resource("events.k8s.io", "v1", "events")
OLD_EVENTS = Resource("", "v1", "events")
BY_LABELS = {
    "cohort=a": ["r1"],
    "cohort==a": ["r1"],
    "cohort!=a": ["r2", "r3"],
    "cohort": ["r1", "r2"],
    "!cohort": ["r3"],
    "cohort in (a,b)": ["r1", "r2"],
    "cohort in (a, c),team": ["r1"],
    "cohort notin (a)": ["r2", "r3"],
    "cohort notin (a,b)": ["r3"],
    "team=": [],
    "cohort in (,b)": ["r2"],
    "cohort in (,)": [],
    "size>5": ["r3"],
    "size<5": [],
    " cohort = a , team = x ": ["r1"],
    "size > 5": ["r3"],
    "cohort>1": [],
    "other<1": [],
    "app.kubernetes.io/x!=y": ["r1", "r2", "r3"],
    "": ["r1", "r2", "r3"],
}
BAD_LABELS = (
    ",",
    "a in ()",
    "a gt 5",
    "a=b=c",
    "a in b",
    "a in (b",
    "(a)",
    "=a",
    "a,,b",
    "!",
    "!a=b",
    "a=b,",
    "a b",
    "-a",
    "a=-b",
    "a/b/c",
    "Ä=1",
    "a in (b c)",
    "a>b",
    "x" * 64,
    "a=" + "x" * 64,
    "a notin",
    "a in (-)",
)
BAD_FIELDS = (
    "spec.runtime=py",
    "metadata.labels=a",
    "metadata.name",
    "=",
    "metadata.name>a",
    "metadata.uid=1",
)


def three(site: Site) -> None:
    site.made(RUNS, run_body("r1", labels={"cohort": "a", "team": "x"}))
    site.made(RUNS, run_body("r2", labels={"cohort": "b"}))
    site.made(RUNS, run_body("r3", labels={"size": "7"}))


@contract
def test_label_selectors(site: Site) -> None:
    three(site)
    for selector, names in BY_LABELS.items():
        assert site.list(RUNS, labelSelector=selector).names == names, selector


@contract
def test_bad_label_selectors(site: Site) -> None:
    for selector in BAD_LABELS:
        site.list(RUNS, labelSelector=selector)
    site.list(PODS, labelSelector="a in b")


@contract
def test_field_selectors_of_runs(site: Site) -> None:
    three(site)
    for selector, names in {
        "metadata.name=r2": ["r2"],
        "metadata.name!=r2": ["r1", "r3"],
        f"metadata.namespace={site.namespace}": ["r1", "r2", "r3"],
        "metadata.namespace=other": [],
        "metadata.name==r1,metadata.namespace!=x": ["r1"],
        "metadata.name=r1,metadata.name=r2": [],
        "metadata.name=R/1": [],
        r"metadata.name=r1\,r2": [],
        "": ["r1", "r2", "r3"],
    }.items():
        assert site.list(RUNS, fieldSelector=selector).names == names, selector
    assert site.list(RUNS, fieldSelector="metadata.name=r1", labelSelector="cohort=b").names == []


@contract
def test_bad_field_selectors(site: Site) -> None:
    for selector in BAD_FIELDS:
        site.list(RUNS, fieldSelector=selector)
        site.list(PODS, fieldSelector=selector)


@contract
def test_field_selectors_of_pods(site: Site) -> None:
    site.made(PODS, pod_body("a", spec={"nodeName": "node-1"}))
    site.made(PODS, pod_body("b", spec={"restartPolicy": "Never"}))
    site.patch(PODS, "a", {"status": {"phase": "Running"}}, "status")
    for selector, names in {
        "status.phase=Running": ["a"],
        "status.phase!=Running": ["b"],
        "spec.nodeName=node-1": ["a"],
        "spec.nodeName=": ["b"],
        "spec.restartPolicy=Never": ["b"],
        "metadata.name=a,status.phase=Pending": [],
        "spec.schedulerName=default-scheduler": ["a", "b"],
    }.items():
        assert site.list(PODS, fieldSelector=selector).names == names, selector


@contract
def test_field_selectors_of_events(site: Site) -> None:
    regarding = {
        "kind": "Run",
        "namespace": site.namespace,
        "name": "r1",
        "apiVersion": "kruntimes.io/v1alpha1",
    }
    site.made(EVENTS, event_body("e1", regarding=regarding))
    site.made(EVENTS, event_body("e2", regarding={**regarding, "name": "r2"}, type="Warning"))
    for resource, prefix in ((EVENTS, "regarding"), (OLD_EVENTS, "involvedObject")):
        assert site.list(resource, fieldSelector=f"{prefix}.name=r1").names == ["e1"]
        assert site.list(resource, fieldSelector=f"{prefix}.kind=Run,type=Warning").names == ["e2"]
        assert site.list(resource, fieldSelector="reason=Assigned").names == ["e1", "e2"]
    for selector in ("involvedObject.name=r1", "reportingController=kruntimes.io/scheduler"):
        site.list(EVENTS, fieldSelector=selector)
    for selector in ("regarding.name=r1", "source=x", "reportingComponent=kruntimes.io/scheduler"):
        site.list(OLD_EVENTS, fieldSelector=selector)
