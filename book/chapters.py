"""Chapters as notebooks and as text: `make text` and `make chapters` run this.

A chapter is book/NAME.ipynb. For any editor it is written to text/NAME.md, whose
head holds a hash of the inputs it was made from. That tells which of the two was
edited since; clock times do not, for git and editors set them too. Edits of one are
never written over with the other.
"""

import hashlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
RUFF = sys.executable, "-m", "ruff", "format", "--quiet"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}
# What Jupyter leaves in a cell, and what makes it fold what the book folds.
SESSION = {"collapsed", "editable", "execution", "jupyter", "scrolled", "trusted"}
FOLDED = {
    "hide-input": {"source_hidden": True},
    "hide-cell": {"source_hidden": True, "outputs_hidden": True},
}


class RefusalError(Exception):
    """Why a chapter stays as it is."""


class Chapter:
    """A chapter as it is found: a notebook, a text, or both."""

    def __init__(self, name: str, root: Path) -> None:
        self.names = f"book/{name}.ipynb", f"text/{name}.md"
        self.files = [root / name for name in self.names]
        self.stored, self.text = self.found = self.contents()
        inputs = self.stored and digest(as_text(read(self.stored)))
        head = re.match(r"---\nmade_from: (\w+)\n", self.text or "")
        # A text that does not say what it was made from is edited where it differs.
        made_from = head[1] if head else inputs
        known = (inputs, made_from)
        self.text_edited = self.text is not None and digest(self.text) not in known
        self.both_edited = self.text_edited and inputs != made_from

    def contents(self) -> list[str | None]:
        """Read both files, as None where there is none."""
        return [f.read_text("utf-8") if f.exists() else None for f in self.files]

    def check(self, command: str) -> None:
        """Refuse to write over edits."""
        notebook, text = self.names
        if self.found == [None, None]:
            raise RefusalError(f"There is no {notebook}, and no {text}.")
        if self.stored and self.text_edited and command == "text":
            raise RefusalError(
                f"{text} has edits that {notebook} has not: "
                "`make chapters` brings them over; delete the text to drop them."
            )
        if self.stored and self.both_edited:
            raise RefusalError(
                f"{notebook} and {text} were both edited: delete the text to keep "
                "the notebook, or the line made_from in its head to keep the text."
            )

    def write_text(self) -> None:
        """Write the text as the notebook has it."""
        if self.stored:
            self.files[1].parent.mkdir(exist_ok=True)
            self.files[1].write_text(as_text(read(self.stored)), "utf-8")

    def write_notebook(self) -> None:
        """Format and execute what was edited, and write both files anew."""
        notebook, _ = self.names
        print(notebook, flush=True)
        takes_text = self.text_edited or self.stored is None
        chapter = read(self.text, "md:myst") if takes_text else read(self.stored)
        chapter = formatted(chapter, notebook)
        try:
            execute(chapter, self.files[0].parent)
        except CellExecutionError as error:
            raise RefusalError(
                f"{error}\n{notebook} is unchanged: a cell fails."
            ) from None
        if self.contents() != self.found:
            raise RefusalError(f"{notebook} is unchanged: it was edited meanwhile.")
        self.stored = as_notebook(chapter)
        self.files[0].write_text(self.stored, "utf-8")
        if self.text is not None:
            self.write_text()


def read(source: str, fmt: str = "ipynb") -> NotebookNode:
    """Read a chapter without what a session of Jupyter left in it."""
    chapter = jupytext.reads(source, fmt=fmt, as_version=4)
    chapter.metadata = NotebookNode(kernelspec=KERNEL, language_info=LANGUAGE)
    for cell in chapter.cells:
        for key in SESSION & cell.metadata.keys():
            del cell.metadata[key]
    return chapter


def as_text(chapter: NotebookNode) -> str:
    """Write the inputs, with their hash in the head."""
    text = jupytext.writes(chapter, fmt="md:myst")
    return text.replace("---\n", f"---\nmade_from: {digest(text)}\n", 1)


def digest(text: str) -> str:
    """Hash what stands below the head of a text."""
    body = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return hashlib.sha256(body.encode()).hexdigest()[:12]


def as_notebook(chapter: NotebookNode) -> str:
    """Write an executed chapter so that its diffs show no times and no chance."""
    chapter.metadata = NotebookNode(kernelspec=KERNEL, language_info=LANGUAGE)
    seen: Counter[str] = Counter()
    for cell in chapter.cells:
        name = f"{seen[cell.source]} {cell.source}"
        cell.id = hashlib.sha256(name.encode()).hexdigest()[:8]
        seen[cell.source] += 1
        for tag in FOLDED.keys() & cell.metadata.get("tags", []):
            cell.metadata.setdefault("jupyter", {}).update(FOLDED[tag])
        if cell.cell_type == "code":
            cell.outputs = merged(cell.outputs)
    nbformat.validate(chapter)
    return nbformat.writes(chapter) + "\n"


def merged(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join what a cell printed in pieces, which are cut by chance."""
    whole: list[NotebookNode] = []
    for output in outputs:
        if whole and "name" in output and output.name == whole[-1].get("name"):
            whole[-1].text += output.text
        else:
            whole.append(output)
    return whole


def formatted(chapter: NotebookNode, name: str) -> NotebookNode:
    """Format the code for the width of a page."""
    run = subprocess.run(
        [*RUFF, "--config", ROOT / "book/ruff.toml", "--stdin-filename", name, "-"],
        input=nbformat.writes(chapter),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if run.returncode:
        raise RefusalError(f"{run.stderr.strip()}\n{name} is unchanged.")
    return read(run.stdout)


def execute(chapter: NotebookNode, folder: Path) -> None:
    """Run a chapter from top to bottom."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(chapter, record_timing=False, resources=resources).execute()


def main(command: str, *names: str, root: Path = ROOT) -> int:
    """Write texts, or chapters; return 1 if one was refused."""
    files = *root.glob("book/*.ipynb"), *root.glob("text/*.md")
    every = names or sorted({file.stem for file in files})
    chapters = [Chapter(Path(name).stem, root) for name in every]
    write = {"text": Chapter.write_text, "chapters": Chapter.write_notebook}[
        command
    ]
    # Before anything is written, each chapter has a word.
    for step in (lambda chapter: chapter.check(command), write):
        refused = 0
        for chapter in chapters:
            try:
                step(chapter)
            except RefusalError as reason:
                print(reason, file=sys.stderr, flush=True)
                refused = 1
        if refused:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
