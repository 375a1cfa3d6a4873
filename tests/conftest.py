"""Fixtures for the tests of the book, and the weights of its pages in the report.

What only the book needs is imported where it is used: the tests of the module run without it.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The same examples in every run, however long one takes.
settings.register_profile("iou", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("iou")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where nbval is not installed, the options that pyproject.toml gives it mean nothing."""
    if find_spec("nbval") is None:
        parser.addoption("--nbval", "--nbval-current-env", action="store_true")
        parser.addoption("--nbval-cell-timeout")


def absent(what: str) -> None:
    """Skip for want of something, except where nothing may be missing: in CI."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(what)


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built book."""
    from helpers import HTML

    if not (HTML / "index.html").exists():
        absent("the book is not built: run `make book` first")
    return HTML


@pytest.fixture(scope="session")
def browser(html: Path) -> Iterator[Browser]:
    """One Chromium for all tests."""
    from helpers import CHROMIUM, chromium

    if CHROMIUM is None:
        absent("no Chromium or Chrome is on the PATH")
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def peer() -> Callable[[str], ModuleType]:
    """Import a library to compare with."""

    def find(name: str) -> ModuleType:
        if find_spec(name.partition(".")[0]) is None:
            absent(f"{name} is one of the libraries that `make peers` installs")
        return importlib.import_module(name)

    return find


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what a reader downloads: each page and its pictures, and what all pages share."""
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    if not any("test_site.py" in report.nodeid for report in reports):
        return
    from helpers import HTML, PAGES, own_weight, shared_files

    if not all((HTML / f"{name}.html").exists() for name in PAGES):
        return
    terminalreporter.section("weight of the pages, kB (page + pictures)")
    for name in PAGES:
        page = HTML / f"{name}.html"
        weights = page.stat().st_size, own_weight(page) - page.stat().st_size
        terminalreporter.line(f"{name:30}" + "".join(f"{w / 1000:8.0f}" for w in weights))
    shared = sum(p.stat().st_size for p in shared_files(HTML / f"{PAGES[0]}.html"))
    terminalreporter.line(f"{'scripts and styles, once':30}{shared / 1000:8.0f}")
