"""The built book, as files: complete, self-contained, and sound HTML."""

import base64
import re
import zlib
from importlib.metadata import version
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import lighter
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pages
import pydata_sphinx_theme
import pytest
import streams
from bs4 import BeautifulSoup, Tag
from fontTools.ttLib import TTFont
from helpers import (
    HTML,
    PAGES,
    ROOT,
    URL_IN_STYLE,
    files_loaded,
    is_foreign,
    loads,
    own_weight,
    shared_files,
    soup_of,
)
from PIL import Image
from sphinx.builders.html._assets import _JavaScript

from iou import plot

TEMPLATES = ROOT / "book" / "_templates"
EVERY_FILE = [*PAGES, "genindex", "search", "index"]

# The names of XML dialects are addresses too, but nobody fetches them.
ADDRESS = re.compile(r"""\b(?:https?|wss?)://(?!www\.w3\.org/)[^\s"'`]+""")


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


# Nobody else is asked for anything


def test_a_page_loads_files_of_the_book_only(soup: BeautifulSoup) -> None:
    assert [url for url in loads(soup) if is_foreign(url)] == []


def test_a_page_loads_files_that_exist(html: Path, name: str) -> None:
    files = files_loaded(html / f"{name}.html")
    assert [file for file in files if not file.is_file() and file != html] == []


def test_style_sheets_load_nothing_from_elsewhere(html: Path) -> None:
    sheets = sorted(html.rglob("*.css"))
    assert any(sheet.name == "book.css" for sheet in sheets)
    texts = [(sheet.name, sheet.read_text("utf-8")) for sheet in sheets]
    urls = [(name, url) for name, text in texts for url in URL_IN_STYLE.findall(text)]
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


def test_no_line_starts_with_a_full_stop_or_a_number(soup: BeautifulSoup) -> None:
    for formula in soup.select("span.math.nohighlight"):
        after = formula.next_sibling
        assert not re.match(r"[.,;:!?)’”]", str(after or "x")) or formula.find_parent(
            class_="unbroken"
        )
    assert [a for a in soup.select("a .std-numref") if "Fig. " in a.get_text()] == []


def test_no_line_ends_within_a_box_or_a_size(soup: BeautifulSoup) -> None:
    for article in soup.select(".bd-article"):
        for text in article.find_all(string=pages.WHOLE):
            assert text.find_parent(["pre", "code", "svg", "table"]) or text.find_parent(
                class_="math"
            )


def test_what_is_unfolded_is_hidden_under_the_name_by_which_it_was_shown(
    soup: BeautifulSoup,
) -> None:
    for fold in soup.select("details.hide"):
        shown, hidden = (
            fold.select_one(f".{state}").get_text() for state in ("collapsed", "expanded")
        )
        assert shown.partition(" (")[0] == hidden.replace("Hide", "Show", 1)


@pytest.mark.parametrize("what", ["the solution", "how they were chosen"])
def test_a_fold_keeps_its_name_without_what_it_warns_of(what: str) -> None:
    fold = (
        '<p class="collapsed title">Show {what}{more}</p>\n<p class="expanded title">{hide}</p>\n'
    )
    before = fold.format(what=what, more=" (it tells all)", hide="Hide {type}")
    after = fold.format(what=what, more=" (it tells all)", hide=f"Hide {what}")
    assert pages.with_folds_named(2 * before) == 2 * after


@pytest.mark.parametrize("no_file", ["", None])
def test_only_a_script_of_a_file_waits(no_file: str | None) -> None:
    inline = _JavaScript(no_file, body="let x = 1")
    assert pages.deferred(inline) is inline
    waiting = pages.deferred(_JavaScript("_static/a.js", priority=7))
    assert (waiting.priority, waiting.attributes) == (7, {"defer": "defer"})


def test_no_script_waits_for_nothing(soup: BeautifulSoup) -> None:
    assert soup.select("script[defer]:not([src])") == []


def test_only_a_figure_that_is_seen_first_is_waited_for(soups: dict[str, BeautifulSoup]) -> None:
    waiting = {name for name, soup in soups.items() if soup.select("script[blocking]")}
    assert waiting == {"book/playground"}


def test_code_does_not_end_with_an_empty_line(soup: BeautifulSoup) -> None:
    assert [pre for pre in soup.select(".bd-article pre") if pre.get_text().endswith("\n\n")] == []


# Nothing is heavier than it need be


def test_a_page_weighs_less_than_a_megabyte_beyond_what_pages_share(html: Path, name: str) -> None:
    assert own_weight(html / f"{name}.html") < 1_000_000


def test_what_pages_share_weighs_less_than_mathjax_and_half_a_megabyte(
    html: Path, name: str
) -> None:
    weights = {file.name: file.stat().st_size for file in shared_files(html / f"{name}.html")}
    weights.pop("mathjax-tex-svg.js", None)
    assert sum(weights.values()) < 500_000


def test_a_page_has_the_scripts_of_its_interactive_figures_only(html: Path, name: str) -> None:
    page = html / f"{name}.html"
    text = page.read_text("utf-8")
    loaded = {file.name for file in shared_files(page)}
    for script, sign in pages.SCRIPTS.items():
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
    css = (html / "_static/styles/pydata-sphinx-theme.css").read_text("utf-8")
    assert [name for name in named if f".{name}:before{{content:" not in css] == []
    assert "webfonts/" not in css


