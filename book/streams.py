"""Show what a cell prints as it was printed.

While a cell runs, its output comes in parts. MyST-NB ends a line at each of them.
"""

from typing import Any

from myst_nb.core import render
from nbformat import NotebookNode


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join the parts of each stream, and leave the text as it is."""
    whole: list[NotebookNode] = []
    streams: dict[str, NotebookNode] = {}
    for output in outputs:
        if output.output_type != "stream":
            whole.append(output)
        elif output.name in streams:
            streams[output.name].text += output.text
        else:
            streams[output.name] = NotebookNode(output)
            whole.append(streams[output.name])
    return whole


def setup(app: Any) -> dict[str, bool]:
    """Put it in the place of MyST-NB's own."""
    render.coalesce_streams = joined
    return {"parallel_read_safe": True, "parallel_write_safe": True}
