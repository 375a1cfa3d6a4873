"""Execute chapters in place, and store only what belongs into a diff.

`make chapters` runs this after `jupytext --sync` has brought the edits of text/*.md
over.
"""

import hashlib
import sys
from collections import Counter
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def execute(path: Path) -> None:
    """Run a chapter top to bottom; leave out times, versions and random names."""
    chapter = nbformat.read(path, as_version=4)
    NotebookClient(
        chapter, record_timing=False, resources={"metadata": {"path": "book"}}
    ).execute()
    chapter.metadata.get("language_info", {}).pop("version", None)
    seen: Counter[str] = Counter()
    for cell in chapter.cells:
        cell.metadata.pop("execution", None)
        name = f"{seen[cell.source]} {cell.source}"
        cell.id = hashlib.sha256(name.encode()).hexdigest()[:8]
        seen[cell.source] += 1
    nbformat.validate(chapter)
    nbformat.write(chapter, path)


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(argument, flush=True)
        execute(Path(argument))
