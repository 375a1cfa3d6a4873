"""Leave out of the built pages what no reader sees.

Photographs become JPEGs inside their drawings, coordinates get as many digits as a
screen shows, scripts go only where something needs them, of the libraries' style
sheets the rules stay that some page can use, and of the theme's icons those. The
notebooks keep everything as it was drawn.
"""

import base64
import re
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from PIL import Image

# What the interactive figures run on.
SCRIPTS = {
    "iou.js": "<iou-",
    "iou-playground.js": "<iou-playground",
    "iou-threshold-data.js": "<iou-threshold",
    "iou-threshold.js": "<iou-threshold",
}

EMBEDDED = re.compile(r'data:image/png;base64,\s*([^"]+)')
OUTLINE = re.compile(r'(?<= d=")[^"]+')
LONG = re.compile(r"-?\d+\.\d{3,}")
# Below this many bytes a picture is kept to the pixel.
SMALL = 20_000

RULE = re.compile(r"((?:\s*/\*.*?\*/)*)([^{}]+)\{([^{}]*)\}", re.DOTALL)
CLASS = re.compile(r"\.(-?[_a-zA-Z][\w-]*)")
FONT = re.compile(r"src:url\((\.\./vendor/fontawesome/[\w/-]+)\.woff2\)[^;}]+")
ICON = re.compile(r"\\([ef][0-9a-f]{3})\b|([\ue000-\uf8ff])")
# What the script of an interactive figure puts itself in the place of.
STILL = re.compile(r"(<iou-\w+[^>]*>.*?<img )", re.DOTALL)
# Bootstrap puts the names of these together while it runs.
ASSEMBLED = ("bs-", "tooltip", "popover")


def only_what_is_used(
    app: Any,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: Any,
) -> None:
    """Give a page the scripts that it needs, and let none of them hold it up."""
    for script, sign in SCRIPTS.items():
        if sign in context.get("body", ""):
            # Before all others, so that nobody waits who wants to drag.
            app.add_js_file(script, priority=100, defer="defer")
    # A still picture that the script takes away at once is not loaded before.
    if "body" in context:
        context["body"] = STILL.sub(r'\1loading="lazy" ', context["body"])
    if pagename != "search":  # It has scripts of its own that rely on these.
        context["script_files"][:] = map(deferred, context["script_files"])


def deferred(script: Any) -> Any:
    """Let a script of a file wait until the page is there; others rely on one."""
    if script.filename in (None, "_static/documentation_options.js"):
        return script
    attributes = {**script.attributes, "defer": "defer"}
    return type(script)(script.filename, priority=script.priority, **attributes)


def lighter_drawing(svg: str) -> str:
    """Write a drawing with fewer digits, and its photographs as JPEG."""
    svg = OUTLINE.sub(lambda outline: LONG.sub(_rounded, outline[0]), svg)
    return EMBEDDED.sub(_as_jpeg, svg)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _as_jpeg(embedded: re.Match[str]) -> str:
    png = base64.b64decode(embedded[1])
    picture = Image.open(BytesIO(png))
    if len(png) < SMALL or _is_see_through(picture):
        return embedded[0]
    colour = picture.convert("RGB")
    grey = colour.convert("L")
    if grey.convert("RGB").tobytes() == colour.tobytes():
        colour = grey
    jpeg = BytesIO()
    colour.save(jpeg, "JPEG", quality=88, subsampling=0, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg.getvalue()).decode()}"


def _is_see_through(picture: Image.Image) -> bool:
    return (
        "A" in picture.getbands() and picture.getchannel("A").getextrema()[0] < 255
    )


def lighter_style(css: str, words: set[str]) -> str:
    """Drop the rules for classes that are no words of pages and scripts."""

    def can_match(selector: str) -> bool:
        needed = CLASS.findall(re.sub(r"\([^()]*\)", "", selector))
        return all(name in words or name.startswith(ASSEMBLED) for name in needed)

    def kept(rule: re.Match[str]) -> str:
        notice, selectors, body = rule.groups()
        # Commas between brackets separate nothing; such lists are kept whole.
        listed = [selectors] if "(" in selectors else selectors.split(",")
        left = ",".join(filter(can_match, listed))
        return notice + (f"{left}{{{body}}}" if left else "")

    return re.sub(r"@media[^{}]+\{\s*\}", "", RULE.sub(kept, css))


def with_icons(css: str, folder: Path) -> str:
    """Put the few icons that a style sheet names into it, in the place of fonts."""
    icons = [
        int(code, 16) if code else ord(sign) for code, sign in ICON.findall(css)
    ]

    def embedded(source: re.Match[str]) -> str:
        font = TTFont(folder / f"{source[1]}.ttf")
        options = subset.Options(layout_features=[], name_IDs=[], hinting=False)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=icons)
        subsetter.subset(font)
        few = BytesIO()
        font.save(few)
        data = base64.b64encode(few.getvalue()).decode()
        return f"src:url(data:font/ttf;base64,{data})"

    return FONT.sub(embedded, css)


def finish(app: Any, exception: Exception | None) -> None:
    """Go over what was built."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for drawing in (out / "_images").glob("*.svg"):
        drawing.write_text(lighter_drawing(drawing.read_text("utf-8")), "utf-8")
    static = out / "_static"
    texts = [
        *out.rglob("*.html"),
        *static.glob("*.js"),
        *static.glob("scripts/*.js"),
    ]
    words = {
        word
        for text in texts
        if text.name not in ("fontawesome.js", "mathjax-tex-svg.js")
        for word in re.findall(r"[\w-]+", text.read_text("utf-8"))
    }
    for sheet in [*static.glob("styles/*.css"), *static.glob("*.min.css")]:
        css = lighter_style(sheet.read_text("utf-8"), words)
        sheet.write_text(with_icons(css, sheet.parent), "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Connect both to the builder."""
    # After all other extensions have named their scripts.
    app.connect("html-page-context", only_what_is_used, priority=900)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
