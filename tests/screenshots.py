"""Save pictures of the built book: .venv/bin/python tests/screenshots.py OUTDIR [page...]."""

import sys
from pathlib import Path

from helpers import PAGES, chromium, open_page, reader

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for theme, width in [(t, w) for t in ("light", "dark") for w in (1280, 375)]:
            with reader(browser, theme, width) as (page, wrong):
                for name in sys.argv[2:] or PAGES:
                    open_page(page, name)
                    picture = folder / f"{Path(name).stem}-{theme}-{width}.png"
                    page.screenshot(path=picture, full_page=True)
                    print(picture, *wrong, sep="\n    ", flush=True)
                    wrong.clear()
