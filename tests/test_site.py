"""The built book, as files: complete, self-contained, and sound HTML."""

import base64
import re
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import lighter
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import streams
from bs4 import BeautifulSoup, Tag
from helpers import HTML, PAGES, ROOT
from PIL import Image

from iou import plot

EVERY_FILE = [*PAGES, "genindex", "search", "index"]

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
# The names of XML dialects are addresses too, but nobody fetches them.
ADDRESS = re.compile(r"""\b(?:https?|wss?)://(?!www\.w3\.org/)[^\s"'`]+""")


def soup_of(file: Path) -> BeautifulSoup:
    return BeautifulSoup(file.read_text(), "html.parser")


@pytest.fixture(scope="module")
def soups(html: Path) -> dict[str, BeautifulSoup]:
    return {name: soup_of(html / f"{name}.html") for name in EVERY_FILE}


@pytest.fixture(params=EVERY_FILE)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def soup(soups: dict[str, BeautifulSoup], name: str) -> BeautifulSoup:
    return soups[name]


@pytest.fixture(params=PAGES)
def article(soups: dict[str, BeautifulSoup], request: pytest.FixtureRequest) -> Tag:
    return soups[request.param].select_one("article")


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


def pictures(page: Path) -> set[Path]:
    """Files that this page loads and others need not."""
    return {file for file in files_loaded(page) if "_images" in file.parts}


def shared_files(page: Path) -> set[Path]:
    return {file for file in files_loaded(page) if "_static" in file.parts}


