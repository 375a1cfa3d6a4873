"""The package as a whole: what it offers, how it is documented, what importing it costs."""

import inspect
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import iou
from iou import exact

ROOT = Path(__file__).parents[1]
PUBLIC = [getattr(iou, name) for name in iou.__all__]
FUNCTIONS = list(filter(inspect.isroutine, PUBLIC))
DEFINITIONS = [
    function
    for name, function in inspect.getmembers(exact, inspect.isfunction)
    if not name.startswith("_") and function.__module__ == exact.__name__
]


def python(code):
    """Run code in an interpreter of its own, with the sources at hand."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def name_of(public):
    return f"{public.__module__.removeprefix('iou.')}.{public.__name__}"


def test_all_lists_every_public_name_in_order():
    names = {name for name, value in vars(iou).items() if not inspect.ismodule(value)}
    assert iou.__all__ == sorted(name for name in names if name[0] != "_")


def test_importing_the_package_imports_numpy_alone():
    code = """
import sys
before = set(sys.modules)
import iou
tops = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(tops - sys.stdlib_module_names))
"""
    run = python(code)
    assert (run.stdout, run.stderr) == ("['iou', 'numpy']\n", "")


def test_the_definitions_need_the_standard_library_alone():
    code = f"""
import sys
from importlib.util import module_from_spec, spec_from_file_location

sys.modules["numpy"] = None  # Importing it is an ImportError now.
spec = spec_from_file_location("exact", {str(ROOT / "iou" / "exact.py")!r})
exact = module_from_spec(spec)
spec.loader.exec_module(exact)
print(exact.iou((1, 1, 5, 5), (3, 2, 7, 6)))
"""
    run = python(code)
    assert (run.stdout, run.stderr) == ("3/13\n", "")


@pytest.mark.parametrize("public", PUBLIC, ids=name_of)
def test_what_is_public_is_documented_in_numpydoc_style(public):
    doc = inspect.getdoc(public)
    summary, blank, *_ = doc.splitlines()
    assert summary.endswith(".")
    assert not blank
    for section in ("Attributes" if inspect.isclass(public) else "Returns", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in doc
    described = re.findall(r"^([a-z]\w*(?:, \w+)*) : ", doc, flags=re.MULTILINE)
    complete = set(", ".join(described).split(", ")) >= set(inspect.signature(public).parameters)
    assert complete or "Parameters and errors are those of :func:`iou`" in " ".join(doc.split())


@pytest.mark.parametrize("function", [*FUNCTIONS, *DEFINITIONS], ids=name_of)
def test_a_public_function_is_annotated(function):
    signature = inspect.signature(function)
    assert inspect.Signature.empty not in (
        signature.return_annotation,
        *(parameter.annotation for parameter in signature.parameters.values()),
    )


def test_the_version_is_that_of_the_installed_package():
    assert version("iou") == iou.__version__
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {iou.__version__}\n" in citation
