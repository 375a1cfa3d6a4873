"""Calling a function, whatever it wants and whatever it does."""

import ctypes
import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from numbers import Complex, Real
from typing import Any

from .pairs import Box, Pair


@dataclass(frozen=True)
class Form:
    """A way to hand two boxes to a function."""

    name: str
    pack: Callable[[Box], Any]
    table: bool = False
    apart: bool = False
    package: Any = None  # NumPy or PyTorch, for arrays.


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    Attributes
    ----------
    shown : str
        For a reader.
    number : float, optional
        None if it is NaN, infinite or no number at all.
    outcome : {"number", "undefined", "refused", "failed", "no number"}
        Undefined are NaN, infinity and ZeroDivisionError; refused is what a ValueError or an
        AssertionError says, failed is any other exception.
    container : str
        What the number came in, if it did not come alone.
    changed : bool
        Whether the boxes that the function was given have changed.
    """

    shown: str
    number: float | None = None
    outcome: str = "no number"
    container: str = ""
    changed: bool = False


def _array_form(numpy: Any, dtype: str, table: bool) -> Form:
    shape = "(1, 4)" if table else "(4,)"
    return Form(
        f"two arrays of {dtype} and shape {shape}",
        lambda box: numpy.array([box] if table else box, dtype=dtype),
        table=table,
        package=numpy,
    )


def _tensor_form(torch: Any, dtype: str, table: bool) -> Form:
    shape = "(1, 4)" if table else "(4,)"
    return Form(
        f"two tensors of {dtype} and shape {shape}",
        lambda box: torch.tensor([box] if table else box, dtype=getattr(torch, dtype)),
        table=table,
        package=torch,
    )


def forms() -> list[Form]:
    """List the ways to call, simplest first; libraries only if they are there."""
    forms = [Form("two tuples", tuple), Form("two lists", list)]
    try:
        import numpy as np
    except ImportError:
        pass
    else:
        forms += [_array_form(np, "float64", table) for table in (False, True)]
    forms.append(Form("two lists of one box", lambda box: [list(box)], table=True))
    if torch := sys.modules.get("torch"):
        forms += [_tensor_form(torch, "float64", table) for table in (False, True)]
    forms.append(Form("eight numbers", tuple, apart=True))
    return forms


def retyped(form: Form, dtype: str) -> Form | None:
    """Give the same form of arrays with another type of number, if there is one."""
    if getattr(form.package, dtype, None) is None:
        return None
    make = _tensor_form if form.package.__name__ == "torch" else _array_form
    return make(form.package, dtype, form.table)


def _call(function: Callable[..., Any], form: Form, pair: Pair) -> Answer:
    given = [form.pack(box) for box in pair]
    try:
        result = function(*given[0], *given[1]) if form.apart else function(*given)
        answer = _read(result)
    except BaseException as error:
        answer = caught(error)
    fresh = [form.pack(box) for box in pair]
    return replace(answer, changed=list(map(_bare, given)) != list(map(_bare, fresh)))


def _bare(boxes: Any) -> Any:
    return boxes.tolist() if hasattr(boxes, "tolist") else boxes


def caught(error: BaseException) -> Answer:
    """Tell of an exception; it may be one that cannot even be printed."""
    try:
        message = " ".join(str(error).split())
    except BaseException:
        message = ""
    kind = type(error).__name__
    shown = f"{kind}: {message[:120]}" if message else kind
    if isinstance(error, (ZeroDivisionError, FloatingPointError, InvalidOperation)):
        return Answer(shown, outcome="undefined")
    return Answer(
        shown, outcome="refused" if isinstance(error, (ValueError, AssertionError)) else "failed"
    )


def _read(result: Any) -> Answer:
    """Find the number in what a function returned."""
    container = ""
    inside = result
    shape = getattr(result, "shape", None)
    if isinstance(shape, tuple):
        if math.prod(shape) != 1:
            return Answer(f"{article(result)} of shape {tuple(shape)}")
        container = f"{article(result)} of shape {tuple(shape)}" if shape else ""
        inside = result.item()
    for _ in range(3):  # A list may be its own element.
        if isinstance(inside, (list, tuple)):
            if len(inside) != 1:
                return Answer(f"{article(inside)} of {len(inside)} elements")
            container = container or f"{article(inside)} of one element"
            inside = inside[0]
    if inside is None or isinstance(inside, bool):
        return Answer(str(inside))
    if isinstance(inside, (str, bytes)) or (
        isinstance(inside, Complex) and not isinstance(inside, Real)
    ):
        return Answer(article(inside))
    if not isinstance(inside, (Real, Decimal)) and not hasattr(type(inside), "__float__"):
        return Answer(article(inside))
    try:
        number = float(inside)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        shown = "NaN" if math.isnan(number) else "infinity"
        return Answer(shown, None, "undefined", container)
    return Answer(f"{number:.6g}", number, "number", container)


def article(thing: Any) -> str:
    """Name the type of a thing."""
    name = type(thing).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


class Caller:
    """Calls a function in a thread of its own, and gives up when the time is up."""

    def __init__(self, function: Callable[..., Any], seconds: float) -> None:
        self._function = function
        self._seconds_left = seconds
        self._patience = seconds / 2
        self.calls = 0
        self.interrupted_at: Pair | None = None
        self.stuck = False

    def ask(self, form: Form, pairs: Sequence[Pair]) -> list[Answer]:
        """Call it for each pair; there are fewer answers than pairs if the time is up."""
        answers: list[Answer] = []
        if self.interrupted_at is not None:
            return answers
        stop = threading.Event()
        started = last_began = time.monotonic()

        def work() -> None:
            nonlocal last_began
            for pair in pairs:
                if stop.is_set():
                    return
                last_began = time.monotonic()
                answers.append(_call(self._function, form, pair))

        thread = threading.Thread(target=copy_context().run, args=(work,), daemon=True)
        try:
            thread.start()
        except RuntimeError:  # There are no threads in a browser.
            work()
        else:
            thread.join(max(0.0, self._seconds_left))
        ended = time.monotonic()
        self._seconds_left -= ended - started
        stop.set()
        in_time = answers.copy()
        if len(in_time) < len(pairs):
            self.interrupted_at = pairs[len(in_time)]
            self.stuck = ended - last_began > self._patience
            _interrupt(thread)
        self.calls += len(in_time)
        return in_time


def _interrupt(thread: threading.Thread) -> None:
    """Ask a thread to end, so that an endless loop does not run on behind the caller's back."""
    with suppress(AttributeError):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
        )
