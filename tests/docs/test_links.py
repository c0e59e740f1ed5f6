"""Links lead to a file that exists, and to a heading in it."""

from tests.docs.pages import ROOT, Page

DOCS = ROOT / "docs"
INDEX = DOCS / "index.md"


def test_links_lead_somewhere(page: Page) -> None:
    for link in page.links:
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.path.parent / path).resolve() if path else page.path
        assert target.exists(), link
        assert not anchor or anchor in Page(target).anchors, link


def test_a_page_says_what_it_is_about(page: Page) -> None:
    assert page.text.startswith("# ")
    assert "TODO" not in page.text


def test_the_index_and_the_menu_lead_to_every_page() -> None:
    """The examples are packages, and their pages are read beside their code."""
    pages = {path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] != "examples"}
    linked = {INDEX, *((DOCS / link).resolve() for link in Page(INDEX).links)}
    assert sorted(pages - linked) == []
    menu = (ROOT / "mkdocs.yml").read_text()
    assert sorted(path.name for path in pages if f" {path.relative_to(DOCS)}\n" not in menu) == []
