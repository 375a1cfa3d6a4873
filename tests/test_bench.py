"""The benchmarks run, compare answers and write what they found. No test here asserts a time.

The libraries to compare with are optional: what is not installed is not in the tables.
"""

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iou import pairwise

FOLDER = Path(__file__).parents[1] / "benchmarks"
SECTIONS = ["dense", "measures", "losses", "pair", "join", "coco", "suppression", "guard", "memory"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What a quick run writes."""
    folder = tmp_path_factory.mktemp("results")
    only = [word for section in SECTIONS for word in ("--only", section)]
    command = [sys.executable, FOLDER / "bench.py", "--quick", *only, "--write", folder]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import bench

    return bench


@pytest.fixture
def pairs(bench):
    return bench.module_pairs(bench.detections(200, 1), 0.5)


def test_the_results_tell_what_was_measured_where(written):
    results = json.loads((written / "results.json").read_text())
    assert results["quick"]
    assert {"date", "processor", "cores", "python", "versions"} <= set(results["about"])
    assert list(dict.fromkeys(table["section"] for table in results["tables"])) == SECTIONS
    for table in results["tables"]:
        assert len(table["size"]) == 2
        assert any("iou" in row["contender"] for row in table["rows"])


def test_every_number_is_positive_and_every_answer_right(written):
    for table in json.loads((written / "results.json").read_text())["tables"]:
        for row in table["rows"]:
            assert row["threads"] >= 1
            if table["section"] != "memory":
                assert 0 < row["min"] <= row["median"] < math.inf
            if row.get("off_by") is not None:
                assert row["off_by"] <= (1e-4 if "float32" in row["contender"] else 1e-6)


def test_the_report_has_every_table(written):
    results = json.loads((written / "results.json").read_text())
    text = (written / "results.md").read_text()
    for table in results["tables"]:
        assert f"### {table['title']}\n\n| contender | threads |" in text
    rows = sum(len(table["rows"]) + 2 for table in results["tables"])
    assert sum(line.startswith("|") for line in text.splitlines()) == rows


def test_what_answers_otherwise_is_left_out(bench):
    a, b = bench.scattered(4, 1), bench.scattered(3, 2)
    right = bench.Contender("right", pairwise, a, b, role="ours")
    kinds = {
        "close": lambda a, b: pairwise(a, b) + 1e-9,
        "float32": lambda a, b: pairwise(a, b).astype(np.float32),
        "wrong": lambda a, b: pairwise(a, b) + 1e-5,
        "NaN": lambda a, b: pairwise(a, b) * np.nan,
        "transposed": lambda a, b: pairwise(b, a),
    }
    others = [replace(right, name=name, call=call, role="peer") for name, call in kinds.items()]
    _, kept, notes = bench.agreeing([right, *others], bench.table_difference)
    assert [contender.name for contender in kept] == ["right", "close", "float32"]
    assert [note.split()[0] for note in notes] == ["wrong", "NaN", "transposed"]


def test_a_wrong_value_of_the_module_would_be_noticed(bench):
    a, b = bench.scattered(4, 1), bench.scattered(3, 2)
    table = pairwise(a, b)
    bench.check_against_fractions("iou", a, b, table)
    with pytest.raises(AssertionError):
        bench.check_against_fractions("iou", a, b, table + 1e-9)


def test_pairs_are_the_same_up_to_what_rounds_to_the_threshold(bench, pairs):
    assert bench.pairs_difference(pairs, pairs) == 0
    fewer = bench.Pairs(*(column[1:] for column in pairs))
    assert bench.pairs_difference(fewer, pairs) == math.inf
    pairs.iou[0] = 0.5 + 1e-12
    assert bench.pairs_difference(fewer, pairs) == 0


def test_the_table_leads_to_the_same_pairs(bench, pairs):
    assert len(pairs.iou) > 100
    assert bench.pairs_difference(bench.table_pairs(bench.detections(200, 1), 0.5), pairs) == 0


def test_a_tree_leads_to_the_same_pairs(bench, peer, pairs):
    peer("shapely")
    found = bench.tree_pairs(bench.detections(200, 1), 0.5)
    assert bench.pairs_difference(found, pairs) <= 1e-15


def test_numbers_are_shown_with_three_digits(bench):
    numbers = [None, 2, 0.0, 0.0000123, 0.0123, 1.0, 12.345, 1234.5, math.inf]
    expected = ["–", "2", "0", "1.2e-05", "0.0123", "1.00", "12.3", "1234", "inf"]
    assert list(map(bench.shown, numbers)) == expected
