"""What depends on where the book and its source stand.

Two variables of the environment say it, and they are set nowhere else:

- ``BOOK_URL``, the folder in which the built pages are published,
- ``BOOK_REPOSITORY``, the page of the source, as https://github.com/someone/book.

Without them the pages have no link that needs them. With the first there are a site
map, a page for addresses that lead nowhere and a card for those who share a page,
and each page knows its address. With the second each page leads to its source and
to where one can ask, and each chapter can be run on Binder and Colab. Those two run
the notebooks of the branch ``launch``, which the build writes to ``_build/launch``.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten
from typing import Any
from xml.sax.saxutils import escape

import course
import nbformat
import yaml
from docutils import nodes
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).parents[1]
LAUNCH = "launch"
FIRST_CELL = """\
# Where this book's module is not installed, as on Colab: fetch and install it.
from importlib.util import find_spec

if find_spec("iou") is None:
    !git clone --quiet --depth 1 {repository} iou-book
    %pip install --quiet './iou-book[plot,samples]'
    %cd -q iou-book/book"""


def configure(app: Any, config: Any) -> None:
    """Tell the theme where everything stands."""
    url = os.environ.get("BOOK_URL", "").rstrip("/")
    config.html_baseurl = f"{url}/" if url else ""
    repository = (
        os.environ.get("BOOK_REPOSITORY", "").removesuffix(".git").rstrip("/")
    )
    if not repository:
        return
    config.html_theme_options |= {
        "repository_url": repository,
        "repository_branch": LAUNCH,
        "use_repository_button": True,
        "use_edit_page_button": True,
        "use_issues_button": True,
        "launch_buttons": {
            "notebook_interface": "jupyterlab",
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
        },
    }


def edit_the_source(app: Any) -> None:
    """Let links to the source lead to the branch that is edited."""
    for provider in ("github", "gitlab", "bitbucket"):
        app.config.html_context[f"{provider}_version"] = "main"


def describe(
    app: Any,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Give the templates what a page is called, what it says and how to cite it."""
    context["book_url"] = app.config.html_baseurl
    if doctree is None:
        return
    cite = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    context["plain_title"] = app.env.titles[pagename].astext()
    context["description"] = next(opening(doctree), cite["abstract"])
    context["cite"] = cite
    context["year"] = app.config.copyright.partition(".")[0]


def opening(doctree: nodes.document) -> Iterator[str]:
    """Give the paragraphs of a page that have plain words only, in short."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            math = nodes.math, nodes.math_block
            if not any(isinstance(node, math) for node in paragraph.findall()):
                yield shorten(paragraph.astext(), 200, placeholder=" …")


def missing_page(app: Any) -> list[tuple[str, dict[str, Any], str]]:
    """Add the page that a server shows for an address that leads nowhere."""
    return [("404", {}, "404.html")] if app.config.html_baseurl else []


def publish(app: Any, exception: Exception | None) -> None:
    """Write the site map, and the notebooks to run elsewhere."""
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    pages = sorted(app.env.found_docs)
    if url := app.config.html_baseurl:
        places = [url + app.builder.get_target_uri(page) for page in pages]
        (out / "sitemap.xml").write_text(site_map(places), "utf-8")
    if repository := app.config.html_theme_options.get("repository_url"):
        write_launched(out.parent / LAUNCH, repository, pages)


def site_map(places: list[str]) -> str:
    """Write the addresses of all pages as search engines want them."""
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    urls = "".join(f"<url><loc>{escape(place)}</loc></url>\n" for place in places)
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return f'{head}\n<urlset xmlns="{schema}">\n{urls}</urlset>\n'


def write_launched(folder: Path, repository: str, pages: list[str]) -> None:
    """Write every notebook so that it runs where nothing is installed."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "book").mkdir(parents=True)
    numbers = course.figures()
    for name in map(Path, pages):
        if (ROOT / name).with_suffix(".ipynb").exists():
            notebook = launched(name.stem, repository, numbers)
            nbformat.write(notebook, folder / "book" / f"{name.stem}.ipynb")
    (folder / "benchmarks").mkdir()
    for file in (ROOT / "benchmarks").glob("*.json"):
        shutil.copy(file, folder / "benchmarks")
    # What Binder installs.
    needs = f"iou[plot,samples] @ git+{repository}\n"
    (folder / "requirements.txt").write_text(needs, "utf-8")
    (folder / "runtime.txt").write_text("python-3.12\n", "utf-8")


def launched(name: str, repository: str, numbers: dict[str, str]) -> NotebookNode:
    """Put a cell that installs the module first, and fold the solutions."""
    notebook = course.chapter(name)
    solutions = [cell for cell in notebook.cells if course.is_solution(cell)]
    notebook = course.outside(notebook, numbers)
    for cell in solutions:
        cell.metadata.update(cellView="form", jupyter={"source_hidden": True})
        cell.source = f"# @title Solution\n{cell.source}"
    first = new_code_cell(FIRST_CELL.format(repository=repository), id="install")
    notebook.cells.insert(0, first)
    return notebook


def setup(app: Any) -> dict[str, bool]:
    """Connect it all to the builder."""
    app.connect("config-inited", configure, priority=400)
    # The theme sets the branch too, by the default priority of 500.
    app.connect("builder-inited", edit_the_source, priority=600)
    app.connect("html-page-context", describe)
    app.connect("html-collect-pages", missing_page)
    app.connect("build-finished", publish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
