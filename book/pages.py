"""Change what the libraries make of a page, before it is written."""

import re
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

# What the interactive figures run on.
SCRIPTS = {
    "iou.js": "<iou-",
    "iou-playground.js": "<iou-playground",
    "iou-threshold-data.js": "<iou-threshold",
    "iou-threshold.js": "<iou-threshold",
}

# What the script of an interactive figure puts itself in the place of.
STILL = re.compile(r"(<iou-\w+[^>]*>.*?<img )", re.DOTALL)

# To a browser a formula is a picture: a line may break between it and a full stop.
STOPPED = re.compile(
    r'(<span class="math[^>]* nohighlight">[^<]*</span>[.,;:!?)’”]+)'
)

# The numbers of a box, if they are short, and a size: "(0, 0, 4, 4)", "4 × 2".
WHOLE = re.compile(r"\([−\d][\d.]{0,2}(?:, [−\d][\d.]{0,2})+\)|\d+ × \d+")
CODE_OR_MATHS = (nodes.FixedTextElement, nodes.literal, nodes.math)


class KeepTogether(SphinxPostTransform):
    """Let no line end within a box or within a size."""

    # References have their text by then.
    default_priority = 900

    def run(self, **_: Any) -> None:
        """Put in spaces at which no line breaks; a table needs its breaks."""
        for text in list(self.document.findall(nodes.Text)):
            whole = WHOLE.sub(lambda found: found[0].replace(" ", "\u00a0"), text)
            if whole != text and not _is_in((*CODE_OR_MATHS, nodes.entry), text):
                text.parent.replace(text, nodes.Text(whole))


def _is_in(kinds: tuple[type, ...], node: nodes.Node) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


# What stands where something is folded, and where it is not.
FOLD = re.compile(
    r'(<p class="collapsed [^>]*>Show ([^<(]*[^<( ])[^<]*</p>\s*'
    r'<p class="expanded [^>]*>)[^<]*'
)


# Where the text of a page ends, in characters, that one sees without scrolling, or
# a little later.
SEEN_FIRST = 5000


def add_scripts(app: Any, body: str) -> None:
    """Give a page the scripts of its interactive figures, and no other."""
    for script, sign in SCRIPTS.items():
        if sign in body:
            # Before all others, so that nobody waits who wants to drag.
            early = {"priority": 100, "defer": "defer"}
            if body.index(sign) < SEEN_FIRST:
                # It must not move what one looks at when it unfolds.
                early["blocking"] = "render"
            app.add_js_file(script, **early)


def with_late_stills(body: str) -> str:
    """Let a still picture wait that a script takes away at once."""
    return STILL.sub(r'\1loading="lazy" ', body)


def with_listed_entries(body: str) -> str:
    """Make the entries of a bibliography items: their own role is out of use."""
    return body.replace('role="doc-biblioentry"', 'role="listitem"')


def with_stops_in_place(body: str) -> str:
    """Keep a full stop or a comma in the line of the formula before it."""
    return STOPPED.sub(r'<span class="unbroken">\1</span>', body)


def with_trimmed_code(body: str) -> str:
    """Take off the empty line by which doctest tells an output from a fence."""
    return body.replace("\n\n</pre>", "\n</pre>")


def with_folds_named(body: str) -> str:
    """Call what can be hidden again what it was called before it was shown."""
    return FOLD.sub(r"\1Hide \2", body)


def deferred(script: Any) -> Any:
    """Let a script of a file wait until the page is there; others rely on one."""
    if script.filename in ("", None, "_static/documentation_options.js"):
        return script
    attributes = {**script.attributes, "defer": "defer"}
    return type(script)(script.filename, priority=script.priority, **attributes)


MENDS = (
    with_late_stills,
    with_listed_entries,
    with_stops_in_place,
    with_trimmed_code,
    with_folds_named,
)


def change(
    app: Any,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: Any,
) -> None:
    """Change a page and the scripts that it asks for."""
    if "body" in context:
        add_scripts(app, context["body"])
        for mend in MENDS:
            context["body"] = mend(context["body"])
    if pagename != "search":  # It has scripts of its own that rely on these.
        context["script_files"][:] = map(deferred, context["script_files"])


def setup(app: Any) -> dict[str, bool]:
    """Connect it to the builder."""
    app.add_post_transform(KeepTogether)
    # After all other extensions have named their scripts.
    app.connect("html-page-context", change, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
