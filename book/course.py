"""The book as course material: `make course` runs this.

From the stored chapters, as the table of contents lists them, it makes

- ``student/``: notebooks without the solutions, with a cell that runs each check,
- ``instructor/``: the same notebooks with the solutions unfolded,
- ``slides/``: a deck for each part, pictures first, to show or to print,
- ``book.pdf``: the whole book, printed by Chromium.

Nothing is executed, and nothing is fetched.
"""

import base64
import html
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import paper
import yaml
from folds import fold, gives_away, is_solution, prompt
from markdown_it import MarkdownIt
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

ROOT = Path(__file__).parents[1]
OUT = ROOT / "_build" / "course"
YOUR_TURN = "your-turn"
# The chapters


def parts() -> dict[str, list[str]]:
    """Name the notebooks with exercises, part by part."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    named = {
        part["caption"]: [
            Path(chapter["file"]).stem for chapter in part["chapters"]
        ]
        for part in contents
        if part.get("numbered")
    }
    return {part: names for part, names in named.items() if names}


def chapter(name: str) -> NotebookNode:
    """Read a stored chapter, which the tests of the book have validated."""
    return nbformat.v4.reads((ROOT / f"book/{name}.ipynb").read_text("utf-8"))


def title(name: str) -> str:
    """Look up the first heading of a page."""
    notebook, text = (ROOT / "book" / f"{name}.{kind}" for kind in ("ipynb", "md"))
    source = (
        chapter(name).cells[0].source
        if notebook.exists()
        else text.read_text("utf-8")
    )
    return re.search(r"^# (.*)", source, re.MULTILINE)[1]


def setting(cell: NotebookNode, part: str, key: str) -> str:
    """Look up what the book reads from a cell's metadata."""
    return cell.metadata.get("mystnb", {}).get(part, {}).get(key, "")


def figures() -> dict[str, str]:
    """Number the figures of each chapter, for notebooks outside the book."""
    numbers = {}
    for names in parts().values():
        for name in names:
            named = [
                setting(cell, "figure", "name") for cell in chapter(name).cells
            ]
            for number, figure in enumerate(filter(None, named), 1):
                numbers[figure] = f"Figure {number}"
    return numbers


# A figure to move, around the picture that is shown where no script runs.
EMBEDDED = re.compile(r"<div>\n<(iou-\w+).*?</\1>\n</div>", re.DOTALL)
MOVABLE = "*In the book there is a figure here that can be moved.*"


def plain(text: str, numbers: dict[str, str]) -> str:
    """Write the book's references as words, for readers outside the book."""

    def words(match: re.Match) -> str:
        role, content = match.groups()
        shown = re.sub(r"\s*<[^>]*>$", "", content)
        if role == "numref":
            return numbers.get(content, "the figure")
        if role == "doc" and shown == content:
            return f"*{title(content)}*"
        if role == "eq":
            return f"equation ({content.removeprefix('eq-')})"
        if role.startswith("cite"):
            keys = (
                re.sub(r"(\d+)$", r" \1", key.strip()) for key in content.split(",")
            )
            cited = ", ".join(key[:1].upper() + key[1:] for key in keys)
            return cited if role == "cite:t" else f"({cited})"
        return f"`{shown}`" if role in ("func", "class", "mod") else shown

    text = EMBEDDED.sub(MOVABLE, text)
    text = re.sub(r"(?<!`)\{([a-z:]+)\}`([^`]*)`", words, text)
    return re.sub(r"(\$\$) \((eq-[\w-]+)\)$", r"\1", text, flags=re.MULTILINE)


# What a chapter reads lies in the source of the book, and a notebook travels alone.
MEASURED = re.compile(r'Path\("\.\./(benchmarks/\w+\.json)"\)\.read_text\([^)]*\)')


