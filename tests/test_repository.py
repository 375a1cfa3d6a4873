"""What README and CONTRIBUTING tell a newcomer exists, and what is used is declared."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDES = ["README.md", "CONTRIBUTING.md"]
RULES = re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
COMMAND = re.compile(r"\bmake ([\w-]+)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^]]*\]\(([^)\s]+)\)")


@pytest.fixture(params=GUIDES)
def guide(request: pytest.FixtureRequest) -> str:
    return (ROOT / request.param).read_text()


def test_no_placeholder_is_left(guide: str) -> None:
    """A word in capitals, as FIGURES or TODO, stands for what is still to be written."""
    prose = LINK.sub("", CODE.sub("", guide))
    assert re.findall(r"\b(?!COCO\b)[A-Z]{4,}\b|\bTBD\b|\blorem\b|\?\?|<[a-z]+ here>", prose) == []


def test_every_make_command_exists(guide: str) -> None:
    commands = {name for code in CODE.findall(guide) for name in COMMAND.findall(code)}
    assert commands
    assert commands <= set(RULES)


def test_without_make_the_same_is_run() -> None:
    readme = (ROOT / "README.md").read_text()
    table = "\n".join(line for line in readme.splitlines() if line.startswith("|"))
    told = re.findall(r"`(\.venv/bin/(?:python|jupyter-book) [^`]+)`", table)
    lines = (ROOT / "Makefile").read_text().replace("$(BIN)", ".venv/bin").splitlines()
    assert len(told) == 2
    assert set(told) <= {line.strip() for line in lines}


def test_every_file_that_a_link_leads_to_exists(guide: str) -> None:
    local = [link for link in LINK.findall(guide) if "://" not in link]
    assert [link for link in local if not (ROOT / link.partition("#")[0]).exists()] == []


def test_every_file_and_folder_named_exists() -> None:
    """Those of a clone: the environment, the built book and the texts are made later."""
    guide = "\n".join((ROOT / name).read_text() for name in GUIDES)
    named = re.findall(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:md|py|toml|txt|yml))`", guide)
    here = [path for path in named if not re.match(r"text/|_build/|\.venv/", path)]
    assert here
    assert [path for path in here if not (ROOT / path).exists()] == []


def test_a_command_of_the_makefile_is_phony_and_says_what_it_does() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    assert sorted(phony) == sorted(RULES)
    described = re.findall(r"^([\w-]+):.*  ## \w", makefile, re.MULTILINE)
    assert sorted(described) == sorted(RULES)


def test_results_are_thrown_away_when_anything_that_a_chapter_uses_changes() -> None:
    makefile = (ROOT / "Makefile").read_text()
    needs = re.search(r"^_build/\.jupyter_cache: \$\(wildcard ([^)]*)\)", makefile, re.MULTILINE)
    watched = {path for pattern in needs[1].split() for path in ROOT.glob(pattern)}
    unwatched = {path for path in ROOT.glob("iou/**/*.*") if "__pycache__" not in path.parts}
    assert {path.name for path in unwatched - watched} == {"py.typed"}


def test_every_job_ends_by_itself() -> None:
    for workflow in ROOT.glob(".github/workflows/*.yml"):
        text = workflow.read_text()
        assert text.count("runs-on:") == text.count("timeout-minutes:") > 0


def test_actions_are_named_by_their_commit() -> None:
    used = [
        action
        for workflow in ROOT.glob(".github/workflows/*.yml")
        for action in re.findall(r"uses: (.*)", workflow.read_text("utf-8"))
    ]
    assert len(used) >= 7
    assert [u for u in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", u)] == []


def test_no_action_runs_where_the_repository_can_be_written() -> None:
    jobs = re.split(r"^  (?=\w+:$)", (ROOT / ".github/workflows/ci.yml").read_text(), flags=re.M)
    writing = [job for job in jobs if "contents: write" in job]
    assert len(writing) == 1
    assert "uses:" not in writing[0]


def imported(tree: ast.AST) -> Iterator[str]:
    """Name the packages that a file cannot be without, by their first name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def declared(extra: str) -> set[str]:
    """Name what an extra installs, with all that it takes from other extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names: set[str] = set()
    for need in [*project["optional-dependencies"][extra], *project["dependencies"]]:
        name, others = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", need).groups()
        names |= {name}.union(*map(declared, others.split(",") if others else []))
    return names


@pytest.mark.parametrize(("folder", "extra"), [("book", "book"), ("tests", "test")])
def test_what_is_imported_is_declared(folder: str, extra: str) -> None:
    parts = "book", "tests", "benchmarks"
    own = {"iou"} | {file.stem for part in parts for file in ROOT.glob(f"{part}/*.py")}
    texts = [file.read_text("utf-8") for file in (ROOT / folder).glob("*.py")]
    names = {name for text in texts for name in imported(ast.parse(text))}
    packages = packages_distributions()
    needed = {
        name: {package.lower().replace("_", "-") for package in packages.get(name, [])}
        for name in names - own - sys.stdlib_module_names
    }
    assert "nbformat" in needed
    assert {n: p for n, p in needed.items() if not p & declared(extra)} == {}
