"""What depends on where the book stands: all of it is there with an address, and none without."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

import address
import course
import nbformat
import paper
import pytest
import stills
import yaml
from bs4 import BeautifulSoup
from docutils.core import publish_doctree
from folds import gives_away
from helpers import ROOT, files_loaded, is_foreign, loads, soup_of
from IPython.core.inputtransformer2 import TransformerManager
from PIL import Image
from sphinx.errors import ExtensionError

URL = "https://example.org/iou-book"
REPOSITORY = "https://github.com/example/iou-book"
CHAPTER = "book/function"
PAGES = ["book/intro", CHAPTER, "book/playground", "book/glossary", "book/bibliography"]
CONTENTS = {
    "format": "jb-book",
    "root": PAGES[0],
    "parts": [
        {"caption": "Part I", "numbered": 1, "chapters": [{"file": CHAPTER}]},
        {"caption": "Reference", "chapters": [{"file": page} for page in PAGES[2:]]},
    ],
}


def git(folder: Path, *command: str) -> str:
    """Let git do something in a folder; give what it says."""
    who = "-c", "user.name=tester", "-c", "user.email=tester@localhost"
    run = ["git", "-C", folder, *who, *command]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip()


def committed(folder: Path, message: str) -> str:
    """Commit all of a folder; give the name of the commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def build(folder: Path, **environment: str) -> Path:
    """Build a few pages of the book from stored outputs; give the folder of the pages."""
    paper.copy_source(folder)
    (folder / "_toc.yml").write_text(yaml.safe_dump(CONTENTS))
    (folder / "book" / "intro.md").write_text("# A & B\n\nIt is about boxes.\n", "utf-8")
    committed(folder, "a book")
    inherited = {name: v for name, v in os.environ.items() if not name.startswith("BOOK_")}
    subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", folder, "--all", "-q"],
        check=True,
        capture_output=True,
        env=inherited | environment,
    )
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("placed")
    return build(folder, BOOK_URL=f"{URL}/", BOOK_REPOSITORY=f"{REPOSITORY}.git/")


@pytest.fixture(scope="module")
def homeless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("homeless"))


@pytest.fixture(params=PAGES)
def page(placed: Path, request: pytest.FixtureRequest) -> BeautifulSoup:
    return soup_of(placed / f"{request.param}.html")


def said(page: BeautifulSoup, name: str) -> str:
    return page.select_one(f'meta[property="{name}"], meta[name="{name}"]')["content"]


def test_nothing_is_asked_of_anybody_else(placed: Path, homeless: Path) -> None:
    for folder in (placed, homeless):
        for file in folder.rglob("*.html"):
            assert [url for url in loads(soup_of(file)) if is_foreign(url)] == [], file


def test_a_page_knows_its_address(page: BeautifulSoup, request: pytest.FixtureRequest) -> None:
    place = f"{URL}/{request.node.callspec.params['page']}.html"
    assert page.select_one("link[rel=canonical]")["href"] == place
    assert said(page, "og:url") == place
    assert place in page.select_one(".cite-this-page pre").get_text()
    assert page.select_one(".cite-this-page a")["href"] == place


def test_a_page_that_is_shared_has_a_card(page: BeautifulSoup, placed: Path) -> None:
    assert said(page, "og:title") in page.h1.get_text()
    assert said(page, "og:description") == said(page, "description")
    picture = said(page, "og:image")
    assert picture.startswith(f"{URL}/")
    size = int(said(page, "og:image:width")), int(said(page, "og:image:height"))
    with Image.open(placed / picture.removeprefix(f"{URL}/")) as card:
        assert card.size == size


def test_the_description_is_what_the_page_says_first(placed: Path) -> None:
    assert said(soup_of(placed / "book/intro.html"), "description") == "It is about boxes."
    assert len(said(soup_of(placed / f"{CHAPTER}.html"), "description")) > 50


