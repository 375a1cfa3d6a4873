"""What a page of the book folds away, and how notebooks outside the book do it."""

from nbformat import NotebookNode


def is_solution(cell: NotebookNode) -> bool:
    """Whether a cell is folded whole: a solution, or the answer to a guess."""
    return "hide-cell" in cell.metadata.get("tags", [])


def prompt(cell: NotebookNode) -> str:
    """Look up what stands where a cell is folded that is no mere drawing."""
    return cell.metadata.get("mystnb", {}).get("code_prompt_show", "")


def gives_away(cell: NotebookNode) -> bool:
    """Whether a cell tells what its reader may want to find without it."""
    return is_solution(cell) or bool(prompt(cell))


def fold(cell: NotebookNode, shown: str) -> None:
    """Fold a cell in Jupyter and on Colab, and forget what it has printed."""
    cell.metadata.update(
        cellView="form", jupyter={"source_hidden": True, "outputs_hidden": True}
    )
    cell.source = f"# @title {shown}\n{cell.source}"
    cell.outputs, cell.execution_count = [], None
