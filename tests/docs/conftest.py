"""Every page is a case of every test that asks for one."""

import pytest

from tests.docs.pages import all_pages


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "page" in metafunc.fixturenames:
        pages = all_pages()
        metafunc.parametrize("page", pages, ids=[page.name for page in pages])