def test_a_chapter_leads_to_its_source_and_to_where_it_can_be_run(placed: Path) -> None:
    links = {a["href"] for a in soup_of(placed / f"{CHAPTER}.html").select(".bd-header-article a")}
    assert {
        REPOSITORY,
        f"{REPOSITORY}/edit/main/{CHAPTER}.ipynb",
        f"https://mybinder.org/v2/gh/example/iou-book/launch?urlpath=lab/tree/{CHAPTER}.ipynb",
        f"https://colab.research.google.com/github/example/iou-book/blob/launch/{CHAPTER}.ipynb",
    } < links
    assert any(link.startswith(f"{REPOSITORY}/issues/new?title=") for link in links)
    assert f"../_sources/{CHAPTER}.ipynb" in links


def test_the_site_map_has_every_page(placed: Path) -> None:
    places = [place.text for place in ET.parse(placed / "sitemap.xml").iterfind("{*}url/{*}loc")]
    assert sorted(places) == sorted(f"{URL}/{page}.html" for page in PAGES)
    assert all((placed / place.removeprefix(f"{URL}/")).is_file() for place in places)


def test_where_nothing_is_one_finds_back(placed: Path) -> None:
    """Whatever address was asked for, what the page names is sought in the book's folder."""
    page = soup_of(placed / "404.html")
    assert page.base["href"] == f"{URL}/"
    first = page.select("[href], [src]")[0]
    assert first is page.base
    assert [file for file in files_loaded(placed / "404.html") if not file.exists()] == []
    links = [a["href"].partition("#")[0] for a in page.select("a[href]")]
    assert "book/function.html" in links
    own = [link for link in links if "://" not in link]
    assert "" not in own
    assert [link for link in own if not (placed / link).is_file()] == []


def test_a_notebook_to_run_elsewhere_installs_the_module_first(placed: Path) -> None:
    folder = placed.parent / "launch"
    notebook = nbformat.read(folder / f"{CHAPTER}.ipynb", as_version=4)
    nbformat.validate(notebook)
    first, *others = notebook.cells
    commit = git(placed.parents[1], "rev-parse", "HEAD")
    assert f" {REPOSITORY} " in first.source
    assert f" {commit}\n" in first.source
    compile(TransformerManager().transform_cell(first.source), "first", "exec")
    assert "\n".join(c.source for c in others).count("{numref}") == 0
    stored = course.chapter("function").cells
    solved = [cell for cell in others if cell.metadata.get("jupyter", {}).get("source_hidden")]
    assert len(solved) == sum(map(gives_away, stored)) >= 3
    needs = (folder / "requirements.txt").read_text("utf-8").splitlines()
    assert needs == ["-c constraints.txt", f"iou[plot,samples] @ git+{REPOSITORY}@{commit}"]
    locked = (folder / "constraints.txt").read_text("utf-8").splitlines()
    assert f"numpy=={version('numpy')}" in locked
    assert [line for line in locked if not re.fullmatch(r"[\w.-]+==\S+( ; .+)?", line)] == []
    running = f"python-{sys.version_info.major}.{sys.version_info.minor}"
    assert (folder / "runtime.txt").read_text("utf-8") == f"{running}\n"


def test_the_first_cell_fetches_the_commit_of_its_notebook_and_no_later_one(
    tmp_path: Path,
) -> None:
    origin, here = tmp_path / "origin", tmp_path / "here"
    origin.mkdir()
    here.mkdir()
    (origin / "requirements.txt").write_text("# locked\n-e .\nnumpy==2.4\n", "utf-8")
    commit = committed(origin, "this one")
    (origin / "requirements.txt").write_text("-e .\nnumpy==3.0\n", "utf-8")
    committed(origin, "a later one")
    cell = address.FIRST_CELL.format(repository=origin.as_uri(), commit=commit)
    commands = re.findall(r"^ +!(.*)$", cell, re.MULTILINE)
    script = "set -e\n" + "\n".join(commands)
    subprocess.run(script, shell=True, check=True, capture_output=True, cwd=here)
    assert git(here / "iou-book", "rev-parse", "HEAD") == commit
    assert (here / "constraints.txt").read_text("utf-8") == "# locked\nnumpy==2.4\n"
    install = re.search(r"%pip install .*-c (\S+) '\./([\w-]+)\[", cell)
    assert [(here / name).exists() for name in install.groups()] == [True, True]