def is_foreign(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


# Nobody else is asked for anything


def test_a_page_loads_files_of_the_book_only(soup: BeautifulSoup) -> None:
    assert [url for url in loads(soup) if is_foreign(url)] == []


def test_a_page_loads_files_that_exist(html: Path, name: str) -> None:
    files = files_loaded(html / f"{name}.html")
    assert [file for file in files if not file.is_file() and file != html] == []


def test_style_sheets_load_nothing_from_elsewhere(html: Path) -> None:
    sheets = sorted(html.rglob("*.css"))
    assert any(sheet.name == "book.css" for sheet in sheets)
    urls = [
        (sheet.name, url) for sheet in sheets for url in URL_IN_STYLE.findall(sheet.read_text())
    ]
    assert [(sheet, url) for sheet, url in urls if is_foreign(url)] == []


def test_scripts_in_the_page_name_no_address(soup: BeautifulSoup) -> None:
    for script in soup("script"):
        assert ADDRESS.findall(script.get_text()) == []


@pytest.mark.parametrize("name", [page for page in PAGES if (ROOT / f"{page}.ipynb").exists()])
def test_a_page_shows_the_text_that_is_stored(soups: dict[str, BeautifulSoup], name: str) -> None:
    notebook = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    stored = [
        output.text.rstrip()
        for cell in notebook.cells
        if cell.cell_type == "code" and "nbval-ignore-output" not in cell.metadata.get("tags", [])
        for output in cell.outputs
        if output.output_type == "stream"
    ]
    shown = [block.get_text().rstrip() for block in soups[name].select(".cell_output .stream pre")]
    assert [text for text in stored if text not in shown] == []


def test_output_that_comes_in_parts_is_shown_as_it_was_printed() -> None:
    parts = [
        nbformat.v4.new_output("stream", name=name, text=text)
        for name, text in (("stdout", "  a"), ("stderr", "no"), ("stdout", " b\n"), ("stdout", "c"))
    ]
    picture = nbformat.v4.new_output("display_data")
    whole = streams.joined([*parts[:3], picture, parts[3]])
    assert [output.get("text") for output in whole] == ["  a b\nc", "no", None]
    assert [part.text for part in parts] == ["  a", "no", " b\n", "c"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_an_icon_and_a_style_sheet_for_paper(
    soups: dict[str, BeautifulSoup], page: str
) -> None:
    names = {Path(urlsplit(url).path).name for url in loads(soups[page])}
    assert {"favicon.svg", "print.css"} <= names


# Everything is there


def test_the_page_was_built_from_the_text_as_it_stands(html: Path) -> None:
    stale = []
    for page in PAGES:
        source = next(p for p in (ROOT / f"{page}.ipynb", ROOT / f"{page}.md") if p.exists())
        copy = html / "_sources" / source.relative_to(ROOT)
        if copy.read_bytes() != source.read_bytes():
            stale.append(page)
    assert stale == [], "run `make book`"


def test_internal_links_and_their_anchors_lead_somewhere(
    soups: dict[str, BeautifulSoup], name: str
) -> None:
    page = HTML / f"{name}.html"
    ids = {HTML / f"{n}.html": {tag["id"] for tag in s(id=True)} for n, s in soups.items()}
    broken = []
    for link in soups[name].select("a[href], link[href]"):
        url = urlsplit(link["href"])
        if url.scheme or url.netloc:
            continue
        target = (page.parent / unquote(url.path)).resolve() if url.path else page
        anchor = unquote(url.fragment)
        if not target.is_file() or (anchor and anchor not in ids.get(target, set())):
            broken.append(link["href"])
    assert broken == []


def test_the_first_page_leads_to_the_book(soups: dict[str, BeautifulSoup]) -> None:
    refresh = soups["index"].select_one("meta[http-equiv=Refresh]")
    assert refresh["content"] == f"0; url={PAGES[0]}.html"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_cited_and_downloaded(soups: dict[str, BeautifulSoup], page: str) -> None:
    soup = soups[page]
    entry = soup.select_one(".cite-this-page pre").get_text()
    assert re.search(r" title += \{\{(.+)\}\},", entry)[1] in soup.h1.get_text()
    assert entry.count("{") == entry.count("}")
    links = [a["href"] for a in soup.select(".bd-header-article a")]
    assert any(link.startswith(f"../_sources/{page}.") for link in links)


# Nothing is heavier than it need be


def test_a_page_weighs_less_than_a_megabyte_beyond_what_pages_share(html: Path, name: str) -> None:
    page = html / f"{name}.html"
    own = {page, *files_loaded(page)} - shared_files(page)
    assert sum(file.stat().st_size for file in own if file.is_file()) < 1_000_000


def test_what_pages_share_weighs_less_than_mathjax_and_half_a_megabyte(
    html: Path, name: str
) -> None:
    weights = {file.name: file.stat().st_size for file in shared_files(html / f"{name}.html")}
    weights.pop("mathjax-tex-svg.js", None)
    assert sum(weights.values()) < 500_000


def test_a_page_has_the_scripts_of_its_interactive_figures_only(html: Path, name: str) -> None:
    page = html / f"{name}.html"
    text = page.read_text()
    loaded = {file.name for file in shared_files(page)}
    for script, sign in lighter.SCRIPTS.items():
        assert (script in loaded) == (sign in text)


def test_a_picture_that_a_script_takes_away_is_not_loaded_before(article: Tag) -> None:
    for picture in article.select("iou-playground img, iou-threshold img"):
        assert picture["loading"] == "lazy"
    others = [img for img in article("img") if not img.find_parent(re.compile("^iou-"))]
    assert [img for img in others if img.get("loading") == "lazy"] == []


def test_the_icons_of_all_pages_are_in_the_style_sheet(
    soups: dict[str, BeautifulSoup], html: Path
) -> None:
    named = {
        name
        for soup in soups.values()
        for icon in soup.select("i:is(.fa-solid, .fas, .fab)")
        for name in icon["class"]
        if name.startswith("fa-") and name not in ("fa-solid", "fa-lg")
    }
    assert len(named) > 10
    css = (html / "_static/styles/pydata-sphinx-theme.css").read_text()
    assert [name for name in named if f".{name}:before{{content:" not in css] == []
    assert "webfonts/" not in css


def drawing_of(pixels: np.ndarray) -> str:
    """Draw a photograph with an outline."""
    ax = plot.photo(pixels)
    plot.draw_boxes(ax, (1 / 3, 1, 100, 100), "truth")
    file = BytesIO()
    ax.figure.savefig(file, format="svg")
    plt.close(ax.figure)
    return file.getvalue().decode()


def test_a_photograph_becomes_a_jpeg_that_looks_the_same() -> None:
    rows, columns = np.mgrid[:200, :300]
    noise = np.random.default_rng(0).integers(0, 10, (200, 300))
    pixels = (rows / 2 + columns / 3 + noise).astype(np.uint8)
    heavy = drawing_of(pixels)
    light = lighter.lighter_drawing(heavy)
    assert len(light) < len(heavy) / 2
    data = re.search(r"data:image/jpeg;base64,([^\"]+)", light)[1]
    picture = Image.open(BytesIO(base64.b64decode(data)))
    assert picture.mode == "L"
    upright = abs(np.asarray(picture).astype(int) - pixels)
    turned = abs(np.asarray(picture)[::-1].astype(int) - pixels)
    assert min(upright.mean(), turned.mean()) < 2


def test_a_small_or_transparent_picture_is_kept_to_the_pixel() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (200, 200, 4), dtype=np.uint8)
    for picture in (noise[:50, :50, :3], noise):
        file = BytesIO()
        Image.fromarray(picture).save(file, "PNG")
        svg = f'<image href="data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"/>'
        assert lighter.lighter_drawing(svg) == svg


def test_outlines_have_no_more_digits_than_can_be_seen() -> None:
    svg = '<g transform="scale(0.015625)"><path d="M 1.23456 -7.0001 L 20.5 300"/></g>'
    assert lighter.lighter_drawing(svg) == svg.replace("1.23456 -7.0001", "1.23 -7")


def test_a_rule_goes_only_if_no_page_has_its_class() -> None:
    css = (
        "/*! A, b */.a .b,.c{x:y}.gone,p.gone:hover{x:y}@media print{.gone{x:y}}"
        "@media print{.c{x:y}.a.gone{x:y}}:root{--x:y}.c:not(.gone){x:y}.bs-any{x:y}"
    )
    assert lighter.lighter_style(css, {"a", "b", "c"}) == (
        "/*! A, b */.a .b,.c{x:y}@media print{.c{x:y}}:root{--x:y}.c:not(.gone){x:y}.bs-any{x:y}"
    )


# The HTML is sound


def test_a_page_has_a_language_and_a_title_without_markup(
    soups: dict[str, BeautifulSoup], article: Tag
) -> None:
    page = article.find_parent("html")
    assert page["lang"] == "en"
    title = page.title.get_text()
    assert article.h1.get_text().rstrip("#").strip() in title
    assert not re.search(r"[$\\`]", title)


def test_ids_are_unique(soup: BeautifulSoup) -> None:
    ids = [tag["id"] for tag in soup(id=True)]
    assert sorted(i for i in set(ids) if ids.count(i) > 1) == []


def test_headings_skip_no_level(article: Tag) -> None:
    levels = [int(heading.name[1]) for heading in article(re.compile(r"^h[1-6]$"))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(lower - upper <= 1 for upper, lower in pairwise(levels))


def test_every_picture_has_a_description_and_a_caption(article: Tag) -> None:
    for img in article("img"):
        description = img.get("alt", "")
        assert re.search(r"\w+ \w+ \w+", description), img
        assert not re.search(r"\.(png|svg|jpe?g|gif)$|_images", description), img
        figure = img.find_parent("figure")
        assert figure is not None, img
        assert figure.figcaption is not None, img
        assert figure.figcaption.get_text().strip(), img


LEFTOVERS = {
    "a role": r"\{[a-z][a-z:_-]*\}",
    "an unknown reference": r"\?\?",
    "a fence": r":::|```",
    "a formula": r"\$|\\[(\[a-zA-Z]",
    "emphasis": r"\*\*|(?<!\w)_\w+_(?!\w)",
    "a link": r"\]\(|\[\^|<https?:",
    "an option": r"^\s*:[a-z-]+: ",
    "an HTML entity": r"&[a-z]+;",
}


def test_no_markup_is_left_in_the_text(article: Tag) -> None:
    copy = BeautifulSoup(str(article), "html.parser")
    for tag in copy.select("pre, code, .math, script, style"):
        tag.decompose()
    text = copy.get_text()
    found = {what: re.findall(markup, text, re.MULTILINE) for what, markup in LEFTOVERS.items()}
    assert {what: places for what, places in found.items() if places} == {}


def test_every_reference_became_a_link(article: Tag) -> None:
    for reference in article.select(".xref, .std-ref, .std-numref, .bibtex-citation"):
        linked = [reference, *reference.parents, *reference.descendants]
        assert any(isinstance(tag, Tag) and tag.get("href") for tag in linked), reference


def test_no_output_tells_of_a_warning_or_an_unannounced_error(article: Tag) -> None:
    assert article.select(".output.stderr, .system-message, .problematic") == []
    assert article.select(".cell:not(.tag_raises-exception) .output.traceback") == []
