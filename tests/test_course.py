"""The course: students get no solution, and with the official ones their notebooks run."""

import itertools
import json
import os
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import course
import matplotlib.pyplot as plt
import nbformat
import paper
import pytest
from folds import is_solution
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


def is_measured(cell: NotebookNode) -> bool:
    return cell.source.startswith("# @title The measurements that this chapter reads")


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


# What the pages write where such a cell is folded.
PROMPTS = {"Show the solution", "Show the answer"}


def is_asked_for(cell: NotebookNode) -> bool:
    return cell.metadata.get("mystnb", {}).get("code_prompt_show") in PROMPTS


def test_what_a_page_folds_whole_is_what_a_reader_has_to_ask_for(name: str) -> None:
    cells = course.chapter(name).cells
    assert [is_solution(cell) for cell in cells] == [is_asked_for(cell) for cell in cells]


def test_a_guess_is_not_answered_before_it_is_made() -> None:
    cells = course.student("measure", NUMBERS).cells
    assert not any("every_score[index]" in cell.source for cell in cells)
    (chosen,) = (cell for cell in cells if "wanted = " in cell.source)
    assert chosen.metadata["jupyter"]["source_hidden"]
    assert chosen.source.startswith("# @title Show how they were chosen")
    told = course.instructor("measure", NUMBERS).cells
    (answer,) = (cell for cell in told if "every_score[index]" in cell.source)
    assert "jupyter" not in answer.metadata
    assert answer.outputs


def test_each_exercise_has_a_place_and_one_has_a_check(student: NotebookNode) -> None:
    places = [cell for cell in student.cells if is_turn(cell)]
    assert len(places) >= 3
    assert sum(source.startswith("check(") for source in sources(student)) >= 1
    nbformat.validate(student)


def test_a_notebook_can_be_read_outside_the_book(name: str) -> None:
    for make in (course.student, course.instructor):
        notebook = make(name, NUMBERS)
        text = "\n".join(sources(notebook, "markdown"))
        assert re.findall(r"(?<!`)\{[a-z:]+\}`|^:{3,}|<iou-|</?div", text, re.MULTILINE) == []
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
        c.outputs for c in edition.cells if c.cell_type == "code" and not is_measured(c)
    ]


def run(source: str, names: dict) -> None:
    exec(compile(source, "cell", "exec"), names)
    plt.close("all")


def test_a_student_is_stopped_where_work_is_left_and_official_solutions_lead_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """Cell by cell, in any folder; the check is asked before the solution is put in, and after."""
    if name not in LIGHT and "CI" not in os.environ:
        pytest.skip("takes long; CI runs it")
    monkeypatch.chdir(tmp_path)
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
    solution = {"mystnb": {"code_prompt_show": "Show the solution"}, "tags": ["hide-cell"]}
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
    first = int(re.search(r'<ol(?: start="(\d+)")?>', page)[1] or 1)
    assert NAMES[first - 1 : first - 1 + len(names)] == names
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


@pytest.mark.parametrize("make", [course.student, course.instructor])
def test_a_notebook_brings_the_measurements_that_it_reads(make: Callable) -> None:
    brought = {}
    for name in NAMES:
        for cell in make(name, NUMBERS).cells:
            if cell.cell_type == "code":
                assert "../" not in cell.source
                if is_measured(cell):
                    assert cell.metadata["jupyter"]["source_hidden"]
                    run(cell.source, names := {})
                    brought[name] = json.loads(names["measurements"])
    assert brought == {
        name: json.loads((course.ROOT / f"benchmarks/{file}.json").read_text("utf-8"))
        for name, file in (("speed", "results"), ("wild", "wild"))
    }


def test_everything_is_written_and_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(course, "OUT", tmp_path)
    monkeypatch.setattr(course, "parts", lambda: {"Part": ["speed"]})
    course.main("student", "instructor", "slides")
    assert capsys.readouterr().out.splitlines()[-1] == f"Done. Open the folder {tmp_path}"
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert {"student/speed.ipynb", "instructor/speed.ipynb", "slides/part-1.html"} < found
    # What a deck loads lies where it looks for it.
    assert (tmp_path / "slides" / course.MATHJAX).exists()


# Teaching.

TEACHING = (course.ROOT / "book" / "teaching.md").read_text("utf-8")


def test_the_file_to_hand_out_is_called_as_pip_calls_it() -> None:
    assert f"pip install 'iou-{version('iou')}-py3-none-any.whl[plot,samples]'" in TEACHING


def lesson(title: str) -> str:
    return TEACHING.partition(f"### {title}")[2].partition("\n#")[0]


def chapters_in(text: str) -> list[str]:
    return re.findall(r"\{doc\}`([\w-]+)`", text)


