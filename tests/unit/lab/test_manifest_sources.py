import errno
import io
import os
from pathlib import Path
from threading import Thread

import pytest

from kruntimes_core.lab.offline_plan.sources import read_sources
from kruntimes_core.model.messages import InputError


def names(*filenames: str, stdin: bytes = b"") -> list[str]:
    return [source.name for source in read_sources(filenames, io.BytesIO(stdin))]


def test_files_come_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.txt"):
        (tmp_path / name).write_text("x")
    files = [str(tmp_path / "b.yaml"), str(tmp_path / "a.txt")]
    assert names(*files) == files
    assert names(*reversed(files)) == files[::-1]


def test_a_folder_is_its_manifests_by_name_and_nothing_below(tmp_path: Path) -> None:
    for name in ("c.json", "a.yml", "b.yaml", "notes.md", "d.yaml.bak"):
        (tmp_path / name).write_text("x")
    (tmp_path / "deeper.yaml").mkdir()
    (tmp_path / "deeper.yaml" / "e.yaml").write_text("x")
    assert [Path(name).name for name in names(str(tmp_path))] == ["a.yml", "b.yaml", "c.json"]


def test_standard_input_is_read_once_however_often_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("x")
    stdin = io.BytesIO(b"kind: List")
    found = list(read_sources(["-", str(file), "-"], stdin))
    assert [source.name for source in found] == ["<stdin>", str(file)]
    assert found[0].content == b"kind: List"


@pytest.mark.parametrize(
    ("filename", "words"),
    [
        ("", "-f is empty"),
        ("missing.yaml", "missing.yaml does not exist"),
        ("nul\0l.yaml", "cannot read nul"),
    ],
)
def test_what_cannot_be_read_is_named(filename: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        names(filename)


def test_what_must_not_be_read_says_so_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.setattr(Path, "iterdir", denied)
    (tmp_path / "a.yaml").touch()
    with pytest.raises(InputError, match=r"cannot read .*a\.yaml: permission denied: name a file, a folder"):
        names(str(tmp_path / "a.yaml"))
    with pytest.raises(InputError, match=r"cannot read the folder .*: permission denied: name a file"):
        names(str(tmp_path))


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_bytes, args=(b"kind: List",))
    writer.start()
    (found,) = read_sources([str(tmp_path / "pipe")], io.BytesIO())
    writer.join()
    assert found.content == b"kind: List"


def test_a_folder_without_manifests_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x")
    with pytest.raises(InputError, match=r"no \*\.yaml, \*\.yml or \*\.json file in the folder"):
        names(str(tmp_path))


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"file/a.yaml: not a directory: name a file, a folder, or - for"):
        names(str(tmp_path / "file" / "a.yaml"))
