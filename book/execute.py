"""Execute chapters in place, and store only what the next author needs to see in a diff.

`make chapters` runs this after `jupytext --sync` has brought the edits of text/*.md over.
"""

import hashlib
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def execute(path: Path) -> None:
    """Run a chapter top to bottom; leave out clock times, versions and random names."""
    chapter = nbformat.read(path, as_version=4)
    NotebookClient(
        chapter, record_timing=False, resources={"metadata": {"path": "book"}}
    ).execute()
    chapter.metadata.get("language_info", {}).pop("version", None)
    for number, cell in enumerate(chapter.cells):
        cell.metadata.pop("execution", None)
        content = f"{cell.source} {[c.source for c in chapter.cells[:number]].count(cell.source)}"
        cell.id = hashlib.sha256(content.encode()).hexdigest()[:8]
    nbformat.validate(chapter)
    nbformat.write(chapter, path)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(argument, flush=True)
        execute(Path(argument))
