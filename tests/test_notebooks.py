"""The stored chapters: what nbval, which executes them and compares their text, does not see."""

import ast
import re
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import chapters
import nbformat
import pytest
from helpers import NUMBERED, PAGES, ROOT
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it import MarkdownIt
from nbformat import NotebookNode

CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))
IS_SVG = "image/svg+xml"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem, scope="module")
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def chapter(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def read_all() -> dict[str, NotebookNode]:
    return {path.stem: nbformat.read(path, as_version=4) for path in CHAPTERS}


def code_cells(chapter: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in chapter.cells if cell.cell_type == "code"]


def prose(chapter: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def pictures(cell: NotebookNode) -> list[str]:
    return [o.data[IS_SVG] for o in cell.outputs if IS_SVG in o.get("data", {})]


def figures(chapter: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in code_cells(chapter) if pictures(cell)]


def named(cell: NotebookNode, part: str, key: str) -> str:
    """Look up what MyST-NB reads from a cell's metadata, for example its figure's name."""
    return cell.metadata.get("mystnb", {}).get(part, {}).get(key, "")


def parse(cell: NotebookNode) -> ast.Module:
    return ast.parse(TransformerManager().transform_cell(cell.source))


def headings(chapter: NotebookNode) -> list[tuple[int, str]]:
    tokens = MarkdownIt().parse(prose(chapter))
    return [
        (int(token.tag[1]), tokens[i + 1].content)
        for i, token in enumerate(tokens)
        if token.type == "heading_open"
    ]


# How a chapter is stored


def test_chapters_and_table_of_contents_name_the_same_files() -> None:
    stored = {str(path.relative_to(ROOT).with_suffix("")) for path in CHAPTERS}
    written = {str(p.relative_to(ROOT).with_suffix("")) for p in (ROOT / "book").glob("*.md")}
    assert stored <= set(PAGES)
    assert set(PAGES) <= stored | written
    assert len(PAGES) == len(set(PAGES))


def test_every_code_cell_was_executed_once_from_top_to_bottom(chapter: NotebookNode) -> None:
    cells = code_cells(chapter)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


def test_the_file_is_what_make_chapters_writes(path: Path) -> None:
    """Cell ids, folds, indentation; no clock times, no version of Python."""
    source = path.read_text()
    assert source == chapters.as_notebook(chapters.read(source)), f"`make chapters CHAPTERS={path}`"


def test_the_text_form_holds_all_that_the_author_wrote(path: Path) -> None:
    chapter = chapters.read(path.read_text())
    text = chapters.as_text(chapter)
    back = chapters.read(text, "md:myst")
    for cell, again in zip(chapter.cells, back.cells, strict=True):
        assert (cell.cell_type, cell.source) == (again.cell_type, again.source)
        assert cell.metadata == again.metadata
        assert "attachments" not in cell, "a picture pasted into a cell is in no text"
    assert chapters.as_text(back) == text


def test_metadata_holds_nothing_of_one_session(chapter: NotebookNode) -> None:
    known = {"jupyter", "mystnb", "tags"}
    assert {key for cell in chapter.cells for key in cell.metadata} <= known


def test_outputs_are_of_kinds_that_nbval_compares(path: Path, chapter: NotebookNode) -> None:
    """It skips PNG, JPEG and widgets; and what a tag or a comment tells it to skip."""
    compared = {"text/plain", "text/html", "text/latex", "text/markdown", IS_SVG}
    for cell in code_cells(chapter):
        assert {kind for output in cell.outputs for kind in output.get("data", {})} <= compared
        if path.stem != "colophon":  # It names the versions that it was run with.
            assert [tag for tag in tags(cell) if tag.startswith("nbval")] == []
            assert not re.search(r"#\s*(NBVAL|PYTEST_VALIDATE)_", cell.source)


def test_errors_are_announced_and_nothing_is_warned_of(chapter: NotebookNode) -> None:
    for cell in code_cells(chapter):
        errors = [output.ename for output in cell.outputs if output.output_type == "error"]
        assert bool(errors) == ("raises-exception" in tags(cell)), errors
        assert [o.text for o in cell.outputs if o.get("name") == "stderr"] == []


def test_nothing_tells_of_the_machine_or_the_hour(chapter: NotebookNode) -> None:
    shown = [cell.source for cell in chapter.cells]
    for cell in code_cells(chapter):
        for output in cell.outputs:
            shown += [output.get("text", ""), *map(str, output.get("data", {}).values())]
            shown += output.get("traceback", [])
    colours_and_photographs = r"\x1b\[[\d;]*m|base64,[\w+/=\s]+"
    text = re.sub(colours_and_photographs, "", "\n".join(shown))
    absolute = r"(?<![\w./:)\]}])(?:/\w[\w.-]*){2,}"
    windows = r"\b[A-Z]:\\(?:Users|Program|Windows)"
    address = r"\b0x[0-9a-fA-F]{6,}"
    hour = r"<dc:date>|\d{4}-\d\d-\d\d[T ]\d\d:\d\d"
    pattern = f"{absolute}|{windows}|{address}|{hour}|~/|site-packages"
    assert re.findall(pattern, text) == []


# What a chapter shows


def test_every_picture_shows_something(chapter: NotebookNode) -> None:
    for cell in figures(chapter):
        for picture in pictures(cell):
            assert shows_something(ET.fromstring(picture)), named(cell, "figure", "name")


def shows_something(svg: ET.Element) -> bool:
    """Whether each frame of a matplotlib drawing holds more than its background and its axes."""
    panels = [g for g in svg.iter(f"{SVG}g") if g.get("id", "").startswith("axes_") and len(g)]
    return bool(panels) and all(artists(panel) for panel in panels)


def artists(panel: ET.Element) -> list[ET.Element]:
    groups = panel.findall(f"{SVG}g")
    axes = [g for g in groups if g.get("id", "").startswith("matplotlib.axis")]
    patches = [g for g in groups if g.get("id", "").startswith("patch_")]
    spines = [g for g in patches if len(g.find(f"{SVG}path").get("d").split()) == 6]
    # With its axes off, a panel has no background either.
    background = patches[:1] if axes else []
    return [g for g in groups if g not in axes + spines + background]


def test_every_picture_is_a_figure_with_a_description_a_caption_and_a_name(
    chapter: NotebookNode,
) -> None:
    text = prose(chapter)
    for cell in figures(chapter):
        assert len(pictures(cell)) == 1, "one name, one picture"
        description, caption = named(cell, "image", "alt"), named(cell, "figure", "caption")
        for sentence in (description, caption):
            assert re.fullmatch(r"[A-Z\d$`(“].*[.)”]", sentence, re.DOTALL), sentence
        assert len(description) >= 40, description
        assert not re.search(r"[$`*]|\.(png|svg|jpe?g)\b", description), description
        assert description != caption
        name = named(cell, "figure", "name")
        assert re.fullmatch(r"fig-[a-z\d-]+", name), f"{name!r} of {description}"
        assert re.search(rf"\b{name}(?![\w-])", text), f"the text refers to {name} nowhere"


def test_no_two_figures_have_one_name() -> None:
    cells = [cell for chapter in read_all().values() for cell in figures(chapter)]
    names = Counter(named(cell, "figure", "name") for cell in cells)
    assert [name for name, count in names.items() if count > 1] == []


def test_code_cells_fit_a_screen_and_hide_no_output(chapter: NotebookNode) -> None:
    for cell in code_cells(chapter):
        assert cell.source.strip(), "an empty cell"
        assert len(cell.source.splitlines()) <= 25, cell.source
        assert not cell.source.rstrip().endswith(";"), cell.source


def test_no_function_is_defined_in_two_chapters() -> None:
    """What two chapters need belongs in the module."""
    where = defaultdict(set)
    for name, chapter in read_all().items():
        for cell in code_cells(chapter):
            for node in ast.walk(parse(cell)):
                if isinstance(node, ast.FunctionDef):
                    where[ast.unparse(node)].add(name)
    assert {code: names for code, names in where.items() if len(names) > 1} == {}


# The shape of a chapter


def test_one_title_and_no_heading_level_skipped(chapter: NotebookNode) -> None:
    levels = [level for level, _ in headings(chapter)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(lower - upper <= 1 for upper, lower in pairwise(levels))


@pytest.fixture(params=NUMBERED, ids=lambda name: Path(name).stem)
def numbered(request: pytest.FixtureRequest) -> NotebookNode:
    return nbformat.read(ROOT / f"{request.param}.ipynb", as_version=4)


def pieces(chapter: NotebookNode) -> Iterator[tuple[str, str, str, set[str]]]:
    """Cut a chapter at its headings: section, subsection, source, tags."""
    section = subsection = ""
    for cell in chapter.cells:
        cut = r"^(?=###? )" if cell.cell_type == "markdown" else r"\Z"
        for source in re.split(cut, cell.source, flags=re.MULTILINE):
            if heading := re.match(r"## (.*)", source):
                section, subsection = heading[1], ""
            elif heading := re.match(r"### (.*)", source):
                subsection = heading[1]
            yield section, subsection, source, tags(cell)


def test_a_chapter_says_first_how_long_it_takes_what_it_needs_and_what_it_gives(
    numbered: NotebookNode,
) -> None:
    below_title = numbered.cells[0].source.partition("\n")[2].strip()
    glance = below_title.split("\n\n")[0]
    shape = r"> \*\*\d+ minutes\.\*\* .*\bneed\b.*\bAfterwards you\b"
    assert re.match(shape, glance, re.DOTALL), glance


def test_the_introduction_says_how_long_the_chapters_take() -> None:
    stored = read_all()
    openings = [stored[Path(page).name].cells[0].source for page in NUMBERED]
    takes = [int(re.search(r"\*\*(\d+) minutes", opening)[1]) for opening in openings]
    introduction = (ROOT / "book" / "intro.md").read_text("utf-8")
    assert f"A chapter takes {min(takes)} to {max(takes)} minutes." in introduction


def test_a_chapter_has_three_exercises_with_folded_solutions(numbered: NotebookNode) -> None:
    folded = re.compile(r"\{dropdown\}|:class:.*\b(dropdown|toggle)\b")
    exercises: dict[str, bool] = {}
    for section, exercise, source, tagged in pieces(numbered):
        if section == "Exercises" and exercise:
            solution = "hide-cell" in tagged or bool(folded.search(source))
            exercises[exercise] = exercises.get(exercise, False) or solution
    assert len(exercises) >= 3
    assert [exercise for exercise, solved in exercises.items() if not solved] == []


def test_a_chapter_ends_with_a_summary(numbered: NotebookNode) -> None:
    section, _, source, _ = list(pieces(numbered))[-1]
    assert section == "Summary"
    assert source.removeprefix("## Summary").strip()