def minutes(time: str) -> int:
    hours, _, rest = time.rpartition(":")
    return 60 * int(hours or 0) + int(rest)


@pytest.mark.parametrize(("title", "length"), [("45 minutes", 45), ("Half a day", 240)])
def test_a_lesson_plan_accounts_for_every_minute(title: str, length: int) -> None:
    rows = re.findall(r"^\| ([\d:]+)–([\d:]+) \|", lesson(title), re.MULTILINE)
    times = [(minutes(start), minutes(end)) for start, end in rows]
    assert times[0][0] == 0
    assert times[-1][1] == length
    assert all(before[1] == after[0] for before, after in itertools.pairwise(times))
    assert all(start < end for start, end in times)


def test_the_exercises_that_a_plan_names_are_there() -> None:
    named = re.findall(r"[Ee]xercise (\d) of \{doc\}`([\w-]+)`", TEACHING)
    assert len(named) >= 8
    for number, name in named:
        text = "\n".join(sources(course.chapter(name), "markdown"))
        assert re.search(rf"^### {number}\. ", text, re.MULTILINE), (number, name)


def test_what_a_plan_calls_the_kinds_of_exercise_they_are() -> None:
    kinds = ["1. By hand", "2. In code", "3. To think about"]
    assert "1 is by hand, 2 is in code, 3 is to think about" in TEACHING
    for name in NAMES:
        text = "\n".join(sources(course.chapter(name), "markdown"))
        assert re.findall(r"^### (\d\. .*)", text, re.MULTILINE) == kinds, name


def test_four_weeks_go_through_every_chapter_once() -> None:
    rows = re.findall(r"^\| (\d), (.*?) \| (.*) \|$", lesson("Four weeks"), re.MULTILINE)
    kinds = "first session", "second session", "at home"
    assert [(week, kind) for week, kind, _ in rows] == list(itertools.product("1234", kinds))
    assert sorted(chapters_in("\n".join(what for *_, what in rows))) == sorted(NAMES)
    for _, kind, what in rows:
        opening = [course.chapter(name).cells[0].source for name in chapters_in(what)]
        needed = [int(re.search(r"\*\*(\d+) minutes", text)[1]) for text in opening]
        assert kind == "at home" or sum(needed) <= 60, what  # Of 90: exercises take time too.


def test_every_chapter_has_its_objectives_in_order() -> None:
    table = TEACHING.partition("## Learning objectives")[2].partition("\n## ")[0]
    assert chapters_in(table) == NAMES


# On paper.

TWO = {"parts": [{"caption": "One & only", "chapters": [{"file": "book/a"}, {"file": "book/b"}]}]}
PAGE = """<html><head></head><body><section class="tex2jax_ignore mathjax_ignore" id="the-book">
<h1>The book</h1><a href="book/intro.html#document-book/a">A</a></section>
<span id="document-book/a"></span><section class="tex2jax_ignore mathjax_ignore" id="say">
<h2><span class="section-number">1. </span>Say &quot;a&quot;<a class="headerlink">#</a></h2>
</section><span id="document-book/b"></span><section class="tex2jax_ignore mathjax_ignore" id="c">
<h2>b &lt; c<a class="headerlink">#</a></h2></section></body></html>"""


def test_on_paper_solutions_stand_at_the_end_and_nothing_folds(name: str) -> None:
    before = course.chapter(name)
    after = paper.unfolded(course.chapter(name)).cells
    end = next(n for n, cell in enumerate(after) if cell.source == "## Solutions")
    solved = [cell.source for cell in before.cells if is_asked_for(cell)]
    assert [cell.source for cell in after[end:] if cell.cell_type == "code"] == solved
    assert [cell.source for cell in after[:end]] == [
        cell.source for cell in before.cells if not is_asked_for(cell)
    ]
    for cell in after:
        tags = cell.metadata.get("tags", [])
        assert "hide-cell" not in tags
        assert ("remove-input" in tags) == ("hide-input" in tags)


def test_chapters_are_found_in_the_page_in_the_order_of_the_contents() -> None:
    assert paper.chapters(PAGE, TWO) == [
        paper.Chapter("One & only", "a", 'Say "a"', "1."),
        paper.Chapter("One & only", "b", "b < c"),
    ]


def test_a_page_for_paper_has_contents_running_heads_and_links_within_itself() -> None:
    page = paper.laid_out(PAGE, TWO, "<p>Cover</p>", {"document-book/a": 7})
    assert page.index("<p>Cover") < page.index("<nav ") < page.index("<h1>")
    assert '<a href="#document-book/a"><span>1. Say &quot;a&quot;</span><span>7</span>' in page
    assert '<a href="#document-book/b"><span>b &lt; c</span><span>–</span>' in page
    assert 'class="paper-part">One &amp; only<' in page
    assert r'@page a { @top-right { content: "1. Say \"a\""; } }' in page
    # The anchor is on the page of its heading.
    assert '<section class="paper-b tex2jax_ignore mathjax_ignore" id="c"><span id=' in page
    assert "intro.html" not in page


