"""What the documentation shows is what happens: each command is run, each quote is the file."""

import __future__

import json
import re
from pathlib import Path

import pytest
import yaml

from kruntimes_core.framework.configuration import load_configuration
from tests.docs.pages import ROOT, Block, Page, all_pages, page
from tests.docs.shell import Shell, alike, commands, installed, newcomer, writing

# What a test does not have: an index of packages, a cluster, and itself.
NOT_RUN = {
    ("README.md", "python3 -m venv .venv && .venv/bin/pip install . "): "installs from the network",
    ("README.md", "python3 -m venv .venv && .venv/bin/pip install tox"): "runs these tests",
    ("CONTRIBUTING.md", ".venv/bin/tox -e tests -- "): "runs these tests",
    ("CONTRIBUTING.md", ".venv/bin/tox exec -e deploy"): "writes into the checkout",
    ("docs/tutorial/first-cluster.md", "cd ~/kruntimes-tutorial && export KUBECONFIG"): "needs kubectl",
    ("docs/tutorial/first-cluster.md", "kubectl delete pod "): "needs kubectl",
    ("docs/how-to/plan-a-cluster.md", "kubectl get "): "needs a cluster",
    ("docs/how-to/why-a-run-waits.md", "kubectl describe run train-large"): "needs a cluster",
    ("docs/how-to/measure.md", "PYTHONPATH=tests/support .venv/bin/python -m realcluster"): "has no end",
    ("docs/how-to/measure.md", ".venv/bin/kruntimes bench --kubeconfig "): "needs a cluster",
    ("docs/how-to/measure.md", "kubectl apply -f deploy/crds"): "needs a cluster, and another scheduler",
    ("docs/performance.md", ".venv/bin/kruntimes bench --kubeconfig "): "needs a cluster",
    (
        "docs/performance/live.md",
        "PYTHONPATH=tests/support .venv/bin/python -m realcluster serve",
    ): "has no end",
    ("docs/performance/soak.md", "PYTHONPATH=tests/support python -m soak"): "an hour",
    (
        "docs/how-to/install-in-a-cluster.md",
        "docker ",
    ): "needs a container engine; see tests/deploy/test_image.py",
    ("docs/how-to/install-in-a-cluster.md", "kubectl --namespace kruntimes-system rollout"): "needs nodes",
    ("docs/how-to/replace-the-go-scheduler.md", "kubectl --namespace kruntimes-system port-f"): "needs nodes",
    ("docs/how-to/add-plugins-in-a-cluster.md", "pip wheel "): "needs a plugin of the reader's",
    ("docs/runbooks/plugin-errors.md", "kubectl --namespace kruntimes-system logs"): "needs nodes",
    ("docs/runbooks/plugin-stuck.md", "kubectl --namespace kruntimes-system logs"): "needs nodes",
}
LANGUAGES = {"bash", "console", "dockerfile", "json", "mermaid", "python", "text", "toml", "yaml"}


TUTORIALS = ("docs/tutorial/first-cluster.md", "docs/tutorial/first-plan.md", "docs/tutorial/first-plugin.md")


def is_run(block: Block) -> bool:
    return block.language == "console" and block.role != "not run"


def steps(shown: Page) -> list[Block]:
    return [block for block in shown.blocks if is_run(block) or block.role.startswith("write")]


def follow(shell: Shell, blocks: list[Block], moved: tuple[str, str] = ("", "")) -> None:
    """Do what a page says, from top to bottom in one shell, and compare what each command prints."""
    todo: list[tuple[str, str]] = []
    for block in blocks:
        if block.role.startswith("write"):
            todo.append((writing(block.target, block.text), ""))
        else:
            todo += [(command.line, command.shown) for command in commands(block.text)]
    printed = shell.run(line.replace(*moved) if moved[0] else line for line, _ in todo)
    for (line, shown), output in zip(todo, printed, strict=True):
        assert alike(shown, output), f"$ {line}{output}"


