"""The command line: what it prints, where, and the status it ends with."""

import importlib
import io
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from iou import __main__ as command
from iou import (
    __version__,
    average_precision,
    coco_summary,
    diagnose,
    match,
    precision_recall,
    read_coco,
)
from iou.__main__ import main, progress

ROOT = Path(__file__).parents[1]
TWELVE = ["AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"]
NAMES = {2: "car", 9: "boat", 4: "sign"}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return str(path)


def scene(images=6, seed=0):
    """Truths and predictions in integers, some of them crowds; one class is never predicted."""
    rng = np.random.default_rng(seed)
    truths, found = [], []
    for image in range(1, images + 1):
        for _ in range(8):
            corner, side = rng.integers(0, 300, 2), rng.integers(8, 160, 2)
            box = [*corner.tolist(), *side.tolist()]
            label = int(rng.choice(list(NAMES)))
            truths.append(
                {
                    "id": len(truths) + 1,
                    "image_id": image,
                    "category_id": label,
                    "bbox": box,
                    "area": int(np.prod(side)) // 2,
                    "iscrowd": int(rng.random() < 0.1),
                }
            )
            for _ in range(rng.integers(0, 4)):
                moved = np.array(box) + rng.integers(-9, 10, 4) // 2
                found.append(
                    {
                        "image_id": image,
                        "category_id": 9 if label == 4 else label,
                        "bbox": np.maximum(moved, [0, 0, 1, 1]).tolist(),
                        "score": int(rng.integers(1, 40)) / 64,
                    }
                )
    content = {
        "images": [{"id": i, "width": 480, "height": 480} for i in range(1, images + 1)],
        "categories": [{"id": k, "name": name} for k, name in NAMES.items()],
        "annotations": truths,
    }
    return content, found


@pytest.fixture
def coco(tmp_path):
    truths, found = scene()
    return [write(tmp_path / "truths.json", truths), write(tmp_path / "results.json", found)]


@pytest.fixture
def voc(tmp_path):
    """Ten dogs in a row, seven of them found, one twice."""

    def corners(i):
        return 20 * i + 1, 1, 20 * i + 10, 10

    objects = "".join(
        "<object><name>dog</name><bndbox><xmin>{}</xmin><ymin>{}</ymin><xmax>{}</xmax>"
        "<ymax>{}</ymax></bndbox></object>".format(*corners(i))
        for i in range(10)
    )
    lines = [" ".join(map(str, ("000001", 1 - i / 10, *corners(i)))) for i in range(7)]
    write(tmp_path / "Annotations" / "000001.xml", f"<annotation>{objects}</annotation>")
    write(tmp_path / "Main" / "dog.txt", "\n".join([*lines, lines[0].replace("1.0", "0.05")]))
    return [str(tmp_path / "Annotations"), str(tmp_path / "Main")]


@pytest.fixture
def yolo(tmp_path):
    write(tmp_path / "labels" / "a.txt", "0 0.5 0.5 0.2 0.2\n1 0.2 0.2 0.1 0.1")
    write(tmp_path / "found" / "a.txt", "0 0.5 0.5 0.2 0.2 0.9\n1 0.8 0.8 0.1 0.1 0.9")
    return [str(tmp_path / "labels"), str(tmp_path / "found")]


def run(capsys, *arguments, command="evaluate"):
    """Give the status, the output and the errors of a command."""
    try:
        status = main([command, *map(str, arguments)])
    except SystemExit as end:
        status = end.code
    return status, *capsys.readouterr()