def test_who_reads_elsewhere_finds_no_answer_before_asking_for_it() -> None:
    """Neither the answer to the guess in the first chapter, nor the code that it is chosen by."""
    cells = address.launched("measure", course.figures()).cells
    telling = [cell for cell in cells if re.search(r"every_score\[index\]|wanted = ", cell.source)]
    assert len(telling) == 2
    for cell in telling:
        assert cell.metadata["jupyter"]["source_hidden"]
        assert cell.metadata["cellView"] == "form"
        assert cell.outputs == []


def test_a_source_that_is_no_clone_names_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address, "ROOT", tmp_path)
    with pytest.raises(ExtensionError, match="BOOK_REPOSITORY is set"):
        address.built_commit()


@pytest.mark.parametrize("ending", ["", "/", ".git", ".git/"])
def test_an_address_is_understood_however_it_ends(ending: str) -> None:
    assert address.page_of_source(REPOSITORY + ending) == REPOSITORY


def test_a_citation_is_written_for_its_reader(placed: Path) -> None:
    text = (placed / f"{PAGES[0]}.html").read_text("utf-8")
    assert "<cite>A &amp; B</cite>" in text
    entry = soup_of(placed / f"{PAGES[0]}.html").select_one(".cite-this-page pre").get_text()
    assert r"title     = {{A \& B}}," in entry
    assert "author    = {{The authors of the IoU book}}," in entry


def test_what_tex_would_take_for_commands_is_escaped() -> None:
    assert address.tex("50 % of a_b, {x} & ~5^2 #1 $ \\") == (
        r"50 \% of a\_b, \textbraceleft{}x\textbraceright{} \& "
        r"\textasciitilde{}5\textasciicircum{}2 \#1 \$ \textbackslash{}"
    )


def test_the_year_of_a_citation_is_that_of_the_copyright() -> None:
    released = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["date-released"]
    rights = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["copyright"]
    assert rights.startswith(f"{released.year}. ")


def test_who_cannot_see_the_cover_is_told_its_numbers(placed: Path) -> None:
    told = [
        said(soup_of(placed / f"{CHAPTER}.html"), "og:image:alt"),
        re.search(r":alt: (.*)", (ROOT / "book" / "intro.md").read_text("utf-8"))[1],
    ]
    assert stills.quotients() == [("6", "26"), ("3", "13")]
    for text in told:
        assert [f"{above}/{below}" in text for above, below in stills.quotients()] == [True, True]


def test_without_an_address_nothing_needs_one(homeless: Path) -> None:
    assert not (homeless / "sitemap.xml").exists()
    assert not (homeless / "404.html").exists()
    assert not (homeless.parent / "launch").exists()
    for name in PAGES:
        page = soup_of(homeless / f"{name}.html")
        assert page.select("link[rel=canonical], meta[property], .cite-this-page a") == []
        links = [a["href"] for a in page.select(".bd-header-article a")]
        assert [link for link in links if "://" in link] == []
        assert said(page, "description")
        assert "@incollection" in page.select_one(".cite-this-page pre").get_text()


def test_a_preview_is_short_and_has_words_only() -> None:
    long = "many words " * 50
    text = f"Title\n=====\n\n  Quoted.\n\nWith :math:`x`.\n\n{long}\n\nOther\n=====\n\nMore."
    first, second = address.opening(publish_doctree(text))
    assert long.startswith(first.removesuffix(" …"))
    assert 180 < len(first) <= 200
    assert second == "More."
