"""The built book, as axe-core (version 4.10.3, tests/data/axe-core) judges its accessibility."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import PAGES, ROOT, open_page, reader
from playwright.sync_api import Browser, Page

AXE = (ROOT / "tests" / "data" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=[("light", 1280), ("dark", 375)], ids=["light", "dark"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    with reader(browser, *request.param) as (page, _):
        yield page


def violations(page: Page) -> list[list[str]]:
    """Name each rule that is broken, the place, and the HTML there."""
    return page.evaluate(
        """async () => {
            const { violations } = await axe.run(document, { resultTypes: ['violations'] });
            return violations.flatMap(({ id, nodes }) =>
                nodes.map(({ target, html }) => [id, target.join(' '), html.slice(0, 200)]));
        }"""
    )


@pytest.mark.parametrize("name", PAGES, ids=lambda name: Path(name).name)
def test_axe_finds_nothing(page: Page, name: str) -> None:
    open_page(page, name)
    page.evaluate(AXE)
    assert violations(page) == []


def test_axe_would_find_something(page: Page) -> None:
    open_page(page, PAGES[0])
    page.evaluate(AXE)
    page.evaluate("document.querySelector('article').append(new Image(), 'text')")
    assert [rule for rule, _, _ in violations(page)] == ["image-alt"]