def test_pages_are_counted_as_the_browser_writes_them() -> None:
    pdf = (
        b"%PDF\n3 0 obj\n<</Type /Page\n/Parent 9 0 R>>\n8 0 obj\n<</Type /Page\n>>\n"
        b"9 0 obj\n<</Type /Pages\n>>\n7 0 obj\n"
        b"<</document-book#2Fa [8 0 R /XYZ 0 9 0]\n/b [3 0 R /XYZ 0 9 0]\n/c [5 0 R /XYZ 0 1 0]>>"
    )
    assert paper.page_numbers(pdf.replace(b"<</doc", b"<<\n/doc")) == {
        "document-book/a": 2,
        "b": 1,
    }


def browser_that(folder: Path, script: str) -> str:
    """Write what is called as a browser is, with the name of the PDF as $out."""
    fake = folder / "browser"
    fake.write_text(
        "#!/bin/sh\nfor word; do case $word in --print-to-pdf=*) out=${word#*=};; esac; done\n"
        + script,
        "utf-8",
    )
    fake.chmod(0o755)
    return str(fake)


PDF = b"""%PDF
3 0 obj
<</Type /Page
>>
<<
/document-book#2Fa [3 0 R /XYZ 0 9 0]
/document-book#2Fb [3 0 R /XYZ 0 1 0]
>>"""


@pytest.mark.parametrize(
    ("pdf", "script", "message"),
    [
        (PDF, "echo no fonts >&2; exit 3", "no fonts"),
        (PDF, "echo no space >&2", "no space"),
        (PDF.replace(b"#2Fb", b"#2Fc"), 'cat "$0.pdf" > "$out"', "no page for .'b < c'."),
        (PDF.replace(b"/XYZ", b"/Fit"), 'cat "$0.pdf" > "$out"', "no page for"),
        (b"%PDF-9\n", 'cat "$0.pdf" > "$out"', "no page for"),
    ],
)
def test_a_pdf_without_a_page_for_each_chapter_is_an_error(
    tmp_path: Path, pdf: bytes, script: str, message: str
) -> None:
    """Also where one lies there from before."""
    (tmp_path / "browser.pdf").write_bytes(pdf)
    page, out = tmp_path / "page.html", tmp_path / "out.pdf"
    page.write_text(PAGE, "utf-8")
    out.write_bytes(PDF)
    with pytest.raises(RuntimeError, match=message):
        paper.print_numbered(browser_that(tmp_path, script), page, TWO, "", out)


def test_contents_name_the_pages_that_the_first_printing_has_told(tmp_path: Path) -> None:
    (tmp_path / "browser.pdf").write_bytes(PDF)
    page, out = tmp_path / "page.html", tmp_path / "out.pdf"
    page.write_text(PAGE, "utf-8")
    browser = browser_that(tmp_path, 'cat "$0.pdf" > "$out"')
    paper.print_numbered(browser, page, TWO, "", out)
    assert page.read_text("utf-8").count("</span><span>1</span></a>") == 2
    assert out.read_bytes() == PDF


def test_the_book_is_printed_with_everything_in_it(tmp_path: Path) -> None:
    if "CI" not in os.environ:
        pytest.skip("takes minutes; CI runs it")
    folder = tmp_path / "build"
    folder.mkdir()
    built = paper.single_page(folder)
    page = re.sub(r"<a .*?>", "", built.read_text("utf-8"))
    loaded = [url.partition("?")[0] for url in re.findall(r'(?:src|href)="([^"#:]+)"', page)]
    needed = [url for url in loaded if not url.endswith((".html", "searchindex.js"))]
    assert len(needed) > 80
    assert [url for url in needed if not (built.parent / url).exists()] == []
    paper.print_book(tmp_path / "book.pdf")
    pdf = (tmp_path / "book.pdf").read_bytes()
    numbers = paper.page_numbers(pdf)
    pages = [numbers[f"document-{name}"] for name in NUMBERED]
    assert pages == sorted(set(pages))
    assert b"/Outlines" in pdf
    assert 150 < len(re.findall(rb"/Type /Page\n", pdf)) < 400


def test_a_pdf_needs_a_browser_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Callable[[str], None] = lambda name: None  # noqa: E731
    monkeypatch.setattr(paper.shutil, "which", nothing)
    with pytest.raises(SystemExit, match="Chromium"):
        paper.print_book(tmp_path / "book.pdf")