@pytest.mark.parametrize(
    "shown",
    [shown for shown in all_pages() if any(map(is_run, shown.blocks)) and shown.name not in TUTORIALS],
    ids=lambda shown: shown.name,
)
def test_commands_print_what_is_shown(shown: Page, tmp_path: Path) -> None:
    set_up = "tutorial/first-plugin.md#set-up)" in shown.text
    follow(installed(tmp_path, "examples" if set_up else "docs/examples"), steps(shown))


# Nothing is prepared here: the reader's own commands make an environment and build six packages.
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("name", "parent"),
    # In the checkout, pytest must not take the settings of the project: only one tutorial runs pytest.
    [*((name, "~") for name in TUTORIALS), ("docs/tutorial/first-plugin.md", "~/kruntimes")],
)
def test_a_tutorial_begins_with_nothing_and_leaves_nothing(name: str, parent: str, tmp_path: Path) -> None:
    shell = newcomer(tmp_path)
    before = everything(tmp_path)
    follow(shell, steps(page(name)), moved=("~/kruntimes-tutorial", f"{parent}/kruntimes-tutorial"))
    assert everything(tmp_path) == before


def everything(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if not path.is_relative_to(folder / ".library")}


def test_what_is_not_run_is_known_and_why(page: Page) -> None:
    left_out = [block.text for block in page.blocks if block.role == "not run"]
    known = [start for name, start in NOT_RUN if name == page.name]
    assert len(left_out) == len(known)
    assert all(any(text.startswith(start) for start in known) for text in left_out)


@pytest.mark.parametrize(("name", "start"), NOT_RUN, ids=str)
def test_nothing_is_left_out_without_need(name: str, start: str) -> None:
    (block,) = [b for b in page(name).blocks if b.role == "not run" and b.text.startswith(start)]
    assert re.search(r"\b(pip (install|wheel)|kubectl|tox|git|docker|realcluster|soak)\b", block.text)


def test_the_first_line_of_the_readme_ends_with_a_command_that_is_run() -> None:
    first, *others = [block for block in page("README.md").blocks if block.language in ("bash", "console")]
    last = first.text.rpartition("&& ")[2].strip()
    run = [command.line for block in others if is_run(block) for command in commands(block.text)]
    assert first.role == "not run"
    # By itself it has no end; it is run with options that give it one.
    assert any(line.startswith(last) for line in run)


def test_blocks_are_of_a_language_that_is_checked(page: Page) -> None:
    assert {block.language for block in page.blocks} <= LANGUAGES
    assert {block.role for block in page.blocks} <= {
        *("", "file", "write", "write and run", "on a cluster", "not run")
    }


def test_commands_are_shown_with_a_prompt_where_they_are_run(page: Page) -> None:
    for block in page.blocks:
        if block.language == "console":
            assert block.text.startswith("$ ")
        if block.language == "bash":
            assert block.role in ("on a cluster", "not run")


def test_quotes_are_what_stands_in_the_file(page: Page) -> None:
    for block in page.blocks:
        if block.role == "file":
            assert block.text == (ROOT / block.target).read_text()


def test_python_runs(page: Page) -> None:
    namespace: dict[str, object] = {"__name__": "shown"}
    for block in page.blocks:
        if block.language == "python" and block.role in ("", "write and run"):
            flags = __future__.annotations.compiler_flag
            code = compile(block.text, page.name, "exec", flags=flags, dont_inherit=True)
            exec(code, namespace)  # noqa: S102 - it is our own documentation


def test_documents_can_be_read(page: Page) -> None:
    for block in page.blocks:
        if block.language == "json":
            json.loads(block.text)
        elif block.language == "yaml" and "kruntimes.io/config" in block.text:
            load_configuration(block.text, page.name)
        elif block.language == "yaml":
            assert list(yaml.safe_load_all(block.text))
