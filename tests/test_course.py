"""The course: students get no solution, and with the official ones their notebooks run."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import course
import matplotlib.pyplot as plt
import nbformat
import pytest
from helpers import NUMBERED
from nbformat import NotebookNode

NAMES = [name for names in course.parts().values() for name in names]
NUMBERS = course.figures()
# The others take minutes together, which nobody should wait for at every run.
LIGHT = {"average-precision", "blind", "coordinates", "free-rules", "function", "giou"}
LIGHT |= {"gradients", "intersection", "mistakes", "reading-a-score", "speed", "union"}
LIGHT |= {"wild", "worked-examples"}
UNFINISHED = NotImplementedError, AssertionError


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def student(name: str) -> NotebookNode:
    return course.student(name, NUMBERS)


def sources(notebook: NotebookNode, kind: str = "code") -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == kind]


def is_turn(cell: NotebookNode) -> bool:
    return course.YOUR_TURN in cell.metadata.get("tags", [])


def test_the_course_has_every_numbered_chapter() -> None:
    assert [f"book/{name}" for name in NAMES] == NUMBERED


def test_a_student_gets_no_solution(name: str, student: NotebookNode) -> None:
    official = [cell.source for cell in course.chapter(name).cells if course.is_solution(cell)]
    assert len(official) >= 3
    text = "\n".join(sources(student))
    assert "# Solution" not in text
    assert "my_" not in text
    # Not a line of code that is in a solution alone.
    shown = {
        line
        for cell in course.chapter(name).cells
        for line in cell.source.splitlines()
        if not course.is_solution(cell)
    }
    for answer, check in course.solutions(name):
        for line in answer.splitlines():
            if len(line.strip()) > 20 and line not in shown and line != check:
                assert not re.search(rf"^{re.escape(line)}$", text, re.MULTILINE), line


def test_each_exercise_has_a_place_and_one_has_a_check(student: NotebookNode) -> None:
    places = [cell for cell in student.cells if is_turn(cell)]
    assert len(places) >= 3
    assert sum(source.startswith("check(") for source in sources(student)) >= 1
    nbformat.validate(student)


def test_a_notebook_can_be_read_outside_the_book(name: str) -> None:
    for make in (course.student, course.instructor):
        notebook = make(name, NUMBERS)
        text = "\n".join(sources(notebook, "markdown"))
        assert re.findall(r"(?<!`)\{[a-z:]+\}`", text) == []
        named = [course.setting(c, "figure", "name") for c in course.chapter(name).cells]
        assert text.count("\n*Figure ") + text.startswith("*Figure ") == len(
            list(filter(None, named))
        )
        assert not any("hide" in str(cell.metadata) for cell in notebook.cells)


def test_an_instructor_gets_every_solution_and_its_result(name: str) -> None:
    book, edition = course.chapter(name), course.instructor(name, NUMBERS)
    solved = [cell.source for cell in book.cells if course.is_solution(cell)]
    assert solved == [s for s in sources(edition) if s in solved]
    assert [c.outputs for c in book.cells if c.cell_type == "code"] == [
        c.outputs for c in edition.cells if c.cell_type == "code"
    ]


def run(source: str, names: dict) -> None:
    exec(compile(source, "cell", "exec"), names)
    plt.close("all")


def test_a_student_is_stopped_where_work_is_left_and_official_solutions_lead_on(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Cell by cell; the check of an exercise is asked before the solution is put in, and after."""
    if name not in LIGHT and "CI" not in os.environ:
        pytest.skip("takes long; CI runs it")
    monkeypatch.chdir(course.ROOT / "book")
    monkeypatch.setattr(plt, "show", lambda: None)
    todo = course.student(name, NUMBERS).cells
    done = course.put_in(course.student(name, NUMBERS), name).cells
    names: dict = {"__name__": name, "display": print}
    asked = 0
    with plt.rc_context():
        for left, official, following in zip(todo, done, [*todo[1:], None], strict=True):
            if left.cell_type != "code":
                continue
            if is_turn(left) and following is not None and following.source.startswith("check("):
                asked += 1
                with pytest.raises(UNFINISHED):
                    run(f"{left.source}\n{following.source}", names)
            if any(output.output_type == "error" for output in left.get("outputs", [])):
                with pytest.raises(Exception, match=r"."):
                    run(official.source, names)
            else:
                run(official.source, names)
    assert asked >= 1


