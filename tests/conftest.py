"""Fixtures for the tests of the book, and the weights of its pages in the report."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import CHROMIUM, HTML, PAGES, chromium
from playwright.sync_api import Browser


def absent(what: str) -> None:
    """Skip for want of something, except where nothing may be missing: in CI."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built book."""
    if not (HTML / "index.html").exists():
        absent("the book is not built: run `make book` first")
    return HTML


@pytest.fixture(scope="session")
def browser(html: Path) -> Iterator[Browser]:
    """One Chromium for all tests."""
    if CHROMIUM is None:
        absent("no Chromium or Chrome is on the PATH")
    with chromium() as started:
        yield started


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what a reader downloads: each page and its pictures, and what all pages share."""
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    if not HTML.exists() or not any("test_site.py" in report.nodeid for report in reports):
        return
    from test_site import pictures, shared_files

    terminalreporter.section("weight of the pages, kB (page + pictures)")
    for name in PAGES:
        page = HTML / f"{name}.html"
        weights = page.stat().st_size, sum(p.stat().st_size for p in pictures(page))
        terminalreporter.line(f"{name:30}" + "".join(f"{w / 1000:8.0f}" for w in weights))
    shared = sum(p.stat().st_size for p in shared_files(HTML / f"{PAGES[0]}.html"))
    terminalreporter.line(f"{'scripts and styles, once':30}{shared / 1000:8.0f}")