def test_the_same_icons_are_the_same_bytes_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    styles = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static/styles"
    css = "src:url(../vendor/fontawesome/webfonts/fa-solid-900.woff2) x}.a{content:'\\f015'}"
    made = []
    for time in ("1000000000", "2000000000"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", time)
        made.append(lighter.with_icons(css, styles))
    assert made[0] == made[1] != css


STYLE_NOTE = re.compile(r"/\*.*?\*/", re.DOTALL)


def test_the_icons_come_with_their_licence_and_under_another_name(html: Path) -> None:
    css = (html / "_static/styles/pydata-sphinx-theme.css").read_text("utf-8")
    fonts = re.findall(r"url\(data:font/ttf;base64,([^)]+)\)", css)
    assert len(fonts) == css.count("@font-face{") == 3
    for data in fonts:
        names = TTFont(BytesIO(base64.b64decode(data)))["name"]
        assert names.getDebugName(0) == "Copyright (c) Font Awesome"
        assert "SIL Open Font License 1.1" in names.getDebugName(13)
        assert {record.nameID for record in names.names} == {0, 13, 14}
    notice = (html / "_static/LICENSE-fontawesome.txt").read_text("utf-8")
    assert notice.startswith("Copyright (c) 2024 Fonticons, Inc.")
    for sheet in html.rglob("*.css"):
        rules = STYLE_NOTE.sub("", sheet.read_text("utf-8"))
        assert "Font Awesome" not in rules, sheet.name


def test_files_of_others_come_with_their_licences(html: Path) -> None:
    for package in lighter.SHIPPED:
        text = (html / "_static" / f"LICENSE-{package}.txt").read_text("utf-8")
        assert re.search(r"Copyright|copyright ©", text), package
        assert "AS IS" in text, package
    assert "Bootstrap" in (html / "_static/scripts/bootstrap.js.LICENSE.txt").read_text("utf-8")


def test_no_file_lies_there_that_no_page_needs(html: Path) -> None:
    files = [file for file in (html / "_static").rglob("*") if file.is_file()]
    assert {file.suffix for file in files} <= {".css", ".js", ".png", ".svg", ".txt"}
    assert "fontawesome.js" not in {file.name for file in files}
    texts = [file for file in files if file.suffix in (".css", ".js")]
    assert [file for file in texts if "sourceMappingURL" in file.read_text("utf-8")] == []


def test_a_shared_file_stays_if_a_page_leads_to_it(tmp_path: Path) -> None:
    contents = {
        "book/page.html": '<link href="../_static/a.css?v=1"><!-- b.js -->',
        "_static/a.css": "x { background: url(img/c.png) }",
        "_static/b.js": "load('d.js')",
        "_static/d.js": "",
        "_static/img/c.png": "",
        "_static/LICENSE-c.txt": "",
        "_static/gone.js": "load('e.js')",
        "_static/deep/down/e.js": "",
        "_static/macros.html": "gone.js",
    }
    for name, text in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    lighter.drop_unneeded(tmp_path)
    left = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.*")}
    assert set(contents) - left == {
        "_static/gone.js",
        "_static/deep/down/e.js",
        "_static/macros.html",
    }
    assert not (tmp_path / "_static" / "deep").exists()


def test_a_changed_style_sheet_or_script_has_another_address(html: Path, name: str) -> None:
    page = html / f"{name}.html"
    urls = [
        urlsplit(url) for url in loads(soup_of(page)) if re.search(r"_static/.*\.(css|js)", url)
    ]
    assert len(urls) > 10 or name == "index"
    for url in urls:
        content = (page.parent / url.path).read_bytes()
        assert url.query == f"v={zlib.crc32(content):08x}", url.path


def test_a_version_takes_the_place_of_an_older_one() -> None:
    page = (
        '<link href="../_static/styles/a.css?digest=1" rel="stylesheet" />'
        '<script defer src="_static/b.js"></script><img src="../_static/a.css">'
        '<script src="../_static/c.js?v=2"></script><a href="_static/b.js">'
    )
    new = page.replace("digest=1", "v=12").replace('b.js"></script>', 'b.js?v=34"></script>')
    assert lighter.versioned(page, {"styles/a.css": "12", "b.js": "34"}) == new


def test_a_page_loads_of_the_theme_what_the_theme_does_but_for_one_script() -> None:
    """The copy of its macros, beside those of the theme that is installed."""
    name = "static/webpack-macros.html"
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme"
    ours, theirs = (
        dict(re.findall(r"{% macro (\w+)\(\) %}(.*?){% endmacro %}", text, re.DOTALL))
        for text in ((folder / name).read_text("utf-8") for folder in (TEMPLATES, theme))
    )
    assert list(ours) == list(theirs)
    for macro in ours:
        tags, found = (
            [
                re.sub(r"\?digest=\w+", "", tag)
                for tag in re.findall(r"<(?:link|script) .*", macros[macro])
                if "fontawesome.js" not in tag and "preload" not in tag
            ]
            for macros in (theirs, ours)
        )
        assert found == tags, macro
    assert f"pydata-sphinx-theme {version('pydata-sphinx-theme')} " in (
        (TEMPLATES / name).read_text("utf-8")
    )


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
