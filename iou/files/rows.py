"""Rows of a file, read column by column, and the list of all that is wrong in them."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .. import exact
from .values import Column, Kind, listed

# Problems that a message lists; how many more there are, it says.
_LISTED = 10


class DataFileError(ValueError):
    """What is wrong in the files, row by row.

    Attributes
    ----------
    problems : tuple of str
        Every bad row with its file and the first thing that is wrong in it. The message lists the
        first ten and counts the others.

    Examples
    --------
    >>> from iou import read_coco
    >>> read_coco({"images": []}, [])
    Traceback (most recent call last):
        ...
    iou.files.DataFileError: 2 problems:
      truths: there is no list 'categories'
      truths: there is no list 'annotations'
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(self._message())

    def _message(self) -> str:
        if len(self.problems) == 1:
            return self.problems[0]
        lines = [f"{len(self.problems)} problems:", *self.problems[:_LISTED]]
        if len(self.problems) > _LISTED:
            lines.append(f"and {len(self.problems) - _LISTED} more")
        return "\n  ".join(lines)


class Problems:
    """What is wrong so far: in files as a whole, and in the rows of tables."""

    def __init__(self) -> None:
        self._of_files: list[str] = []
        self._of_rows: list[dict[int, str]] = []

    def add(self, where: str, what: str) -> None:
        """Add what is wrong in a file as a whole."""
        self._of_files.append(f"{where}: {what}")

    def of_table(self) -> dict[int, str]:
        """Begin a table, whose bad rows are to be put into what this returns."""
        self._of_rows.append({})
        return self._of_rows[-1]

    def stop_if_any(self) -> None:
        """Raise if anything is wrong so far."""
        rows = chain.from_iterable(sorted(table.items()) for table in self._of_rows)
        if found := [*self._of_files, *(text for _, text in rows)]:
            raise DataFileError(found)


class Rows:
    """Rows of a file, read column by column.

    A row is reported for the first thing that is wrong in it. What stands in the columns for a bad
    row is of no account.
    """

    def __init__(self, count: int, where: Callable[[int], str], problems: Problems) -> None:
        self.count, self.where, self.problems = count, where, problems.of_table()
        self.good = np.ones(count, dtype=bool)

    def report(self, row: int, what: str) -> None:
        """Say what is wrong in a row."""
        self.good[row] = False
        self.problems[row] = f"{self.where(row)}: {what}"

    def reject(self, bad: Column, what: Callable[[int], str]) -> None:
        """Report the bad rows among those that are good so far."""
        for row in np.flatnonzero(bad & self.good).tolist():
            self.report(row, what(row))

    def read(self, name: str, values: Sequence[Any], kind: Kind) -> Column:
        """Read a column of values, all at once if that goes well."""
        try:
            if kind.all is not None:
                return kind.all(values)
        except (ValueError, TypeError, OverflowError):
            pass
        column: Column = np.zeros((self.count, *kind.width), kind.dtype)
        for row, value in enumerate(values):
            if self.good[row]:
                try:
                    column[row] = kind.one(value)
                except ValueError as error:
                    self.report(row, f"{name} {error}")
        return column

    def reject_repeated(self, name: str, ids: Column) -> None:
        """Reject rows whose id an earlier one has."""
        rows = np.flatnonzero(self.good)
        _, first, back = np.unique(ids[rows], return_index=True, return_inverse=True)
        first_row = np.arange(self.count)
        first_row[rows] = rows[first[back]]
        self.reject(
            first_row != np.arange(self.count),
            lambda row: f"{name} {ids[row]} again, as in {self.where(int(first_row[row]))}",
        )

    def reject_bad_sides(self, boxes: Column, fmt: str) -> None:
        """Reject boxes that end before they start."""
        fields = exact.field_names(fmt)
        for low, high in ((0, 2), (1, 3)):
            is_side = fields[high] in ("w", "h")
            least, below = (0, "0") if is_side else (boxes[:, low], fields[low])

            def what(row: int, high: int = high, below: str = below) -> str:
                return f"box ({listed(boxes[row])}): {fields[high]} < {below}"

            self.reject(boxes[:, high] < least, what)
