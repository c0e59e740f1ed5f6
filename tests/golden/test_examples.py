"""The plans of the examples, word for word: what the README and the docs show is what users see."""

from pathlib import Path

import pytest

from kruntimes_core.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

FIRST_PLAN = """\
RUN        RUNTIME   OUTCOME     POD      REASON                 MESSAGE
embed      py        Scheduled   py-1     Assigned               <none>
evaluate   py        Scheduled   py-1     Assigned               <none>
report     py        Waiting     <none>   AffinityNotSatisfied   waiting for a runtime pod that satisfies required run affinity
train      py        Waiting     <none>   InsufficientCapacity   waiting for available runtime pods for runtime "py"
"""  # noqa: E501 - a table is as wide as it is

# embed: py-1 would be 1/4 full, py-0 1/2. evaluate: both would be 1/2 full, so that its preference decides.
EXPLAINED = """\

default/embed (runtime py): Scheduled on py-1
  POD    VERDICT    TOTAL   WHY
  py-0   feasible   0       PreferredRunAffinity 0*1; LeastLoaded 0*1 (highest load 0.5000, sum 0.5000)
  py-1   chosen     100     PreferredRunAffinity 0*1; LeastLoaded 100*1 (highest load 0.2500, sum 0.2500)

default/evaluate (runtime py): Scheduled on py-1
  POD    VERDICT    TOTAL   WHY
  py-0   feasible   100     PreferredRunAffinity 0*1; LeastLoaded 100*1 (highest load 0.5000, sum 0.5000)
  py-1   chosen     200     PreferredRunAffinity 100*1 (10); LeastLoaded 100*1 (highest load 0.5000, sum 0.5000)

default/report (runtime py): Waiting, AffinityNotSatisfied
  POD      VERDICT    TOTAL    WHY
  2 of 2   rejected   <none>   RunAffinity: AffinityNotSatisfied

default/train (runtime py): Waiting, InsufficientCapacity
  POD      VERDICT    TOTAL    WHY
  2 of 2   rejected   <none>   RuntimePodAvailability: InsufficientCapacity (gpu is not advertised)
"""  # noqa: E501

FIRST_NOTES = """\
4 Runs: 2 Scheduled, 2 Waiting
  RUNTIME   REASON                 NEVER   RUNS
  py        InsufficientCapacity   true    1
  py        AffinityNotSatisfied   false   1
2 Runtime Pods: 2 Available
"""

# scrape: third attempt, 10 s * 2 after 09:15:35. etl-2 fills the cpu of the Pod where its cohort is, so etl-3
# finds the cohort's Pod full and the others without it. cache-1 seeds its cohort; lonely avoids it.
CLUSTER_DUMP = """\
NAMESPACE   RUN               OUTCOME     POD             REASON                 UNTIL                  NEVER
team-a      scrape            Backoff     <none>          RetryDelay             2026-03-10T09:15:55Z   false
team-a      etl-2             Scheduled   py-7d4f9-0      Assigned               <none>                 false
team-a      etl-3             Waiting     <none>          AffinityNotSatisfied   <none>                 false
team-a      notebook-1        Scheduled   py-7d4f9-1      Assigned               <none>                 false
team-a      notebook-2        Waiting     <none>          WorkspaceMissing       <none>                 false
team-a      report-obsolete   Cancelled   <none>          Cancelled              <none>                 false
team-a      train-large       Waiting     <none>          InsufficientCapacity   <none>                 true
team-a      train-small       Scheduled   torch-66c5b-0   Assigned               <none>                 false
team-b      cache-1           Scheduled   py-5b8c6-0      Assigned               <none>                 false
team-b      cache-2           Scheduled   py-5b8c6-0      Assigned               <none>                 false
team-b      lonely            Waiting     <none>          AntiAffinityConflict   <none>                 false
"""


def plan(capsys: pytest.CaptureFixture[str], name: str, *options: str) -> tuple[int, str, str]:
    code = main(["plan", "-f", str(EXAMPLES / name), *options])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def columns(table: str, headings: str) -> list[list[str]]:
    """The words of a table under some of its headings; messages come last and are no single words."""
    lines = [line.split() for line in table.splitlines()]
    places = [lines[0].index(heading) for heading in headings.split()]
    return [[line[place] for place in places] for line in lines]


def test_the_first_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(capsys, "first-plan.yaml") == (1, FIRST_PLAN, FIRST_NOTES)


def test_the_first_plan_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(capsys, "first-plan.yaml", "--explain")[1] == FIRST_PLAN + EXPLAINED


def test_the_dump_of_two_namespaces(capsys: pytest.CaptureFixture[str]) -> None:
    code, table, notes = plan(capsys, "cluster-dump.yaml", "-o", "wide")
    assert code == 1
    headings = CLUSTER_DUMP.partition("\n")[0]
    assert columns(table, headings) == columns(CLUSTER_DUMP, headings)
    assert notes.splitlines() == [
        "skipped 1 object of other kinds: 1 Pod without the label runtime",
        "1 of 5 ready Runtime Pods has no heartbeat within 15 s of 2026-03-10T09:15:42Z: unless this is an"
        " outage, give an earlier --now, or dump Pods and Runs together",
        "11 Runs: 5 Scheduled, 4 Waiting, 1 Backoff, 1 Cancelled",
        "  NAMESPACE   RUNTIME   REASON                 NEVER   RUNS",
        "  team-a      torch     InsufficientCapacity   true    1",
        "  team-a      py        AffinityNotSatisfied   false   1",
        "  team-a      py        WorkspaceMissing       false   1",
        "  team-b      py        AntiAffinityConflict   false   1",
        "6 Runtime Pods: 4 Available, 1 HeartbeatStale, 1 PodNotRunning",
    ]


def test_names_are_those_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, names, _ = plan(capsys, "cluster-dump.yaml", "-o", "name")
    runs = columns(CLUSTER_DUMP, "RUN NAMESPACE")[1:]
    assert names.splitlines() == [f"run.kruntimes.io/{run} -n {namespace}" for run, namespace in runs]
