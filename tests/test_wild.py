"""What is stored of other libraries' functions is what the checker says of them."""

import json
import tomllib
from pathlib import Path

import pytest

from iou import exact

FOLDER = Path(__file__).parents[1] / "benchmarks"
PROJECT = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text("utf-8"))["project"]
PEERS = [pin.partition("==")[0] for pin in PROJECT["optional-dependencies"]["peers"]]
STORED = json.loads((FOLDER / "wild.json").read_text("utf-8"))


@pytest.fixture
def wild(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import wild

    return wild


def test_every_function_has_been_examined_once(wild):
    assert [function["call"] for function in STORED] == [subject.call for subject in wild.SUBJECTS]
    for function in STORED:
        assert function["version"]
        assert function["date"] > "2026"


def test_each_finding_shows_what_is_wrong_by_exact_fractions():
    for function in STORED:
        for finding in function["findings"]:
            for example in finding["examples"]:
                if finding["kind"] == "0/0" and example["right"] == "0, by convention":
                    union = exact.union(*example["pair"], fmt=function["fmt"])
                    assert union == 0
                    continue
                measure = getattr(exact, function["measure"])
                right = float(measure(*example["pair"], fmt=function["fmt"]))
                assert float(example["right"].rpartition(" ")[2]) == pytest.approx(right, rel=1e-5)
                assert example["returned"] != example["right"]


@pytest.mark.parametrize("stored", STORED, ids=lambda function: function["call"])
def test_what_is_stored_can_be_repeated(wild, peer, stored):
    subject = next(s for s in wild.SUBJECTS if s.call == stored["call"])
    if subject.package in PEERS:
        peer(subject.module)
    else:
        pytest.importorskip(subject.module, reason=f"{subject.package} is for `make wild` alone")
    found = wild.examine(subject)
    if found["version"] != stored["version"]:
        pytest.skip(f"{subject.package} {stored['version']} was examined, not {found['version']}")
    assert json.loads(json.dumps({**found, "date": stored["date"]})) == stored


def test_a_finding_is_about_the_formula_unless_it_is_known_not_to_be(wild):
    kinds = {f["name"]: f["kind"] for function in STORED for f in function["findings"]}
    assert kinds["wrong diagonal"] == "formula"
    assert kinds["no answer for an empty union"] == "0/0"
    assert kinds["integers overflow"] == "integers"


def test_what_is_not_installed_stays_as_it_was(wild, monkeypatch, capsys):
    absent = wild.Subject("no_such_library", "no_such_library.iou(a, b)")
    unknown = wild.Subject("no_such_library", "no_such_library.giou(a, b)", "giou")
    monkeypatch.setattr(wild, "SUBJECTS", (absent, unknown))
    before = [{"call": absent.call, "version": "1.0"}, {"call": "gone(a, b)"}]
    assert wild.survey(before) == before[:1]
    assert "no_such_library is not installed" in capsys.readouterr().out


def test_the_results_are_written_beside_the_benchmark_or_elsewhere(wild, monkeypatch, tmp_path):
    monkeypatch.setattr(wild, "SUBJECTS", ())
    monkeypatch.setattr(wild.argparse._sys, "argv", ["wild.py", "--write", str(tmp_path)])
    wild.main()
    assert json.loads((tmp_path / "wild.json").read_text()) == []