def run_json(capsys, *arguments):
    status, out, err = run(capsys, *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


# COCO.


def test_the_twelve_numbers_are_those_of_pycocotools(peer, coco, capsys, monkeypatch):
    api, evaluation = peer("pycocotools.coco"), peer("pycocotools.cocoeval")
    truths = api.COCO(coco[0])
    theirs = evaluation.COCOeval(truths, truths.loadRes(coco[1]), "bbox")
    theirs.evaluate()
    theirs.accumulate()
    theirs.summarize()
    capsys.readouterr()
    numbers = run_json(capsys, *coco)["numbers"]
    assert list(numbers) == TWELVE
    assert 0.1 < numbers["AP"] < 0.9
    expected = [None if value == -1 else value for value in theirs.stats.tolist()]
    assert list(numbers.values()) == pytest.approx(expected, abs=1e-12)


def test_json_holds_the_numbers_and_what_they_are_of(coco, capsys):
    data = read_coco(*coco)
    summary = coco_summary(data.predictions, data.truths)
    report = run_json(capsys, *coco)
    classes = report.pop("classes")
    notes = report.pop("notes")
    assert report == {
        "format": "coco",
        "protocol": "coco",
        "grid": "float",
        "images": 6,
        "truths": 48,
        "predictions": len(data.predictions),
        "numbers": dict(summary.numbers),
    }
    assert notes == list(data.notes)
    assert classes == [
        {"label": label, "name": NAMES[label], "AP": ap}
        for label, ap in summary.ap_of_label.items()
    ]
    exact = run_json(capsys, *coco, "--grid", "exact")
    assert exact["grid"] == "exact"
    assert exact["numbers"] == dict(
        coco_summary(data.predictions, data.truths, grid="exact").numbers
    )


def test_the_table_says_each_number_and_what_it_means(coco, capsys):
    status, out, err = run(capsys, *coco)
    numbers = run_json(capsys, *coco)["numbers"]
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert re.fullmatch(r"images: 6, truths: 48, predictions: \d+", lines[0])
    shown = [line.split(maxsplit=2)[:2] for line in lines[2:]]
    assert shown == [[name, f"{value:.3f}"] for name, value in numbers.items()]
    assert all(len(line.split(maxsplit=2)) == 3 for line in lines[2:])


def test_the_table_has_a_line_for_each_class_if_asked(coco, capsys):
    classes = run_json(capsys, *coco)["classes"]
    lines = run(capsys, *coco, "--per-class")[1].splitlines()
    assert [line.split() for line in lines[-3:]] == [
        [each["name"], f"{each['AP']:.3f}"] for each in classes
    ]
    assert [each["AP"] == 0 for each in classes] == [False, True, False]


def test_notes_go_beside_the_output(tmp_path, coco, capsys):
    found = json.loads(Path(coco[1]).read_text())
    found[0]["bbox"] = [-100, 0, 50, 50]
    coco[1] = write(tmp_path / "more.json", found)
    status, out, err = run(capsys, *coco)
    assert status == 0
    assert "note" not in out
    note = (
        f"1 of {len(found)} predicted boxes reach beyond their image, and are measured as they are"
    )
    assert err == f"note: {note}\n"
    assert run_json(capsys, *coco)["notes"] == [note]


def test_what_is_not_defined_is_a_dash_or_null(tmp_path, capsys):
    truths, found = scene()
    truths["annotations"] = []
    files = write(tmp_path / "truths.json", truths), write(tmp_path / "results.json", found)
    assert set(run_json(capsys, *files)["numbers"].values()) == {None}
    assert run(capsys, *files)[1].splitlines()[2].split()[:2] == ["AP", "-"]


# VOC and YOLO.


def test_voc_gives_the_average_precision_of_each_class(voc, capsys):
    report = run_json(capsys, *voc)
    assert report["protocol"] == "voc"
    assert report["iou_threshold"] == 0.5
    assert report["numbers"] == {"mAP": pytest.approx(0.7)}
    assert report["classes"] == [{"label": 0, "name": "dog", "AP": pytest.approx(0.7)}]
    lines = run(capsys, *voc)[1].splitlines()
    assert lines[0] == "images: 1, truths: 10, predictions: 8"
    assert [line.split()[:2] for line in lines[2:]] == [["mAP", "0.700"], [], ["dog", "0.700"]]


def test_eleven_points_are_reached_exactly_or_as_usual(voc, capsys):
    """Of the levels up to 0.7, floats lose one."""
    for grid, levels in (("float", 7), ("exact", 8)):
        report = run_json(capsys, *voc, "--protocol", "voc11", "--grid", grid)
        assert report["numbers"]["mAP"] == pytest.approx(levels / 11)


def test_each_format_has_each_protocol_and_threshold(coco, capsys):
    data = read_coco(*coco)
    for threshold in (0.5, 0.75):
        report = run_json(capsys, *coco, "--protocol", "voc", "--iou-threshold", threshold)
        matches = match(data.predictions, data.truths, iou_threshold=threshold, protocol="voc")
        expected = [
            average_precision(precision_recall(matches, label), "voc") for label in sorted(NAMES)
        ]
        assert [each["AP"] for each in report["classes"]] == expected
        assert report["numbers"]["mAP"] == pytest.approx(sum(expected) / 3)


def test_the_protocols_of_voc_match_as_voc_does(tmp_path, capsys):
    """The second prediction looks at the truth that the first one has, and at no other."""
    row = {"image_id": 1, "category_id": 1}
    boxes = [[0, 0, 10, 10], [4, 0, 10, 10]]
    truths = {
        "images": [{"id": 1}],
        "categories": [{"id": 1}],
        "annotations": [row | {"id": n, "bbox": box} for n, box in enumerate(boxes)],
    }
    found = [row | {"bbox": [x, 0, 10, 10], "score": x} for x in (1, 0.5)]
    files = write(tmp_path / "truths.json", truths), write(tmp_path / "results.json", found)
    report = run_json(capsys, *files, "--protocol", "voc", "--iou-threshold", "0.4")
    assert report["numbers"] == {"mAP": 0.5}


def test_classes_without_objects_do_not_count_in_the_mean(yolo, capsys):
    write(Path(yolo[1]) / "a.txt", "0 0.5 0.5 0.2 0.2 0.9\n7 0.8 0.8 0.1 0.1 0.9")
    report = run_json(capsys, *yolo, "--protocol", "voc")
    assert [each["AP"] for each in report["classes"]] == [1, 0, None]
    assert report["numbers"] == {"mAP": 0.5}


def test_the_exact_grid_has_an_exact_threshold(voc, capsys, monkeypatch):
    thresholds = []

    def watched(*args, iou_threshold, **options):
        thresholds.append(iou_threshold)
        return match(*args, iou_threshold=iou_threshold, **options)

    monkeypatch.setattr(command, "match", watched)
    for grid in ("float", "exact"):
        run(capsys, *voc, "--protocol", "voc11", "--iou-threshold", "0.7", "--grid", grid)
    assert thresholds == [0.7, Fraction(7, 10)]
    assert list(map(type, thresholds)) == [float, Fraction]


def test_a_threshold_may_be_a_fraction(voc, capsys):
    options = "--protocol", "voc11", "--grid", "exact", "--iou-threshold"
    assert run_json(capsys, *voc, *options, "2/3")["iou_threshold"] == 2 / 3


def test_numbers_by_area_need_sizes(tmp_path, yolo, capsys):
    by_area = ["APs", "APm", "APl", "ARs", "ARm", "ARl"]
    numbers = run_json(capsys, *yolo)["numbers"]
    assert [numbers[name] for name in by_area] == [None] * 6
    assert numbers["AP50"] == pytest.approx(0.5)
    assert run(capsys, *yolo)[1].count("(needs --sizes)") == 6
    for sizes in ("100x100", write(tmp_path / "sizes.txt", "a 100 100")):
        numbers = run_json(capsys, *yolo, "--sizes", sizes)["numbers"]
        assert [numbers[name] for name in by_area] == [
            pytest.approx(0.5),
            None,
            None,
            0.5,
            None,
            None,
        ]


def test_lists_of_images_and_classes_are_taken(tmp_path, yolo, voc, capsys):
    classes = write(tmp_path / "names", "cat\ndog\n")
    images = write(tmp_path / "val", "a\n")
    report = run_json(capsys, *yolo, "--classes", classes, "--images", images)
    assert [each["name"] for each in report["classes"]] == ["cat", "dog"]
    images = write(tmp_path / "test", "000001\n")
    report = run_json(capsys, *voc, "--classes", classes, "--images", images)
    assert [each["label"] for each in report["classes"]] == [1]


def test_the_help_says_what_files_look_like(tmp_path, voc, yolo, capsys):
    """Its JSON is read, and its fields are those that the readers ask for."""
    status, text, err = run(capsys, "--help")
    assert (status, err) == (0, "")
    truths, found = re.findall(r"COCO, \w+:\n((?:  .+\n)+)", text)
    files = write(tmp_path / "truths.json", truths), write(tmp_path / "results.json", found)
    assert run_json(capsys, *files)["numbers"]["AP50"] == pytest.approx(1)
    for file in (f"{voc[1]}/dog.txt", f"{yolo[0]}/a.txt", f"{yolo[1]}/a.txt"):
        write(Path(file), "one field")
    for files, count in ((voc, 1), (yolo, 2)):
        fields = re.findall(r"fields, not \d \((.*)\)", run(capsys, *files)[2])
        assert len(fields) == count
        assert all(f"\n  {each}\n" in text for each in fields)
    told = " ".join(text.split())
    assert told.count("one on each line") == 2
    assert "one on each line; no YAML" in told


def test_numbers_by_area_are_of_the_areas_that_the_table_says(tmp_path, capsys):
    """To COCO an area at the limit of two ranges is in both."""
    for area, where in ((32**2 - 1, "s"), (32**2, "sm"), (96**2, "ml"), (96**2 + 1, "l")):
        row = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 99, 99], "area": area}
        truths = {
            "images": [{"id": 1}],
            "categories": [{"id": 1}],
            "annotations": [row | {"id": 1}],
        }
        files = write(tmp_path / "truths.json", truths), write(tmp_path / "found.json", [])
        numbers = run_json(capsys, *files)["numbers"]
        for kind in ("AP", "AR"):
            assert "".join(each for each in "sml" if numbers[kind + each] is not None) == where
    for line in run(capsys, *files)[1].splitlines():
        name, _, told = (line.split(maxsplit=2) + [""] * 3)[:3]
        if name in ("APs", "ARs"):
            assert told.endswith("up to 32² pixels")
        elif name in ("APm", "ARm"):
            assert told == "from 32² to 96² pixels, both included"
        elif name in ("APl", "ARl"):
            assert told == "from 96² pixels on"


