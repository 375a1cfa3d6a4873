"""The tool behind `make text` and `make chapters`: no edit is lost, whichever way it goes."""

import os
from pathlib import Path

import chapters
import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

EXECUTE = chapters.execute
EDITED = "One more sentence."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A book of two chapters, `one` and `two`."""
    (tmp_path / "book").mkdir()
    for name in ("one", "two"):
        title = new_markdown_cell(f"# Chapter {name}")
        folded = new_code_cell("x = 1", metadata={"tags": ["hide-input"]})
        solution = new_code_cell("print(x)", metadata={"tags": ["hide-cell"]})
        stored = new_notebook(cells=[title, folded, solution])
        (tmp_path / f"book/{name}.ipynb").write_text(chapters.as_notebook(stored))
    return tmp_path


@pytest.fixture(autouse=True)
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for the execution, which takes long, and list the titles of what would run."""
    titles: list[str] = []

    def execute(chapter: NotebookNode, folder: Path) -> None:
        titles.append(chapter.cells[0].source.splitlines()[0])
        for cell in chapter.cells:
            if cell.cell_type == "code":
                pieces = ("1", "\n") if "print" in cell.source else ()
                cell.outputs = [new_output("stream", name="stdout", text=text) for text in pieces]
        chapter.metadata.language_info = {"name": "python", "version": "3.99"}

    monkeypatch.setattr(chapters, "execute", execute)
    return titles


def run(root: Path, command: str, *names: str) -> int:
    return chapters.main(command, *names, root=root)


def notebook(root: Path, name: str = "one") -> NotebookNode:
    return nbformat.read(root / f"book/{name}.ipynb", as_version=4)


def edit_text(root: Path, name: str = "one", old: str = "\n# Chapter", new: str = "") -> None:
    file = root / f"text/{name}.md"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new) if new else f"{text}\n{EDITED}\n")


def edit_notebook(root: Path, name: str = "one") -> None:
    edited = notebook(root, name)
    edited.cells[0].source += "\n\nAdded in Jupyter."
    nbformat.write(edited, root / f"book/{name}.ipynb")


def drop_hash(root: Path, name: str = "one") -> None:
    file = root / f"text/{name}.md"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith("made_from")))


def files(root: Path) -> dict[str, str]:
    return {str(p.relative_to(root)): p.read_text() for p in sorted(root.rglob("*.*"))}