def with_measurements(cells: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Put what a cell reads from a file into a folded cell before it."""
    for cell in cells:
        if cell.cell_type == "code" and (file := MEASURED.search(cell.source)):
            stored = (ROOT / file[1]).read_text("utf-8").strip()
            measured = new_code_cell(f'measurements = r"""\n{stored}\n"""')
            fold(measured, "The measurements that this chapter reads")
            yield measured
            cell.source = MEASURED.sub("measurements", cell.source)
        yield cell


# Exercises


def check_in(text: str) -> str:
    """Find the call of ``check`` that an exercise or a solution ends with."""
    found = re.search(r"(?<![\w.])check\([\w, ]+\)(?=`|$)", text, re.MULTILINE)
    return found[0] if found else ""


def solutions(name: str) -> list[tuple[str, str]]:
    """Give each solution with its check, under the names that were asked for."""
    asked, found = "", []
    names: dict[str, str] = {}

    def named_as_asked(word: re.Match) -> str:
        return names.get(word[0], word[0])

    for cell in chapter(name).cells:
        if cell.cell_type == "markdown":
            asked = check_in(cell.source)
        elif is_solution(cell):
            if asked:
                own, wanted = (
                    arguments(check) for check in (check_in(cell.source), asked)
                )
                names |= dict(zip(own, wanted, strict=True))
            found.append((re.sub(r"\b\w+\b", named_as_asked, cell.source), asked))
            asked = ""
    return found


def arguments(check: str) -> list[str]:
    """Name what a check is called with."""
    return re.findall(r"\w+", check)[1:]


def question(check: str, known: set[str]) -> Iterator[NotebookNode]:
    """Give the cells that stand in a student's notebook for a solution."""
    stubs = [
        f'def {name}(*arguments):\n    raise NotImplementedError("your turn")'
        for name in arguments(check)
        if name not in known
    ]
    source = "\n\n\n".join(stubs) or "# Your turn"
    yield new_code_cell(source, metadata={"tags": [YOUR_TURN]})
    if check:
        yield new_code_cell(check)


def outside(
    notebook: NotebookNode, numbers: dict[str, str], *, tells_all: bool
) -> NotebookNode:
    """Put captions below figures, write references as words, and unfold cells.

    Those that give an answer away stay folded unless it `tells_all`.
    """
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = plain(cell.source, numbers)
        caption, figure = (
            setting(cell, "figure", "caption"),
            setting(cell, "figure", "name"),
        )
        is_secret, shown = gives_away(cell) and not tells_all, prompt(cell)
        cell.metadata = NotebookNode(
            tags=[t for t in cell.metadata.get("tags", []) if t == YOUR_TURN]
        )
        if is_secret:
            fold(cell, shown)
        cells.append(cell)
        if figure in numbers:
            cells.append(
                new_markdown_cell(plain(f"*{numbers[figure]}.* {caption}", numbers))
            )
    notebook.cells = list(with_measurements(cells))
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def student(name: str, numbers: dict[str, str]) -> NotebookNode:
    """Make the edition that stops at the first exercise that is not done."""
    notebook = chapter(name)
    checks = iter([check for _, check in solutions(name)])
    known: set[str] = set()
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        if is_solution(cell):
            cells += question(next(checks), known)
        else:
            cells.append(cell)
            if cell.cell_type == "code":
                known |= set(re.findall(r"^def (\w+)", cell.source, re.MULTILINE))
    notebook.cells = cells
    return outside(notebook, numbers, tells_all=False)


def instructor(name: str, numbers: dict[str, str]) -> NotebookNode:
    """Make the edition with the solutions in sight."""
    return outside(chapter(name), numbers, tells_all=True)


def put_in(notebook: NotebookNode, name: str) -> NotebookNode:
    """Put the official solutions into a student's notebook."""
    places = [
        cell
        for cell in notebook.cells
        if YOUR_TURN in cell.metadata.get("tags", [])
    ]
    for cell, (answer, _) in zip(places, solutions(name), strict=True):
        cell.source = answer
    return notebook


# Slides

MATHJAX = "mathjax-tex-svg.js"
# What TeX has between dollars is not Markdown.
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL)
PLACE = "\ue000"


def rendered(text: str) -> str:
    """Turn Markdown into HTML and leave formulas as they are."""
    body = MarkdownIt().render(FORMULA.sub(PLACE, text))
    for formula in FORMULA.findall(text):
        body = body.replace(PLACE, html.escape(formula), 1)
    return body


def drawing(cell: NotebookNode) -> str:
    """Look up the SVG that a cell has drawn."""
    outputs = (output.get("data", {}) for output in cell.get("outputs", []))
    drawings = (
        data["image/svg+xml"] for data in outputs if "image/svg+xml" in data
    )
    return next(drawings, "")


def picture(cell: NotebookNode) -> str:
    """Write the drawing of a cell as an image that needs no other file."""
    if not (svg := drawing(cell)):
        return ""
    data = base64.b64encode(svg.encode()).decode()
    alt = html.escape(setting(cell, "image", "alt"))
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{alt}">'


