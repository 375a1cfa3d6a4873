"""Give the entries of a bibliography a role that fits: their own is out of use."""

from typing import Any


def listed(
    app: Any,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: Any,
) -> None:
    """Make each entry an item of the list in which it stands."""
    if "body" in context:
        old, new = 'role="doc-biblioentry"', 'role="listitem"'
        context["body"] = context["body"].replace(old, new)


def setup(app: Any) -> dict[str, bool]:
    """Connect it to the builder."""
    app.connect("html-page-context", listed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
