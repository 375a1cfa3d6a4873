"""Folders of text files: which files there are, their lines, and the fields of a line."""

import codecs
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath

import numpy as np

from .rows import Problems, Rows
from .values import NUMBER_IN, Column, Kind, listed, shown

FilePath = str | os.PathLike[str]
Texts = Sequence[str | None]
# A file, a place in it, and what stands there.
Line = tuple[Path, int, Texts]
# Kinds of files in which a line is more, or less, than one name.
_NO_LISTS = {".json": "JSON", ".xml": "XML", ".yaml": "YAML", ".yml": "YAML"}
_PICTURES = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}


def files_in(folder: FilePath, suffix: str, problems: Problems) -> dict[str, Path]:
    """Find the files of one kind in a folder, by their names without the suffix, sorted."""
    found: dict[str, Path] = {}
    for path in sorted(Path(folder).iterdir()):
        if path.suffix.lower() == suffix:
            if path.stem in found:
                problems.add(str(path), f"is there twice, also as {found[path.stem].name}")
            found[path.stem] = path
    return found


def reject_none(folder: FilePath, files: Collection[Path], kind: str, problems: Problems) -> None:
    """Report a folder without a file of its kind: it will not be the one that was meant."""
    if not files:
        problems.add(str(folder), f"there is no {kind}")


def lines_of(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Read the lines of a text that are not blank, each with its number."""
    data = path.read_bytes()
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        problems.add(str(path), f"is no Unicode text: {error}")
        return
    for number, line in enumerate(text.split("\n"), 1):
        if stripped := line.strip():
            yield number, stripped


def fields_of(path: Path, problems: Problems, maxsplit: int = -1) -> list[Line]:
    """Cut lines into fields; with `maxsplit`, only so often, from the right."""
    return [
        (path, number, line.rsplit(None, maxsplit)) for number, line in lines_of(path, problems)
    ]


def read_names(
    source: FilePath | Sequence[str],
    what: str,
    problems: Problems,
    name_of: Callable[[str], str] = str,
) -> list[str]:
    """Read a list of names, without which nothing more can be read; a file has one on each line."""
    if isinstance(source, str | os.PathLike):
        what = called(source, what)
        if kind := _NO_LISTS.get(Path(source).suffix.lower()):
            problems.add(what, f"is {kind}; write one name on each line of a text file")
            problems.stop_if_any()
        source = [line for _, line in lines_of(Path(source), problems)]
    names = list(map(name_of, source))
    if not names:
        # A file that is no text has no names, and is not empty.
        problems.stop_if_any()
        problems.add(what, "is empty; there should be one name on each line")
        problems.stop_if_any()
    reject_repeated(names, what, problems)
    return names


def called(source: object, what: str) -> str:
    """Tell how a message calls what a caller gave: a file by its path."""
    return str(source) if isinstance(source, str | os.PathLike) else what


def reject_repeated(names: Iterable[str | None], where: str, problems: Problems) -> None:
    """Report names that are in a list more than once."""
    for name, count in Counter(names).items():
        if count > 1 and name is not None:
            problems.add(where, f"{shown(name)} is there {count} times")


def image_name(line: str) -> str:
    """Take the name of an image from the path of a picture."""
    path = PureWindowsPath(line)
    return path.stem if path.suffix.lower() in _PICTURES else path.name


class Fields(Rows):
    """Lines of text files, cut into fields; or elements of XML."""

    def __init__(
        self,
        lines: Sequence[Line],
        names: Sequence[str],
        problems: Problems,
        *,
        unit: str = "line",
        hints: Mapping[int, str] | None = None,
    ) -> None:
        def where(row: int) -> str:
            path, number, _ = lines[row]
            return f"{path}, {unit} {number}"

        super().__init__(len(lines), where, problems)
        fields = [line for _, _, line in lines]
        counts = np.fromiter(map(len, fields), np.int64, self.count)
        self.reject(
            counts != len(names),
            lambda row: (
                f"there are {counts[row]} fields, not {len(names)} ({' '.join(names)})"
                + (hints or {}).get(int(counts[row]), "")
            ),
        )
        if not self.good.all():
            blank = [None] * len(names)
            fields = [line if good else blank for line, good in zip(fields, self.good, strict=True)]
        self.columns = dict(
            zip(names, zip(*fields, strict=True) if fields else [()] * len(names), strict=True)
        )

    def column(self, name: str, kind: Kind) -> Column:
        """Read a field of every line."""
        return self.read(name, self.columns[name], kind)

    def boxes(self, *names: str) -> Column:
        """Read several numbers of every line, side by side."""
        return np.stack([self.column(name, NUMBER_IN) for name in names], axis=1)

    def sizes(self) -> Column:
        """Read the sizes of images, which are above 0."""
        sizes = self.boxes("width", "height")
        self.reject(
            np.any(sizes <= 0, axis=1), lambda row: f"({listed(sizes[row])}) is not above 0"
        )
        return sizes