@pytest.mark.parametrize("text", ["100", "640x", "0x480", "640×480", "640X480", "sizes.txt"])
def test_sizes_are_two_numbers_or_a_file(yolo, capsys, monkeypatch, tmp_path, text):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *yolo, "--sizes", text)
    assert (status, out) == (2, "")
    assert f"--sizes is neither WIDTHxHEIGHT, as 640x480, nor a file: {text}\n" in err
    (tmp_path / text).mkdir()
    assert run(capsys, *yolo, "--sizes", text) == (status, out, err)
    (tmp_path / text).rmdir()
    write(tmp_path / text, "a 640 480")
    assert run(capsys, *yolo, "--sizes", text)[0] == 0


# What goes wrong.


def test_a_bad_file_ends_with_1_and_says_what_is_wrong(tmp_path, coco, capsys):
    broken = write(tmp_path / "broken.json", [{"image_id": 1}])
    status, out, err = run(capsys, coco[0], broken)
    assert (status, out) == (1, "")
    assert err == f"error: {broken}[0]: there is no 'category_id'\n"


def test_a_file_that_is_not_there_ends_with_1(tmp_path, coco, capsys):
    missing = tmp_path / "missing.json"
    status, out, err = run(capsys, coco[0], missing)
    assert (status, out, err) == (1, "", f"error: {missing}: No such file or directory\n")


