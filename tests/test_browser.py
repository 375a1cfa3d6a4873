"""The built book, as a reader sees it: from disk, without a network, in Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import HTML, NUMBERED, PAGES, open_page, reader
from playwright.sync_api import Browser, Page, expect

VIEWS = [(theme, width) for theme in ("light", "dark") for width in (1280, 375)]


@pytest.fixture(scope="module", params=VIEWS, ids=lambda view: "-".join(map(str, view)))
def view(browser: Browser, request: pytest.FixtureRequest) -> Iterator[tuple[Page, list[str]]]:
    with reader(browser, *request.param) as (page, wrong):
        yield page, wrong


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    with reader(browser, "light", 375) as (page, wrong):
        yield page
    assert wrong == []


@pytest.mark.parametrize("name", PAGES, ids=lambda name: Path(name).name)
def test_a_page_loads_without_a_complaint_and_shows_all_it_holds(
    view: tuple[Page, list[str]], name: str, request: pytest.FixtureRequest
) -> None:
    page, wrong = view
    wrong.clear()
    open_page(page, name)
    seen = page.evaluate(
        """() => ({
            theme: document.documentElement.dataset.theme,
            broken: [...document.images].filter(i => !i.naturalWidth).map(i => i.src),
            unset: [...document.querySelectorAll('.math')]
                .filter(m => !m.querySelector('mjx-container svg')).map(m => m.textContent),
            // A formula that MathJax cannot read, or a macro that it does not know, set in red.
            bad: [...document.querySelectorAll(
                '[data-mjx-error], [data-mml-node=merror], [data-mml-node=mtext][fill=red]')]
                .map(m => m.closest('.math').outerHTML.slice(0, 300)),
            sideways: document.scrollingElement.scrollWidth - innerWidth,
        })"""
    )
    theme, _ = request.node.callspec.params["view"]
    assert wrong == []
    assert seen.pop("sideways") <= 0
    assert seen == {"theme": theme, "broken": [], "unset": [], "bad": []}


@pytest.mark.parametrize("name", NUMBERED, ids=lambda name: Path(name).name)
def test_what_is_folded_opens_on_click(phone: Page, name: str) -> None:
    open_page(phone, name)
    folds = phone.locator("article details, article .admonition.dropdown")
    assert folds.count() >= 3
    for fold in folds.all():
        button = fold.locator("summary, button.toggle-button").first
        content = fold.locator(":scope > :not(summary):not(.admonition-title)").last
        expect(content).to_be_hidden()
        button.click()
        expect(content).to_be_visible()


def test_icons_are_drawn_from_the_font_that_the_style_sheet_names(phone: Page) -> None:
    open_page(phone, PAGES[0])
    named = phone.evaluate(
        """() => [...document.querySelectorAll('i.fa-solid')].filter(i => i.offsetWidth)
            .map(i => getComputedStyle(i, '::before').fontFamily.replaceAll('"', ''))"""
    )
    loaded = phone.evaluate(
        """() => [...document.fonts].filter(f => f.status === 'loaded')
            .map(f => f.family.replaceAll('"', '').replaceAll('\\\\', ''))"""
    )
    assert named
    assert set(named) <= set(loaded)


def test_search_works_from_disk(phone: Page) -> None:
    open_page(phone, "search", "?q=union")
    results = phone.locator("#search-results li a")
    expect(results.first).to_be_visible()
    results.first.click()
    phone.wait_for_load_state()
    assert phone.url.startswith((HTML / "book").as_uri())
    assert "union" in phone.locator("article").inner_text().lower()