def test_a_check_under_another_name_is_asked_as_the_exercise_asks() -> None:
    book = nbformat.v4.new_notebook()
    solution = {"mystnb": {"code_prompt_show": "Show the solution"}}
    book.cells = [
        nbformat.v4.new_markdown_cell("Write `f(x)` and `g(x)`, and run `check(f, g)`."),
        nbformat.v4.new_code_cell(
            "def my_f(x):\n    pass\n\n\ncheck(my_f, other)", metadata=solution
        ),
        nbformat.v4.new_markdown_cell("What is `f` of 3?"),
        nbformat.v4.new_code_cell("my_f(3)", metadata=solution),
    ]
    assert course.check_in(book.cells[0].source) == "check(f, g)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(course, "chapter", lambda name: book)
        assert course.solutions("any") == [
            ("def f(x):\n    pass\n\n\ncheck(f, g)", "check(f, g)"),
            ("f(3)", ""),
        ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("see {numref}`fig-wall`", "see Figure 1"),
        ("a {term}`tile <tile>` and a {term}`box`", "a tile and a box"),
        ("{doc}`mistakes`, {doc}`the page <wild>`", "*Common mistakes*, the page"),
        ("{cite:p}`zheng2020,cocoeval`; {cite:t}`zheng2020`", "(Zheng 2020, Cocoeval); Zheng 2020"),
        ("$$ x $$ (eq-shift)", "$$ x $$"),
        ("{func}`iou.iou` and `{a}`", "`iou.iou` and `{a}`"),
    ],
)
def test_references_become_words(text: str, words: str) -> None:
    assert course.plain(text, {"fig-wall": "Figure 1"}) == words


def slides_of(part: str) -> str:
    return course.deck(part, course.parts()[part], NUMBERS)


@pytest.mark.parametrize("part", course.parts())
def test_a_deck_shows_every_picture_and_summary_of_its_part(part: str) -> None:
    page = slides_of(part)
    names = course.parts()[part]
    pictures = [course.picture(cell) for name in names for cell in course.chapter(name).cells]
    assert page.count("<img ") == len(list(filter(None, pictures))) > 0
    assert page.count("<h2>Summary</h2>") == len(names)
    assert page.count("<h2>Exercise: ") == len(names)
    assert all(f"<h1>{course.title(name)}" in page for name in names)
    assert course.PLACE not in page
    assert not re.search(r"\{[a-z:]+\}`", page)


@pytest.mark.parametrize("part", course.parts())
def test_a_deck_fetches_nothing_from_elsewhere(part: str) -> None:
    page = re.sub(r"base64,[\w+/=]+", "", slides_of(part))
    loaded = re.findall(r"(?:src|href)=\"([^\"#]*)\"", re.sub(r"<a .*?>", "", page))
    assert {url for url in loaded if not url.startswith("data:")} == {course.MATHJAX}
    assert "url(" not in page


def test_formulas_keep_what_markdown_would_change() -> None:
    assert "$a_1 * b_1 &lt; c_2 * d_2$" in course.rendered("So $a_1 * b_1 < c_2 * d_2$ holds.")


def test_everything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "OUT", tmp_path)
    monkeypatch.setattr(course, "parts", lambda: {"Part": ["speed"]})
    course.main("student", "instructor", "slides")
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert {"student/speed.ipynb", "instructor/speed.ipynb", "slides/part-1.html"} < found
    # What a notebook reads lies where it looks for it, and so does what a deck loads.
    assert json.loads((tmp_path / "student/../benchmarks/results.json").read_text())["tables"]
    assert (tmp_path / "slides" / course.MATHJAX).exists()


def test_a_pdf_needs_a_browser_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Callable[[str], None] = lambda name: None  # noqa: E731
    monkeypatch.setattr(course.shutil, "which", nothing)
    with pytest.raises(SystemExit, match="Chromium"):
        course.book_pdf(tmp_path / "book.pdf")