def test_what_goes_wrong_without_a_file_is_told_without_one(coco, capsys, monkeypatch):
    def close(_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(command, "evaluate", close)
    assert run(capsys, *coco) == (1, "", "error: Broken pipe\n")


BAD_ARGUMENTS = {
    "the following arguments are required: predictions": ["{coco}"],
    "unrecognized arguments: --iou": ["{coco}", "{coco}", "--iou"],
    "--iou-threshold is not for the protocol coco": ["{coco}", "{coco}", "--iou-threshold", "0.5"],
    "--iou-threshold must be a number, it is half": [
        *["{voc}", "{voc}", "--iou-threshold", "half"],
    ],
    "--iou-threshold must be above 0 and at most 1, it is 50": [
        *["{voc}", "{voc}", "--iou-threshold", "50"],
    ],
    "--iou-threshold must be above 0 and at most 1, it is 1e999999999": [
        *["{voc}", "{voc}", "--iou-threshold", "1e999999999"],
    ],
    "--iou-threshold must be above 0 and at most 1, it is 1e-400": [
        *["{voc}", "{voc}", "--iou-threshold", "1e-400"],
    ],
    "--grid is not for the protocol voc": ["{voc}", "{voc}", "--grid", "exact"],
    "--sizes is not for the format voc": ["{voc}", "{voc}", "--sizes", "3x4"],
    "--images is not for the format coco": ["{coco}", "{coco}", "--images", "x"],
    "--classes is not for the format coco": ["{coco}", "{coco}", "--classes", "x"],
    "has neither .xml nor .txt files": ["{empty}", "{empty}"],
    "has both .xml and .txt files": ["{both}", "{both}"],
}


@pytest.mark.parametrize("told", BAD_ARGUMENTS)
def test_bad_arguments_end_with_2_and_are_told(tmp_path, voc, coco, capsys, told):
    (tmp_path / "empty").mkdir()
    write(tmp_path / "both" / "a.xml", "")
    write(tmp_path / "both" / "a.txt", "")
    paths = {"coco": coco[0], "voc": voc[0]} | {n: tmp_path / n for n in ("empty", "both")}
    status, out, err = run(capsys, *(each.format(**paths) for each in BAD_ARGUMENTS[told]))
    assert (status, out) == (2, "")
    assert err.startswith("usage: python -m iou")
    assert told in err


def test_a_format_may_be_given(tmp_path, voc, capsys):
    write(Path(voc[0]) / "readme.txt", "")
    assert run(capsys, *voc)[0] == 2
    assert run(capsys, *voc, "--format", "voc")[0] == 0


def test_names_of_any_letters_are_printed_on_any_terminal(tmp_path, coco):
    truths = json.loads(Path(coco[0]).read_text())
    truths["categories"][0]["name"] = "自転車 \ud800"
    coco[0] = write(tmp_path / "named.json", truths)
    call = [sys.executable, "-W", "error", "-m", "iou", "evaluate", *coco, "--per-class"]
    ran = subprocess.run(
        call, cwd=ROOT, capture_output=True, check=False, env={"PYTHONIOENCODING": "ascii"}
    )
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert rb"\u81ea\u8ee2\u8eca \ud800" in ran.stdout


# Examining a function.


@pytest.fixture
def home_made(tmp_path, monkeypatch):
    """Functions of a module that lies where the command is given."""
    write(
        tmp_path / "home_made.py",
        """
import iou
from iou.exact import iou as right

class Variants:
    inclusive = staticmethod(lambda a, b: right(a, b, fmt="xyxy_inclusive"))

def of_sides(a, b):
    return right(a, b, fmt="xywh")

giou = iou.giou
""",
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        ["iou:iou"],
        ["home_made:right"],
        ["home_made:of_sides", "--fmt", "xywh"],
        ["home_made:giou", "--measure", "giou"],
        ["home_made:Variants.inclusive", "--fmt", "xyxy_inclusive"],
    ],
)
def test_a_function_that_passes_ends_with_0(home_made, capsys, arguments):
    status, out, err = run(capsys, *arguments, command="diagnose")
    assert (status, err) == (0, "")
    assert out.strip()


