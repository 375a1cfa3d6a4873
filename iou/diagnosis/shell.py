"""The checker from the shell."""

import argparse
import faulthandler
import importlib
import sys
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any

from .. import exact
from . import diagnose
from .calls import article, caught
from .recipes import MEASURES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser what ``diagnose`` takes on the command line."""
    parser.add_argument(
        "function",
        metavar="MODULE:FUNCTION",
        help="what to examine; the module is looked for in the current folder first, then among "
        "what is installed",
    )
    parser.add_argument("--fmt", choices=list(exact.FORMATS), default="xyxy", help="of its boxes")
    parser.add_argument(
        "--measure", choices=list(MEASURES), default="iou", help="what it should compute"
    )
    parser.add_argument(
        "--time-limit", type=float, default=10.0, metavar="SECONDS", help="for all calls together"
    )


def run(arguments: argparse.Namespace) -> int:
    """Examine the function that is named, print what was found, and give the exit status.

    Returns
    -------
    int
        0 if the function passed, 1 if not, 2 if there is no such function.
    """
    try:
        function = _load(arguments.function)
    except (Exception, SystemExit) as error:
        print(f"{arguments.function}: {caught(error).shown}", file=sys.stderr)
        return 2
    # A call that never leaves compiled code cannot be interrupted: then the process ends.
    if sys.__stderr__ is not None:
        patience = 2 * arguments.time_limit + 30
        faulthandler.dump_traceback_later(patience, exit=True, file=sys.__stderr__)
    try:
        diagnosis = diagnose(
            function,
            fmt=arguments.fmt,
            measure=arguments.measure,
            time_limit=arguments.time_limit,
        )
    finally:
        faulthandler.cancel_dump_traceback_later()
    print(diagnosis)
    return 0 if diagnosis.passed else 1


def _load(path: str) -> Callable[..., Any]:
    module, colon, names = path.rpartition(":")
    if not (module and colon and names):
        raise ValueError("write it as package.module:function")
    if "/" in module or "\\" in module or (module.endswith(".py") and Path(module).is_file()):
        stem = PureWindowsPath(module).stem
        raise ValueError(f"write {stem}:{names}, in the folder of the file {module}")
    found = importlib.import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    if not callable(found):
        raise TypeError(f"it is {article(found)}, and cannot be called")
    return found
