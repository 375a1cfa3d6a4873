"""The book on paper: `make course` prints it with Chromium.

All chapters become one page in the browser, with a cover, contents, running heads
and page numbers. On paper nothing folds: the code that only draws is left out, and
solutions stand at the end of their chapter.
"""

import html
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml
from folds import is_solution
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

import iou

ROOT = Path(__file__).parents[1]
BROWSERS = "chromium", "chromium-browser", "google-chrome", "chrome"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-pdf-header-footer",
    "--generate-pdf-document-outline",
    "--virtual-time-budget=60000",
]


class Chapter(NamedTuple):
    """A page of the book, which is a chapter on paper."""

    part: str
    name: str
    title: str
    number: str = ""

    @property
    def anchor(self) -> str:
        """Where it begins."""
        return f"document-book/{self.name}"

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"{self.number} {self.title}".strip()


# What stands where


def unfolded(notebook: NotebookNode) -> NotebookNode:
    """Leave out the code of drawings, and collect the solutions at the end."""
    cells, solutions, heading = [], [], ""
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        headings = re.findall(r"^#+ (.*)", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and headings:
            heading = headings[-1]
        if is_solution(cell):
            cell.metadata.tags = [tag for tag in tags if tag != "hide-cell"]
            solutions += [new_markdown_cell(f"**{heading}**"), cell]
            continue
        if "hide-input" in tags:
            cell.metadata.tags = [*tags, "remove-input"]
        cells.append(cell)
    if solutions:
        cells += [new_markdown_cell("## Solutions"), *solutions]
    notebook.cells = cells
    return notebook


def chapters(page: str, contents: Mapping) -> list[Chapter]:
    """Find the chapters in the page, in the order of the table of contents."""
    found = []
    for part in contents["parts"]:
        for entry in part["chapters"]:
            name = Path(entry["file"]).name
            beginning = page.index(f'<span id="document-book/{name}">')
            heading = re.search(r"<h2>(.*?)</h2>", page[beginning:], re.DOTALL)[1]
            heading = re.sub(r'<a class="headerlink".*?</a>', "", heading)
            number = re.search(r'"section-number">([\d.]+)', heading)
            heading = re.sub(
                r'<span class="section-number">.*?</span>', "", heading
            )
            title = html.unescape(re.sub(r"<[^>]*>", "", heading)).strip()
            chapter = Chapter(
                part["caption"], name, title, number[1] if number else ""
            )
            found.append(chapter)
    return found


def cover(config: Mapping, edition: str) -> str:
    """Write the first page."""
    title, author, rights = (
        html.escape(config[key]) for key in ("title", "author", "copyright")
    )
    return (
        f'<div class="paper-cover"><p class="paper-title">{title}</p>'
        f"<p>{author}</p><p>{html.escape(edition)}</p>"
        f'<p class="paper-rights">{rights}</p></div>'
    )


def contents_page(found: Sequence[Chapter], numbers: Mapping[str, int]) -> str:
    """Write the contents; where no page is known yet stands a dash."""
    rows, part = [], ""
    for chapter in found:
        if chapter.part != part:
            part = chapter.part
            rows.append(f'<p class="paper-part">{html.escape(part)}</p>')
        number = numbers.get(chapter.anchor, "–")
        rows.append(
            f'<p><a href="#{chapter.anchor}"><span>{html.escape(chapter.heading)}'
            f"</span><span>{number}</span></a></p>"
        )
    return (
        '<nav class="paper-contents" aria-label="Contents">'
        f'<p class="paper-heading">Contents</p>{"".join(rows)}</nav>'
    )


def running_heads(found: Sequence[Chapter]) -> str:
    """Write the style sheet that names each chapter's pages."""
    rules = []
    for chapter in found:
        words = chapter.heading.replace("\\", "\\\\").replace('"', '\\"')
        name = chapter.name
        rules += [
            f".paper-{name} {{ break-before: page; page: {name}; }}",
            f'@page {name} {{ @top-right {{ content: "{words}"; }} }}',
        ]
    return "\n".join(rules)


def laid_out(
    page: str, contents: Mapping, front: str, numbers: Mapping[str, int]
) -> str:
    """Make a page for the screen one for paper."""
    found = chapters(page, contents)
    # Nothing moves on paper: what stands there without a script stays.
    page = re.sub(r"<script[^>]*_static/iou[^>]*></script>", "", page)
    # Links to chapters are links within the page.
    page = re.sub(r'href="(?:book/)?intro\.html#', 'href="#', page)
    for chapter in found:
        # The anchor goes inside, or it would stand on a page of its own.
        anchor = f'<span id="{chapter.anchor}"></span>'
        page = re.sub(
            rf'{anchor}<section class="([^>]*>)',
            rf'<section class="paper-{chapter.name} \1{anchor}',
            page,
        )
    style = (ROOT / "book" / "paper.css").read_text("utf-8") + running_heads(found)
    page = page.replace("</head>", f"<style>\n{style}\n</style>\n</head>", 1)
    first = '<section class="tex2jax_ignore mathjax_ignore"'
    if first not in page:
        raise ValueError(f"the book in one page begins with no {first}>")
    return page.replace(first, f"{front}{contents_page(found, numbers)}{first}", 1)


def page_numbers(pdf: bytes) -> dict[str, int]:
    """Tell on which page of a PDF each named place is, as Chromium writes it."""
    pages = re.findall(rb"\n(\d+) 0 obj\n<</Type /Page\n", pdf)
    number_of = {page: number for number, page in enumerate(pages, 1)}
    places = re.findall(rb"/(\S+) \[(\d+) 0 R /XYZ ", pdf)
    return {
        re.sub(
            r"#([0-9A-F]{2})",
            lambda code: chr(int(code[1], 16)),
            name.decode("latin-1"),
        ): number_of[page]
        for name, page in places
        if page in number_of
    }


# Building and printing it


def copy_source(folder: Path) -> None:
    """Copy what the book is built from, to be built with stored outputs."""
    elsewhere = shutil.ignore_patterns(".*", "_build", "tests", "text")
    shutil.copytree(ROOT, folder, ignore=elsewhere, dirs_exist_ok=True)
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    config["execute"] = {"execute_notebooks": "off"}
    (folder / "_config.yml").write_text(yaml.safe_dump(config), "utf-8")


def single_page(folder: Path) -> Path:
    """Build the book as one page for the browser."""
    copy_source(folder)
    for file in (folder / "book").glob("*.ipynb"):
        nbformat.write(unfolded(nbformat.read(file, as_version=4)), file)
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    build = [jupyter_book, "build", folder, "--builder", "singlehtml", "-q"]
    subprocess.run(build, check=True, cwd=folder)
    # What it loads lies where it believes itself to be: one folder above.
    built = folder / "_build" / "singlehtml"
    return shutil.move(built / "book" / "intro.html", built / "paper.html")


def printed(browser: str, paper: Path, out: Path) -> bytes:
    """Print a page, and give the PDF."""
    out.unlink(missing_ok=True)
    printing = [browser, *FLAGS, f"--print-to-pdf={out}", paper.as_uri()]
    run = subprocess.run(printing, check=False, capture_output=True, text=True)
    if run.returncode or not out.exists():
        raise RuntimeError(f"{browser} has printed no {out.name}:\n{run.stderr}")
    return out.read_bytes()


def print_numbered(
    browser: str, paper: Path, contents: Mapping, front: str, out: Path
) -> None:
    """Print a page twice: page numbers are known after the first time."""
    page = paper.read_text("utf-8")
    found = chapters(page, contents)
    numbers: dict[str, int] = {}
    for _ in range(2):
        paper.write_text(laid_out(page, contents, front, numbers), "utf-8")
        before, numbers = numbers, page_numbers(printed(browser, paper, out))
        if lost := [c.heading for c in found if c.anchor not in numbers]:
            raise RuntimeError(
                f"{out.name} tells no page for {lost}: page_numbers does not "
                f"read what this {browser} writes"
            )
    if before != numbers:
        raise RuntimeError(f"the numbers of pages moved the pages of {out.name}")


def print_book(out: Path) -> None:
    """Build the book as one page, and print it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("book.pdf needs Chromium or Chrome on the PATH")
    contents, config = (
        yaml.safe_load((ROOT / name).read_text("utf-8"))
        for name in ("_toc.yml", "_config.yml")
    )
    front = cover(config, f"Version {iou.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        print_numbered(browser, single_page(Path(folder)), contents, front, out)