@pytest.mark.parametrize("arguments", [["of_sides"], ["right", "--fmt", "xywh"], ["giou"]])
def test_a_function_that_does_not_pass_ends_with_1_and_says_why(home_made, capsys, arguments):
    name, *options = arguments
    fmt = "xywh" if options else "xyxy"
    status, out, err = run(capsys, f"home_made:{name}", *options, command="diagnose")
    assert (status, err) == (1, "")
    assert out == f"{diagnose(getattr(importlib.import_module('home_made'), name), fmt=fmt)}\n"


@pytest.mark.parametrize("name", ["home_made:nothing", "nowhere:iou", "iou", "iou:__version__"])
def test_a_function_that_is_not_there_ends_with_2(home_made, capsys, name):
    status, out, err = run(capsys, name, command="diagnose")
    assert (status, out) == (2, "")
    assert err.startswith(f"{name}: ")


def test_a_module_of_the_current_folder_is_found_as_the_help_says(tmp_path, capsys):
    text = " ".join(run(capsys, "--help", command="diagnose")[1].split())
    assert "the module is looked for in the current folder first" in text
    write(tmp_path / "home.py", "from iou import iou as mine")
    call = [sys.executable, "-W", "error", "-m", "iou", "diagnose", "home:mine"]
    ran = subprocess.run(call, cwd=tmp_path, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr() == (f"iou {__version__}\n", "")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e12"])
def test_a_time_limit_that_is_none_ends_with_2(capsys, seconds):
    status, out, err = run(capsys, "iou:iou", f"--time-limit={seconds}", command="diagnose")
    assert (status, out) == (2, "")
    assert "--time-limit must be above 0" in err


def test_the_status_is_that_of_the_process():
    call = [sys.executable, "-W", "error", "-m", "iou", "diagnose", "iou:iou"]
    for options, status in (((), 0), (("--fmt", "xywh"), 1), (("--fmt", "none"), 2)):
        ran = subprocess.run([*call, *options], cwd=ROOT, capture_output=True, check=False)
        assert ran.returncode == status


# Progress.


class Terminal(io.StringIO):
    def __init__(self, looked_at):
        super().__init__()
        self.looked_at = looked_at

    def isatty(self):
        return self.looked_at


def shown(monkeypatch, seconds, looked_at=True):
    """What stands on a terminal after ten items of so many seconds each."""
    terminal, now = Terminal(looked_at), [0.0]
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(command.time, "monotonic", lambda: now[0])
    seen = []
    for item in progress("abcdefghij", "reading"):
        seen.append(item)
        now[0] += seconds
    assert seen == list("abcdefghij")
    return terminal.getvalue()


def test_a_bar_is_shown_where_it_takes_long_and_is_taken_away(monkeypatch):
    states = shown(monkeypatch, 0.5).split("\r")
    bars = [f"reading [{'#' * (3 * done):30}] {done}/10" for done in range(2, 10)]
    assert states == ["", *bars, " " * len(bars[0]), ""]


def test_no_bar_is_shown_where_it_is_quick_or_nobody_looks(monkeypatch):
    assert shown(monkeypatch, 0.01) == ""
    assert shown(monkeypatch, 0.5, looked_at=False) == ""


def test_a_bar_is_taken_away_when_reading_fails(monkeypatch):
    terminal, now = Terminal(looked_at=True), iter([0.0, 9.0, 9.0])
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(command.time, "monotonic", lambda: next(now))
    items = progress("ab", "reading")
    next(items)
    items.close()
    assert re.fullmatch(r"\rreading \[ +\] 0/2\r +\r", terminal.getvalue())
