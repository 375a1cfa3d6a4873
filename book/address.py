"""What depends on where the book and its source stand.

Two variables of the environment say it, and they are set nowhere else:

- ``BOOK_URL``, the folder in which the built pages are published,
- ``BOOK_REPOSITORY``, the page of the source, as https://github.com/someone/book.

Without them the pages have no link that needs them. With the first there are a site
map, a page for addresses that lead nowhere and a card for those who share a page,
and each page knows its address. With the second each page leads to its source and
to where one can ask, and each chapter can be run on Binder and Colab. Those two run
the notebooks of the branch ``launch``, which the build writes to ``_build/launch``:
with the module as it is in the commit that was built, and the versions of other
packages that requirements.txt locks. So the source has to be a clone then.
"""

import os
import re
import shutil
import subprocess
import sys
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
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[1]
LAUNCH = "launch"
FIRST_CELL = """\
# Where this book's module is not installed, as on Colab: fetch and install it.
from importlib.util import find_spec

if find_spec("iou") is None:
    !git clone --quiet --filter=blob:none --no-checkout {repository} iou-book
    !git -C iou-book checkout --quiet {commit}
    !grep -v '^-e' iou-book/requirements.txt > constraints.txt
    %pip install --quiet -c constraints.txt './iou-book[plot,samples]'
    %cd -q iou-book/book"""


def configure(app: Any, config: Any) -> None:
    """Tell the theme where everything stands."""
    url = os.environ.get("BOOK_URL", "").rstrip("/")
    config.html_baseurl = f"{url}/" if url else ""
    config.html_context |= {
        "book_url": config.html_baseurl,
        "cite": yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8")),
    }
    repository = page_of_source(os.environ.get("BOOK_REPOSITORY", ""))
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


def page_of_source(repository: str) -> str:
    """Write the address of a repository as links to its files begin."""
    return repository.rstrip("/").removesuffix(".git")


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
    """Give the templates what a page is called, and what it says."""
    if doctree is None:
        return
    context["plain_title"] = app.env.titles[pagename].astext()
    context["description"] = next(opening(doctree), context["cite"]["abstract"])
    context["tex"] = tex


# What TeX would take for a command, and how it writes the character itself.
TEX = {sign: f"\\{sign}" for sign in "&%$#_"} | {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def tex(words: str) -> str:
    """Write plain words so that BibTeX and TeX print them as they are."""
    return words.translate(str.maketrans(TEX))


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
        write_launched(out.parent / LAUNCH, repository, built_commit(), pages)


def site_map(places: list[str]) -> str:
    """Write the addresses of all pages as search engines want them."""
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    urls = "".join(f"<url><loc>{escape(place)}</loc></url>\n" for place in places)
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return f'{head}\n<urlset xmlns="{schema}">\n{urls}</urlset>\n'


def built_commit() -> str:
    """Name the commit that is built."""
    asking = ["git", "-C", ROOT, "rev-parse", "HEAD"]
    asked = subprocess.run(asking, check=False, capture_output=True, text=True)
    if asked.returncode:
        raise ExtensionError(
            "BOOK_REPOSITORY is set, so notebooks that run elsewhere name the "
            f"commit of their source, and there is none: {asked.stderr.strip()}"
        )
    return asked.stdout.strip()


def constraints() -> str:
    """Write what requirements.txt locks as constraints, which name no project."""
    locked = (ROOT / "requirements.txt").read_text("utf-8")
    return "".join(re.findall(r"^\w.*\n", locked, re.MULTILINE))


def write_launched(
    folder: Path, repository: str, commit: str, pages: list[str]
) -> None:
    """Write every notebook so that it runs where nothing is installed."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "book").mkdir(parents=True)
    numbers = course.figures()
    for name in map(Path, pages):
        if (ROOT / name).with_suffix(".ipynb").exists():
            notebook = launched(name.stem, numbers)
            first = FIRST_CELL.format(repository=repository, commit=commit)
            notebook.cells.insert(0, new_code_cell(first, id="install"))
            nbformat.write(notebook, folder / "book" / f"{name.stem}.ipynb")
    # What Binder installs.
    needs = f"-c constraints.txt\niou[plot,samples] @ git+{repository}@{commit}\n"
    (folder / "requirements.txt").write_text(needs, "utf-8")
    (folder / "constraints.txt").write_text(constraints(), "utf-8")
    python = ".".join(map(str, sys.version_info[:2]))
    (folder / "runtime.txt").write_text(f"python-{python}\n", "utf-8")


def launched(name: str, numbers: dict[str, str]) -> NotebookNode:
    """Write a chapter for outside the book, with its solutions folded."""
    return course.outside(course.chapter(name), numbers, tells_all=False)


def setup(app: Any) -> dict[str, bool]:
    """Connect it all to the builder."""
    app.connect("config-inited", configure, priority=400)
    # The theme sets the branch too, by the default priority of 500.
    app.connect("builder-inited", edit_the_source, priority=600)
    app.connect("html-page-context", describe)
    app.connect("html-collect-pages", missing_page)
    app.connect("build-finished", publish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
