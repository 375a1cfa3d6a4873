"""What the tests of the book share: its pages, what they load, and a browser without a network."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))


def pages(entry: dict) -> Iterator[str]:
    """Name the pages of a part of the table of contents, in the reader's order."""
    yield from (entry[key] for key in ("root", "file") if key in entry)
    for key in ("parts", "chapters", "sections"):
        for child in entry.get(key, []):
            yield from pages(child)


PAGES = list(pages(TOC))
NUMBERED = [page for part in TOC["parts"] if part.get("numbered") for page in pages(part)]

# What a browser fetches by itself. A link that the reader has to follow is not among it.
LOADED = {
    "src": "img script iframe embed source video audio track input",
    "srcset": "img source",
    "poster": "video",
    "data": "object",
    "action": "form",
    "href": "link image use",
    "xlink:href": "image use",
}
FETCHED_LINKS = {"stylesheet", "preload", "modulepreload", "prefetch", "preconnect", "icon"}
FETCHED_LINKS |= {"dns-prefetch", "apple-touch-icon", "manifest"}
URL_IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""")


def soup_of(file: Path) -> BeautifulSoup:
    return BeautifulSoup(file.read_text("utf-8"), "html.parser")


def loads(soup: BeautifulSoup) -> Iterator[str]:
    """Name everything that a page makes the browser fetch."""
    for attribute, tags in LOADED.items():
        for tag in soup.find_all(tags.split(), attrs={attribute: True}):
            if tag.name != "link" or FETCHED_LINKS & set(tag["rel"]):
                values = tag[attribute].split(",") if attribute == "srcset" else [tag[attribute]]
                yield from (value.split()[0] for value in values)
    for style in [s.get_text() for s in soup("style")] + [t["style"] for t in soup(style=True)]:
        yield from URL_IN_STYLE.findall(style)


def files_loaded(page: Path) -> set[Path]:
    urls = [urlsplit(url) for url in loads(soup_of(page))]
    return {(page.parent / unquote(u.path)).resolve() for u in urls if u.path and not u.netloc}


def shared_files(page: Path) -> set[Path]:
    return {file for file in files_loaded(page) if "_static" in file.parts}


def own_weight(page: Path) -> int:
    """Add up the bytes of a page and of what it loads and others need not."""
    own = {page, *files_loaded(page)} - shared_files(page)
    return sum(file.stat().st_size for file in own if file.is_file())


def is_foreign(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium, and stop it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def reader(
    browser: Browser, theme: str, width: int, *, has_touch: bool = False
) -> Iterator[tuple[Page, list[str]]]:
    """Give a page for a reader with a theme and a screen, and the list of what goes wrong on it."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        has_touch=has_touch,
        offline=True,
        reduced_motion="reduce",
    )
    context.add_init_script(f"localStorage.mode = localStorage.theme = '{theme}'")
    wrong: list[str] = []

    def serve(route: Route) -> None:
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            wrong.append(f"asks the network for {route.request.url}")
            route.abort()

    context.route("**/*", serve)
    page = context.new_page()
    page.on("console", lambda m: m.type == "error" and wrong.append(f"console: {m.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    # Leaving a page aborts what it still asks for, such as its icon.
    page.on(
        "requestfailed",
        lambda r: r.failure != "net::ERR_ABORTED" and wrong.append(f"failed: {r.url} {r.failure}"),
    )
    yield page, wrong
    context.close()


def open_page(page: Page, name: str, query: str = "") -> None:
    """Open a page of the built book; wait until its equations are set and its pictures loaded."""
    page.goto((HTML / name).with_suffix(".html").as_uri() + query)
    page.evaluate(
        """async () => {
            await window.MathJax?.startup?.promise;
            for (const img of document.images) { img.loading = 'eager'; }
            await Promise.all([...document.images].map(img => img.decode().catch(() => {})));
            await document.fonts.ready;
        }"""
    )
