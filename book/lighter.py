"""Leave out of the built pages what no reader sees.

Photographs become JPEGs inside their drawings, coordinates get as many digits as a
screen shows, of the libraries' style sheets the rules stay that some page can use,
and of the theme's icons those. Files that nothing names go. The notebooks keep
everything as it was drawn.

What is left is named with a hash of its content, so that no reader's browser takes
an old file for a new one, and comes with its licences.
"""

import base64
import logging
import re
import zlib
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTFont
from PIL import Image

# It tells each table that it looks at.
logging.getLogger("fontTools").setLevel(logging.WARNING)

EMBEDDED = re.compile(r'data:image/png;base64,\s*([^"]+)')
OUTLINE = re.compile(r'(?<= d=")[^"]+')
LONG = re.compile(r"-?\d+\.\d{3,}")
# Below this many bytes a picture is kept to the pixel.
SMALL = 20_000

RULE = re.compile(r"((?:\s*/\*.*?\*/)*)([^{}]+)\{([^{}]*)\}", re.DOTALL)
CLASS = re.compile(r"\.(-?[_a-zA-Z][\w-]*)")
FONT = re.compile(r"src:url\((\.\./vendor/fontawesome/[\w/-]+)\.woff2\)[^;}]+")
ICON = re.compile(r"\\([ef][0-9a-f]{3})\b|([\ue000-\uf8ff])")
# Both themes name the icons' font so; a part of it may not have its reserved name.
RESERVED = re.compile(r"Font Awesome(?=\\? 6 )")
ICONS = "Book Icons"
OURS_UNDER_OFL = {
    13: "A part of a font under the SIL Open Font License 1.1; see the text in "
    "LICENSE-fontawesome.txt.",
    14: "https://openfontlicense.org",
}
SOURCE_MAP = re.compile(
    r"\n?(?://# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+\*/)"
)
ASSET = re.compile(
    r'(<(?:link|script)\b[^>]*"(?:\.\./)*_static/)([^"?]+)(\?[^"]*)?"'
)
# Whose files the pages load.
SHIPPED = (
    "myst-nb",
    "pydata-sphinx-theme",
    "sphinx",
    "sphinx-book-theme",
    "sphinx-copybutton",
    "sphinx-design",
    "sphinx-togglebutton",
)
# Bootstrap puts the names of these together while it runs.
ASSEMBLED = ("bs-", "tooltip", "popover")


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
        # Without the time of writing: the same icons are the same bytes.
        font = TTFont(folder / f"{source[1]}.ttf", recalcTimestamp=False)
        options = subset.Options(
            layout_features=[], name_IDs=[0, 13, 14], hinting=False
        )
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=icons)
        subsetter.subset(font)
        for record, words in OURS_UNDER_OFL.items():
            font["name"].setName(words, record, 3, 1, 0x409)
        few = BytesIO()
        font.save(few)
        data = base64.b64encode(few.getvalue()).decode()
        return f"src:url(data:font/ttf;base64,{data})"

    return RESERVED.sub(ICONS, FONT.sub(embedded, css))


def needed(out: Path) -> set[Path]:
    """Find the shared files that a page names, or a file that one names."""
    static = out / "_static"
    files = {file for file in static.rglob("*") if file.is_file()}
    found = set(static.glob("LICENSE*"))
    left = [page for page in out.rglob("*.html") if page not in files]
    while left:
        text = left.pop().read_text("utf-8")
        named = {file for file in files - found if file.name in text}
        found |= named
        left += [file for file in named if file.suffix in (".css", ".js")]
    return found


def drop_unneeded(out: Path) -> None:
    """Delete the shared files that no page needs, and the folders left empty."""
    kept = needed(out)
    for place in sorted((out / "_static").rglob("*"), reverse=True):
        if place.is_file() and place not in kept:
            place.unlink()
        elif place.is_dir() and not any(place.iterdir()):
            place.rmdir()


def add_licences(static: Path) -> None:
    """Put the licences of the packages beside the files that come from them."""
    for package in SHIPPED:
        licence = next(
            file
            for file in distribution(package).files or ()
            if re.search(r"\.dist-info/(licenses/)?LICENSE", str(file))
        )
        text = licence.read_text("utf-8")
        (static / f"LICENSE-{package}.txt").write_text(text, "utf-8")


def versioned(page: str, versions: dict[str, str]) -> str:
    """Name each style sheet and script of a page with the version that it has."""

    def named(asset: re.Match[str]) -> str:
        tag, name, old = asset.groups("")
        new = f"?v={versions[name]}" if name in versions else old
        return f'{tag}{name}{new}"'

    return ASSET.sub(named, page)


def finish(app: Any, exception: Exception | None) -> None:
    """Go over what was built."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for drawing in (out / "_images").glob("*.svg"):
        drawing.write_text(lighter_drawing(drawing.read_text("utf-8")), "utf-8")
    static = out / "_static"
    pages = [file for file in out.rglob("*.html") if static not in file.parents]
    sheets = [*static.glob("styles/*.css"), *static.glob("*.min.css")]
    scripts = [*static.glob("*.js"), *static.glob("scripts/*.js")]
    for file in (*sheets, *scripts):
        file.write_text(SOURCE_MAP.sub("", file.read_text("utf-8")), "utf-8")
    words = {
        word
        for text in (*pages, *scripts)
        if text.name not in ("fontawesome.js", "mathjax-tex-svg.js")
        for word in re.findall(r"[\w-]+", text.read_text("utf-8"))
    }
    for sheet in sheets:
        css = lighter_style(sheet.read_text("utf-8"), words)
        sheet.write_text(with_icons(css, sheet.parent), "utf-8")
    drop_unneeded(out)
    add_licences(static)
    versions = {
        file.relative_to(static).as_posix(): f"{zlib.crc32(file.read_bytes()):08x}"
        for file in static.rglob("*")
        if file.suffix in (".css", ".js")
    }
    for page in pages:
        html = versioned(page.read_text("utf-8"), versions)
        page.write_text(html, "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Connect it to the builder."""
    # The theme writes a style sheet when all is built, too.
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