def is_wide(svg: str) -> bool:
    """Tell whether a drawing leaves room for words below it, and none beside it."""
    width, height = re.search(r'viewBox="\S+ \S+ (\S+) (\S+)"', svg).groups()
    return float(width) > 1.4 * float(height)


def slide(*content: str, kind: str = "words") -> str:
    """Wrap what one slide shows."""
    return f'<section class="{kind}">\n' + "\n".join(content) + "\n</section>"


def picture_slide(heading: str, cell: NotebookNode, numbers: dict[str, str]) -> str:
    """Show a drawing and its caption, which stands beside it or below it."""
    caption = rendered(plain(setting(cell, "figure", "caption"), numbers))
    kind = "wide" if is_wide(drawing(cell)) else "tall"
    words = f'<div class="caption">{caption}</div>'
    return slide(heading, picture(cell), words, kind=kind)


# A formula in a line of its own, and the sentence that leads to it.
LED_TO = re.compile(r"(?:^([^\n#$][^\n]*)\n\n)?^(\$\$.+?\$\$)", re.M | re.S)


def chapter_slides(name: str, numbers: dict[str, str]) -> Iterator[str]:
    """Give a chapter's goals, formulas, pictures, first exercise and summary."""
    heading = ""
    for cell in chapter(name).cells:
        if drawing(cell):
            yield picture_slide(heading, cell, numbers)
        if cell.cell_type != "markdown":
            continue
        for piece in re.split(
            r"^(?=#{1,3} )", plain(cell.source, numbers), flags=re.M
        ):
            first, _, text = piece.partition("\n")
            if first.startswith("# "):
                goals = re.sub(
                    r"^> ?", "", text.strip().split("\n\n")[0], flags=re.M
                )
                heading = rendered(f"#{first}")
                yield slide(rendered(first), rendered(goals))
            elif first.startswith("### 1. ") or first == "## Summary":
                yield slide(
                    rendered(first.replace("### 1.", "## Exercise:")),
                    rendered(text),
                )
            elif first.startswith("## "):
                heading = rendered(first)
            if not first.startswith("### 1. "):
                for led_to in LED_TO.finditer(piece):
                    yield slide(
                        heading,
                        rendered("\n\n".join(filter(None, led_to.groups()))),
                    )


def deck(part: str, names: list[str], numbers: dict[str, str]) -> str:
    """Write the slides of a part as a page that loads no more than MathJax."""
    whole = [name for names in parts().values() for name in names]
    chapters = "\n".join(f"{whole.index(n) + 1}. {title(n)}" for n in names)
    slides = [slide(f"<h1>{html.escape(part)}</h1>", rendered(chapters))]
    for name in names:
        slides += chapter_slides(name, numbers)
    page = (ROOT / "book" / "slides.html").read_text("utf-8")
    page = page.replace("{{title}}", html.escape(part))
    return page.replace("{{slides}}", "\n".join(slides))


# All of it


def notebooks(edition: str) -> None:
    """Write an edition of the chapters."""
    folder = OUT / edition
    folder.mkdir(parents=True, exist_ok=True)
    numbers = figures()
    make = {"student": student, "instructor": instructor}[edition]
    for name in (name for names in parts().values() for name in names):
        nbformat.write(make(name, numbers), folder / f"{name}.ipynb")


def decks() -> None:
    """Write the slides of every part."""
    folder = OUT / "slides"
    folder.mkdir(parents=True, exist_ok=True)
    numbers = figures()
    for count, (part, names) in enumerate(parts().items(), 1):
        (folder / f"part-{count}.html").write_text(
            deck(part, names, numbers), "utf-8"
        )
    for file in (MATHJAX, "LICENSE-mathjax.txt"):
        shutil.copy(ROOT / "book" / "_static" / file, folder)


PLACES = {
    "student": "student/",
    "instructor": "instructor/",
    "slides": "slides/",
    "pdf": "book.pdf",
}


def main(*kinds: str) -> None:
    """Make all of the course, or the kinds that are named."""
    OUT.mkdir(parents=True, exist_ok=True)
    for kind in kinds or PLACES:
        print(f"Making {PLACES[kind]}", flush=True)
        if kind == "slides":
            decks()
        elif kind == "pdf":
            paper.print_book(OUT / "book.pdf")
        else:
            notebooks(kind)
    print(f"Done. Open the folder {OUT}")


if __name__ == "__main__":
    main(*sys.argv[1:])
