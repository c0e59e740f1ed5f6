"""Links lead to a file that exists, and to a heading in it."""

from tests.docs.pages import Page


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