def assert_refused(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
    """One clear line, an exit status, and no file changed."""
    before = files(root)
    capsys.readouterr()
    assert run(root, *arguments) == 1
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert "one" in printed.err
    assert printed.out == ""
    assert files(root) == before


# From the notebook to the text


def test_text_is_written_from_the_notebook_and_shows_inputs_alone(root: Path) -> None:
    assert run(root, "text") == 0
    text = (root / "text/one.md").read_text()
    assert text.startswith("---\nmade_from: ")
    assert "# Chapter one" in text
    assert ":tags: [hide-input]" in text
    assert "hidden" not in text


def test_text_is_written_anew_after_an_edit_in_jupyter(root: Path) -> None:
    run(root, "text")
    edit_notebook(root)
    assert run(root, "text") == 0
    assert "Added in Jupyter." in (root / "text/one.md").read_text()


@pytest.mark.parametrize("made_from", [True, False], ids=["with its hash", "without"])
def test_text_with_edits_is_not_written_over(
    root: Path, capsys: pytest.CaptureFixture[str], made_from: bool
) -> None:
    run(root, "text")
    edit_text(root)
    if not made_from:
        drop_hash(root)
    assert_refused(root, capsys, "text")


def test_clock_times_mean_nothing(root: Path) -> None:
    run(root, "text")
    edit_text(root)
    os.utime(root / "text/one.md", (0, 0))
    assert run(root, "chapters") == 0
    assert EDITED in notebook(root).cells[-1].source


# From the text to the notebook


def test_edits_of_the_text_reach_the_notebook_and_stay_in_the_text(root: Path) -> None:
    run(root, "text")
    edit_text(root)
    assert run(root, "chapters") == 0
    assert EDITED in notebook(root).cells[-1].source
    assert EDITED in (root / "text/one.md").read_text()
    # Both agree: one can go on in either.
    assert run(root, "text") == 0
    edit_notebook(root)
    assert run(root, "text") == 0


def test_edits_of_a_text_without_a_hash_are_taken(root: Path) -> None:
    run(root, "text")
    drop_hash(root)
    edit_text(root)
    edit_notebook(root)
    assert run(root, "chapters") == 0
    assert EDITED in notebook(root).cells[-1].source


def test_a_text_without_a_hash_that_says_what_the_notebook_says_is_not_edited(root: Path) -> None:
    run(root, "text")
    drop_hash(root)
    assert run(root, "text") == 0
    assert "made_from" in (root / "text/one.md").read_text()


def test_edits_of_both_are_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(root, "text")
    edit_text(root)
    edit_text(root, "two")
    edit_notebook(root)
    # Not even the other chapter is executed: that is said first, not after minutes.
    assert_refused(root, capsys, "chapters")


def test_the_refusal_says_how_to_go_on(root: Path) -> None:
    run(root, "text")
    edit_text(root)
    edit_notebook(root)
    drop_hash(root)
    assert run(root, "chapters") == 0
    assert EDITED in notebook(root).cells[-1].source


def test_the_same_edit_in_both_is_no_conflict(root: Path) -> None:
    run(root, "text")
    edit_text(root, old="# Chapter one", new="# Chapter one\n\nAdded in Jupyter.")
    edit_notebook(root)
    assert run(root, "chapters") == 0


def test_a_stale_text_gives_way_to_the_notebook(root: Path) -> None:
    run(root, "text")
    edit_notebook(root)
    assert run(root, "chapters") == 0
    assert "Added in Jupyter." in notebook(root).cells[0].source
    assert "Added in Jupyter." in (root / "text/one.md").read_text()


def test_a_chapter_without_a_text_is_executed_in_place(root: Path) -> None:
    edit_notebook(root)
    assert run(root, "chapters", "one") == 0
    assert "Added in Jupyter." in notebook(root).cells[0].source
    assert not (root / "text").exists()


def test_a_new_chapter_is_a_new_text(root: Path, executed: list[str]) -> None:
    (root / "text").mkdir()
    (root / "text/new.md").write_text("# New\n\n```{code-cell}\nprint( 1 )\n```\n")
    assert run(root, "text") == 0, "there is no notebook yet that it could be written from"
    assert run(root, "chapters", "new") == 0
    assert executed == ["# New"]
    assert notebook(root, "new").cells[1].source == "print(1)"
    assert (root / "text/new.md").read_text().startswith("---\nmade_from: ")
    assert run(root, "text") == 0


@pytest.mark.parametrize("name", ["one", "book/one.ipynb", "text/one.md"])
def test_a_chapter_goes_by_three_names(root: Path, executed: list[str], name: str) -> None:
    assert run(root, "chapters", name) == 0
    assert executed == ["# Chapter one"]


def test_a_chapter_that_does_not_exist_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_refused(root, capsys, "chapters", "two", "none")
    assert_refused(root, capsys, "text", "none")


# What is stored


def test_code_is_formatted_for_the_page(root: Path) -> None:
    run(root, "text")
    edit_text(root, old="x = 1", new="x   = f('a')")
    run(root, "chapters")
    assert notebook(root).cells[1].source == 'x = f("a")'
    assert 'x = f("a")' in (root / "text/one.md").read_text()


def test_what_the_book_folds_jupyter_folds_and_no_more(root: Path) -> None:
    unfolded = notebook(root)
    unfolded.cells[1].metadata.jupyter = {"source_hidden": False, "outputs_hidden": True}
    unfolded.cells[2].metadata.update(scrolled=True, collapsed=False)
    nbformat.write(unfolded, root / "book/one.ipynb")
    run(root, "chapters")
    assert [cell.metadata for cell in notebook(root).cells] == [
        {},
        {"tags": ["hide-input"], "jupyter": {"source_hidden": True}},
        {"tags": ["hide-cell"], "jupyter": {"source_hidden": True, "outputs_hidden": True}},
    ]


def test_folding_a_cell_in_jupyter_is_no_edit(root: Path) -> None:
    run(root, "text")
    before = files(root)["text/one.md"]
    folded = notebook(root)
    folded.cells[0].metadata.jupyter = {"source_hidden": True}
    nbformat.write(folded, root / "book/one.ipynb")
    run(root, "text")
    assert files(root)["text/one.md"] == before


def test_what_a_cell_prints_in_pieces_is_one_output(root: Path) -> None:
    run(root, "chapters")
    (output,) = notebook(root).cells[2].outputs
    assert output.text == "1\n"


def test_only_neighbours_of_one_stream_are_joined() -> None:
    out, err = (
        lambda text, name=name: new_output("stream", name=name, text=text)
        for name in ("stdout", "stderr")
    )
    shown = new_output("display_data", {"text/plain": "3"})
    outputs = [out("1"), out("2"), shown, out("4"), err("5"), err("6")]
    assert chapters.merged(outputs) == [out("12"), shown, out("4"), err("56")]


def test_the_notebook_tells_no_version(root: Path) -> None:
    run(root, "chapters")
    assert "3.99" not in files(root)["book/one.ipynb"]


@pytest.mark.parametrize("with_text", [True, False])
def test_a_second_run_changes_nothing(root: Path, with_text: bool) -> None:
    if with_text:
        run(root, "text")
        edit_text(root)
    run(root, "chapters")
    before = files(root)
    assert run(root, "chapters") == 0
    if with_text:
        assert run(root, "text") == 0
    assert files(root) == before


def test_cells_alike_have_names_apart(root: Path) -> None:
    twice = notebook(root)
    twice.cells += [new_code_cell("x = 1"), new_code_cell("x = 1")]
    nbformat.write(twice, root / "book/one.ipynb")
    run(root, "chapters")
    ids = [cell.id for cell in notebook(root).cells]
    assert len(set(ids)) == len(ids) == 5


# When something goes wrong


def test_code_that_does_not_parse_leaves_the_notebook(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(root, "text")
    edit_text(root, old="x = 1", new="x = (1")
    before = files(root)
    assert run(root, "chapters", "one") == 1
    assert "book/one.ipynb" in capsys.readouterr().err
    assert files(root) == before


def test_an_edit_during_the_execution_is_kept(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(root, "text")
    stored = files(root)["book/one.ipynb"]
    monkeypatch.setattr(chapters, "execute", lambda *_: edit_text(root))
    assert run(root, "chapters", "one") == 1
    assert "meanwhile" in capsys.readouterr().err
    assert EDITED in files(root)["text/one.md"]
    assert files(root)["book/one.ipynb"] == stored


def test_a_cell_that_fails_leaves_the_notebook_and_says_why(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chapters, "execute", EXECUTE)
    run(root, "text")
    edit_text(root, old="x = 1", new="x = 1 / 0")
    before = files(root)
    # The other chapter is executed all the same.
    assert run(root, "chapters") == 1
    error = capsys.readouterr().err
    assert "ZeroDivisionError" in error
    assert "book/one.ipynb is unchanged" in error
    after = files(root)
    assert after.pop("book/two.ipynb") != before.pop("book/two.ipynb")
    assert after == before
    assert notebook(root, "two").cells[2].outputs[0].text == "1\n"
