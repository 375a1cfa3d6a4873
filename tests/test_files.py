"""The readers of COCO, VOC and YOLO: what they read, what they refuse, and what they say of it."""

import copy
import gc
import io
import json
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from iou import convert, files, iou, read_coco, read_voc, read_yolo
from iou.files import DataFileError, DataSet

NAN = float("nan")
IGNORED = (
    "{} annotations say 'ignore', and need not be found; pycocotools does not look at that field"
)
NO_AP = (
    "{} predictions are of classes without an object to find ({}), which have no average precision"
)


def annotated():
    """Two images, two classes, three objects, in the manner of COCO."""
    return {
        "images": [
            {"id": 0, "file_name": "street.jpg", "width": 100, "height": 50},
            {"id": 7, "file_name": "harbour.jpg", "width": 200, "height": 200},
        ],
        "categories": [{"id": 3, "name": "car"}, {"id": 1, "name": "boat"}],
        "annotations": [
            {"id": 0, "image_id": 0, "category_id": 3, "bbox": [10, 10, 40, 20], "area": 800},
            {"id": 1, "image_id": 7, "category_id": 1, "bbox": [0.5, 0, 9, 10], "area": 30.5},
            {
                "id": 5,
                "image_id": 7,
                "category_id": 3,
                "bbox": [0, 0, 200, 200],
                "area": 9000,
                "iscrowd": 1,
            },
        ],
    }


def results():
    return [
        {"image_id": 7, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.5},
        {"image_id": 0, "category_id": 3, "bbox": [11, 10, 40, 20.5], "score": 1},
    ]


def problems_of(read, *args, **options):
    """What is reported, where something must be."""
    with pytest.raises(DataFileError) as caught:
        read(*args, **options)
    return list(caught.value.problems)


def columns(data):
    """Everything that tells apart two data sets."""
    return {
        "truths": [
            getattr(data.truths, name).tolist()
            for name in ("boxes", "images", "labels", "crowd", "ignore", "area")
        ],
        "predictions": [
            getattr(data.predictions, name).tolist()
            for name in ("boxes", "scores", "images", "labels")
        ],
        "formats": (data.truths.fmt, data.predictions.fmt),
        "names": (dict(data.image_names), dict(data.label_names)),
        "notes": data.notes,
        "in_pixels": data.in_pixels,
    }


# COCO: what is read.


def test_coco_is_read_as_it_stands():
    data = read_coco(annotated(), results())
    assert columns(data) == {
        "truths": [
            [[10, 10, 40, 20], [0.5, 0, 9, 10], [0, 0, 200, 200]],
            [0, 7, 7],
            [3, 1, 3],
            [False, False, True],
            [False, False, False],
            [800, 30.5, 9000],
        ],
        "predictions": [[[0, 0, 10, 10], [11, 10, 40, 20.5]], [0.5, 1], [7, 0], [1, 3]],
        "formats": ("xywh", "xywh"),
        "names": ({0: "street.jpg", 7: "harbour.jpg"}, {3: "car", 1: "boat"}),
        "notes": (),
        "in_pixels": True,
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_coco_is_read_from_a_path_a_file_or_what_was_parsed(tmp_path, encoding):
    truths = annotated()
    truths["categories"][0]["name"] = "vélo 自転車"
    paths = tmp_path / "truths é.json", tmp_path / "results.json"
    for path, content in zip(paths, (truths, results()), strict=True):
        path.write_text(json.dumps(content, ensure_ascii=False), encoding=encoding)
    parsed = columns(read_coco(truths, results()))
    assert columns(read_coco(*paths)) == parsed
    assert columns(read_coco(*map(str, paths))) == parsed
    with paths[0].open("rb") as one, io.StringIO(json.dumps(results())) as other:
        assert columns(read_coco(one, other)) == parsed


def test_what_was_parsed_may_hold_numbers_of_numpy():
    truths, found = annotated(), results()
    for row in truths["annotations"] + found:
        row["bbox"] = np.array(row["bbox"], dtype=np.float32)
        row["image_id"] = np.int32(row["image_id"])
        row["iscrowd"] = np.bool_(row.get("iscrowd", 0))
    for row in found:
        row["score"] = np.float32(row["score"])
    assert columns(read_coco(truths, found)) == columns(read_coco(annotated(), results()))


def test_what_was_parsed_is_not_changed():
    truths, found = annotated(), results()
    read_coco(truths, found)
    assert (truths, found) == (annotated(), results())


def test_coco_needs_neither_names_nor_sizes_nor_areas():
    truths = annotated()
    for row in truths["images"] + truths["categories"] + truths["annotations"]:
        for field in ("file_name", "width", "height", "name", "area"):
            row.pop(field, None)
    truths["annotations"][0]["bbox"] = [-900, 10, 40, 20]
    data = read_coco(truths, results())
    assert data.image_names == {0: "0", 7: "7"}
    assert data.label_names == {3: "3", 1: "1"}
    assert data.truths.area.tolist() == [800, 90, 40000]
    assert data.notes == ("3 of 3 annotations have no 'area'; that of the box is taken",)


def test_no_objects_and_no_results_are_read():
    empty = {"images": [], "categories": [], "annotations": []}
    data = read_coco(empty, [])
    assert (len(data.truths), len(data.predictions), data.notes) == (0, 0, ())


def test_the_area_of_a_box_may_be_beyond_what_float64_holds():
    truths = annotated()
    truths["annotations"][0] |= {"bbox": [0, 0, 1e300, 1e300]}
    del truths["annotations"][0]["area"]
    assert read_coco(truths, results()).truths.area[0] == np.finfo(float).max


def test_what_was_parsed_is_not_kept():
    class Results(list):
        pass

    found = Results(results())
    kept = weakref.ref(found)
    gc.disable()
    read_coco(annotated(), found)
    del found
    gc.enable()
    assert kept() is None


def test_the_collector_is_left_as_it_was():
    for prepare in (gc.disable, gc.enable):
        prepare()
        before = gc.isenabled()
        read_coco(annotated(), results())
        assert gc.isenabled() == before
        problems_of(read_coco, annotated(), [{}])
        assert gc.isenabled() == before


# COCO: what is refused.


def changed(where, value):
    """Put a value somewhere in truths or results; Ellipsis takes out what is there."""

    def change(content):
        *way, last = where
        for step in way:
            content = content[step]
        if value is ...:
            del content[last]
        else:
            content[last] = value

    return change


def again(field):
    return lambda content: content[field].append(copy.deepcopy(content[field][0]))


BAD_TRUTHS = {
    "truths: there is no list 'images'": changed(["images"], ...),
    "truths: there is no list 'categories'": changed(["categories"], {}),
    "truths: there is no list 'annotations'": changed(["annotations"], None),
    "truths: images[1]: is 5, no object": changed(["images", 1], 5),
    "truths: images[1]: there is no 'id'": changed(["images", 1, "id"], ...),
    "truths: images[1]: id is '7', not a whole number": changed(["images", 1, "id"], "7"),
    "truths: images[1]: id is true, not a whole number": changed(["images", 1, "id"], True),
    "truths: images[1]: id is 7.0, not a whole number": changed(["images", 1, "id"], 7.0),
    "truths: images[2] (id 0): id 0 again, as in truths: images[0] (id 0)": again("images"),
    "truths: images[0] (id 0): file_name is 5, not a text": changed(["images", 0, "file_name"], 5),
    "truths: images[0] (id 0): size (0, 50) is not above 0": changed(["images", 0, "width"], 0),
    "truths: images[0] (id 0): height is null, not a number": changed(
        ["images", 0, "height"], None
    ),
    "truths: categories[2] (id 3): id 3 again, as in truths: categories[0] (id 3)": again(
        "categories"
    ),
    "truths: annotations[3] (id 0): id 0 again, as in truths: annotations[0] (id 0)": again(
        "annotations"
    ),
    "truths: annotations[1] (id 1): image_id 8 is unknown": changed(
        ["annotations", 1, "image_id"], 8
    ),
    "truths: annotations[1] (id 1): category_id 2 is unknown": changed(
        ["annotations", 1, "category_id"], 2
    ),
    "truths: annotations[1] (id 1): there is no 'category_id'": changed(
        ["annotations", 1, "category_id"], ...
    ),
    "truths: annotations[1] (id 1): there is no 'bbox'": changed(["annotations", 1, "bbox"], ...),
    "truths: annotations[1] (id 1): bbox is null, not a list of 4 numbers": changed(
        ["annotations", 1, "bbox"], None
    ),
    "truths: annotations[1] (id 1): bbox has 0 numbers, not 4": changed(
        ["annotations", 1, "bbox"], []
    ),
    "truths: annotations[1] (id 1): bbox has a bad number: [2] is '9', not a number": changed(
        ["annotations", 1, "bbox", 2], "9"
    ),
    "truths: annotations[1] (id 1): bbox has a bad number: [2] is a list of 4, not a number": (
        changed(["annotations", 1, "bbox", 2], [1, 2, 3, 4])
    ),
    "truths: annotations[1] (id 1): bbox has a bad number: [3] is NaN": changed(
        ["annotations", 1, "bbox", 3], NAN
    ),
    "truths: annotations[1] (id 1): bbox has a bad number: [0] is -inf, not finite": changed(
        ["annotations", 1, "bbox", 0], -np.inf
    ),
    "truths: annotations[1] (id 1): bbox has a bad number: [0] is beyond the range of float64": (
        changed(["annotations", 1, "bbox", 0], 10**400)
    ),
    "truths: annotations[1] (id 1): box (0.5, 0, -9, 10): w < 0": changed(
        ["annotations", 1, "bbox", 2], -9
    ),
    "truths: annotations[1] (id 1): box (0.5, 0, 9, -1): h < 0": changed(
        ["annotations", 1, "bbox", 3], -1
    ),
    "truths: annotations[1] (id 1): box (200, 0, 9, 10) lies outside its image": changed(
        ["annotations", 1, "bbox", 0], 200
    ),
    "truths: annotations[1] (id 1): box (0.5, -10.5, 9, 10) lies outside its image": changed(
        ["annotations", 1, "bbox", 1], -10.5
    ),
    "truths: annotations[1] (id 1): iscrowd is 2, neither 0 nor 1": changed(
        ["annotations", 1, "iscrowd"], 2
    ),
    "truths: annotations[1] (id 1): ignore is 'no', neither 0 nor 1": changed(
        ["annotations", 1, "ignore"], "no"
    ),
    "truths: annotations[1] (id 1): area is -1, below 0": changed(["annotations", 1, "area"], -1),
    "truths: annotations[1] (id 1): area is NaN": changed(["annotations", 1, "area"], NAN),
    "truths: annotations[1] (id 1): image_id is an object, not a whole number": changed(
        ["annotations", 1, "image_id"], {}
    ),
    f"truths: annotations[1] (id 1): image_id is {2**63}, beyond 64 bits": changed(
        ["annotations", 1, "image_id"], 2**63
    ),
}
BAD_RESULTS = {
    "predictions[1]: is null, no object": changed([1], None),
    "predictions[1]: there is no 'score'": changed([1, "score"], ...),
    "predictions[1]: score is NaN": changed([1, "score"], NAN),
    "predictions[1]: score is inf, not finite": changed([1, "score"], np.inf),
    "predictions[1]: score is '0.9', not a number": changed([1, "score"], "0.9"),
    "predictions[1]: score is false, not a number": changed([1, "score"], False),
    "predictions[1]: there is no 'image_id'": changed([1, "image_id"], ...),
    "predictions[1]: image_id 1 is unknown": changed([1, "image_id"], 1),
    "predictions[1]: image_id is '0', not a whole number": changed([1, "image_id"], "0"),
    "predictions[1]: category_id 0 is unknown": changed([1, "category_id"], 0),
    "predictions[1]: bbox has 5 numbers, not 4": changed([1, "bbox"], [1, 2, 3, 4, 5]),
    "predictions[1]: box (11, 10, -1, 20.5): w < 0": changed([1, "bbox", 2], -1),
    "predictions[1]: there is no 'bbox', but a mask, and only boxes are read": changed(
        [1], {"image_id": 0, "category_id": 3, "score": 0.1, "segmentation": {}}
    ),
}


@pytest.mark.parametrize("expected", BAD_TRUTHS)
def test_whatever_is_wrong_with_truths_is_told_in_one_message(expected):
    truths = annotated()
    BAD_TRUTHS[expected](truths)
    assert problems_of(read_coco, truths, []) == [expected]


@pytest.mark.parametrize("expected", BAD_RESULTS)
def test_whatever_is_wrong_with_results_is_told_in_one_message(expected):
    found = results()
    BAD_RESULTS[expected](found)
    assert problems_of(read_coco, annotated(), found) == [expected]


def test_what_is_bad_is_told_row_by_row_and_the_first_ten_are_listed():
    found = [results()[0] | {"score": NAN} for _ in range(45)]
    with pytest.raises(DataFileError) as caught:
        read_coco(annotated(), found)
    assert len(caught.value.problems) == 45
    lines = str(caught.value).splitlines()
    assert lines[0] == "45 problems:"
    assert lines[1:11] == [f"  predictions[{row}]: score is NaN" for row in range(10)]
    assert lines[11:] == ["  and 35 more"]


def test_bad_rows_of_both_files_are_told_in_their_order():
    truths, found = annotated(), results()
    truths["annotations"][2]["image_id"] = 9
    truths["annotations"][0]["bbox"] = "none"
    found[1]["category_id"] = 9
    found[0]["score"] = None
    assert problems_of(read_coco, truths, found) == [
        "truths: annotations[0] (id 0): bbox is 'none', not a list of 4 numbers",
        "truths: annotations[2] (id 5): image_id 9 is unknown",
        "predictions[0]: score is null, not a number",
        "predictions[1]: category_id 9 is unknown",
    ]


def test_files_of_another_kind_are_told_apart():
    assert problems_of(read_coco, results(), annotated()) == [
        "truths: is a list of 2, not an object with annotations",
        "predictions: is an object, not a list of results",
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b" \r\n", "is empty"),
        (b'{"images": [', "is cut short: Expecting value: line 1 column 13 (char 12)"),
        (
            b'{"images": [1,\n  2]',
            "is cut short: Expecting ',' delimiter: line 2 column 5 (char 19)",
        ),
        (b'{"ima', "is cut short: Unterminated string starting at: line 1 column 2 (char 1)"),
        (b"[1 2]", "is no JSON: Expecting ',' delimiter: line 1 column 4 (char 3)"),
        (b"[]]", "is no JSON: Extra data: line 1 column 3 (char 2)"),
        (b'{"a": "\xff"}', "is no Unicode text: "),
        (b"[" * 200_000, "is nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "cannot be read: "),
    ],
)
def test_what_is_no_json_is_told(tmp_path, content, told):
    path = tmp_path / "results.json"
    path.write_bytes(content)
    (problem,) = problems_of(read_coco, annotated(), path)
    assert problem.startswith(f"{path}: {told}")


def test_a_file_cut_anywhere_is_refused(tmp_path):
    truths = annotated() | {"more": [-1.5e-3, True, False, None]}
    path, text = tmp_path / "truths.json", json.dumps(truths, indent=1)
    for length in range(1, len(text)):
        path.write_text(text[:length])
        (problem,) = problems_of(read_coco, path, [])
        assert problem.startswith(f"{path}: is cut short")


def test_a_file_that_is_not_there_is_not_taken_for_an_empty_one(tmp_path):
    for read in (read_coco, read_voc, read_yolo):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "nothing", tmp_path)


ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 9),
        st.sampled_from(
            [0.5, -1e308, 1e308, NAN, np.inf, 2**63, -(2**63), 10**400, "", "7", "\ud800"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(["id", "bbox"]), inner)
    ),
    max_leaves=5,
)


def places(content, way=()):
    """The ways to everything in a structure."""
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in items:
        yield (*way, key)
        if isinstance(value, dict | list):
            yield from places(value, (*way, key))


@settings(max_examples=400)
@given(st.data())
def test_a_file_with_anything_in_it_is_read_whole_or_refused(data):
    both = [annotated(), results()]
    for _ in range(data.draw(st.integers(1, 3))):
        way = data.draw(st.sampled_from([way for way in places(both) if len(way) > 1]))
        changed(way, data.draw(st.just(...) | ANYTHING))(both)
    truths, found = both
    try:
        read = read_coco(truths, found)
    except DataFileError:
        return
    assert read.truths.boxes.tolist() == [row["bbox"] for row in truths["annotations"]]
    assert read.predictions.scores.tolist() == [row["score"] for row in found]


# Notes.


def test_boxes_that_reach_beyond_their_image_are_noted_and_measured_as_they_are():
    truths, found = annotated(), results()
    truths["annotations"][1]["bbox"] = [-2, 0, 204, 10]  # a hundredth of 200: not worth a note
    truths["annotations"][2]["bbox"] = [0, 0, 200, 202.5]
    found[0]["bbox"] = [500, 500, 10, 10]
    data = read_coco(truths, found)
    assert data.predictions.boxes[0].tolist() == [500, 500, 10, 10]
    assert data.notes == (
        "1 of 3 true boxes reach beyond their image, and are measured as they are",
        "1 of 2 predicted boxes reach beyond their image, and are measured as they are",
    )


def test_boxes_of_another_format_are_suspected():
    found = [results()[1] | {"bbox": [60, 20, 90, 45]}]  # corners, where width and height belong
    (note, _) = read_coco(annotated(), found).notes
    assert note == (
        "1 of 1 predicted boxes reach beyond their image, and are measured as they are; "
        "is their format what it should be?"
    )


def test_a_true_box_at_the_edge_of_its_image_lies_in_it_if_it_has_no_area():
    truths = annotated()
    truths["annotations"][1]["bbox"] = [200, 200, 0, 0]
    assert read_coco(truths, results()).notes == (
        "1 of 3 true boxes have no area, so nothing can match them",
    )


def test_what_need_not_be_found_is_noted():
    truths = annotated()
    truths["annotations"][0]["ignore"] = 1
    data = read_coco(truths, results())
    assert data.truths.ignore.tolist() == [True, False, False]
    assert data.notes == (
        IGNORED.format("1 of 3"),
        NO_AP.format("1 of 2", "car"),
    )


def test_the_size_of_an_image_is_found_in_whatever_order_images_are():
    truths = annotated()
    truths["images"].reverse()
    truths["annotations"][0]["bbox"] = [150, 10, 40, 20]
    assert problems_of(read_coco, truths, []) == [
        "truths: annotations[0] (id 0): box (150, 10, 40, 20) lies outside its image"
    ]


def test_an_id_that_cannot_be_read_is_nobodys_double():
    truths = annotated()
    truths["images"][0]["id"], truths["images"][1]["id"] = "x", 0
    assert problems_of(read_coco, truths, []) == [
        "truths: images[0]: id is 'x', not a whole number"
    ]


def test_an_image_with_nothing_to_find_needs_no_predictions():
    truths = annotated()
    del truths["annotations"][1]
    assert read_coco(truths, results()[1:]).notes == ()


def test_images_without_predictions_are_noted():
    assert read_coco(annotated(), results()[:1]).notes == (
        "1 of 2 images with objects have no prediction",
    )


# VOC.


def voc_object(name="dog", difficult="0", box=(1, 1, 10, 10)):
    corners = zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
    sides = "".join(f"<{corner}>{number}</{corner}>" for corner, number in corners)
    flag = "" if difficult is None else f"<difficult>{difficult}</difficult>"
    return f"<object><name>{name}</name>{flag}<bndbox>{sides}</bndbox></object>"


def voc_annotation(*objects, size="<size><width>100</width><height>50</height></size>"):
    return f"<annotation>{size}{''.join(objects)}</annotation>"


def folder(path, files):
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def reader(read, place):
    """Read what stands in files from a folder of truths and one of predictions."""

    def read_from(truths, predictions, **options):
        folders = folder(place / "truths", truths), folder(place / "found", predictions)
        return read(*folders, **options)

    return read_from


def told_by(read, place, *args, **options):
    """What is reported, with short names for the two folders."""
    return [
        problem.replace(str(place / "truths"), "{truths}")
        .replace(str(place / "found"), "{found}")
        .replace("\\", "/")
        for problem in problems_of(read, *args, **options)
    ]


@pytest.fixture
def voc(tmp_path):
    return reader(read_voc, tmp_path / "voc")


@pytest.fixture
def yolo(tmp_path):
    return reader(read_yolo, tmp_path / "yolo")


SCENE = {
    "000001.xml": voc_annotation(
        voc_object("dog", "0", (8, 12, 35.5, 50)),
        voc_object("traffic light", "1", (1, 1, 100, 50)),
        "<object><name>dog</name><pose>Left</pose><part><name>head</name><bndbox><xmin>9</xmin>"
        "</bndbox></part><bndbox><ymax>4</ymax><xmax> 3 </xmax><ymin>2</ymin><xmin>1</xmin>"
        "</bndbox></object>",
    ),
    "2007 000002.xml": voc_annotation(size=""),
    "notes.md": "not looked at",
}
FOUND = {
    "comp4_det_test_dog.txt": "000001 0.9 8 12 35 50\r\n\r\n2007 000002 1e-3 -5 1.5 10 10\r\n",
    "traffic light.txt": b"\xef\xbb\xbf000001 -0.5 1 1 100 50",
}


def test_voc_is_read_as_it_stands(voc):
    assert columns(voc(SCENE, FOUND)) == {
        "truths": [
            [[8, 12, 35.5, 50], [1, 1, 100, 50], [1, 2, 3, 4]],
            [0, 0, 0],
            [0, 1, 0],
            [False] * 3,
            [False, True, False],
            [28.5 * 39, 5000, 9],
        ],
        "predictions": [
            [[8, 12, 35, 50], [-5, 1.5, 10, 10], [1, 1, 100, 50]],
            [0.9, 1e-3, -0.5],
            [0, 1, 0],
            [0, 0, 1],
        ],
        "formats": ("xyxy_inclusive", "xyxy_inclusive"),
        "names": ({0: "000001", 1: "2007 000002"}, {0: "dog", 1: "traffic light"}),
        "notes": (NO_AP.format("1 of 3", "traffic light"),),
        "in_pixels": True,
    }


def test_a_list_of_images_chooses_and_a_list_of_classes_numbers(voc, tmp_path):
    names, classes = tmp_path / "test.txt", tmp_path / "classes.txt"
    names.write_bytes("\ufeff2007 000002\r\n".encode("utf-16-le"))
    classes.write_text("traffic light\ncat\ndog\n")
    found = {"comp3_det_val_dog.txt": "2007 000002 0.5 1 1 2 2", "cat.txt": ""}
    data = voc(SCENE, found, images=names, classes=classes)
    assert data.image_names == {0: "2007 000002"}
    assert data.label_names == {0: "traffic light", 1: "cat", 2: "dog"}
    assert (len(data.truths), data.predictions.labels.tolist()) == (0, [2])
    listed = voc(SCENE, found, images=["2007 000002"], classes=["traffic light", "cat", "dog"])
    assert columns(listed) == columns(data)


# Nothing was found.
NOTHING_VOC, NOTHING_YOLO = {"dog.txt": ""}, {"a.txt": ""}
BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><annotation>&c;</annotation>'
ONE = {"a.xml": voc_annotation(voc_object())}
BAD_VOC = {
    "{truths}/a.xml: is empty": ({"a.xml": " \n"}, NOTHING_VOC),
    "{truths}/a.xml: unclosed token: line 1, column 12": (
        {"a.xml": "<annotation><object"},
        NOTHING_VOC,
    ),
    "{truths}/a.xml: is no annotation: it starts with <html>": ({"a.xml": "<html/>"}, NOTHING_VOC),
    "{truths}/a.xml: declares a document type, which annotations have no use for": (
        {"a.xml": BOMB},
        NOTHING_VOC,
    ),
    "{truths}/a.xml: there are 2 <xmin> in one <bndbox>": (
        {"a.xml": ONE["a.xml"].replace("<ymin>", "<xmin>3</xmin><ymin>")},
        NOTHING_VOC,
    ),
    "{truths}/a.xml: there are 2 <bndbox> in one <object>": (
        {"a.xml": ONE["a.xml"].replace("</bndbox>", "</bndbox><bndbox></bndbox>")},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 1: name is missing": (
        {"a.xml": voc_annotation(voc_object(), voc_object()).replace("<name>dog</name>", "", 1)},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 2: xmax is missing": (
        {
            "a.xml": voc_annotation(voc_object(), "<object><name>dog</name></object>").replace(
                "</name></object>",
                "</name><bndbox><xmin>1</xmin><ymin>1</ymin><ymax>9</ymax></bndbox></object>",
            )
        },
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 1: xmin is '', not a number": (
        {"a.xml": voc_annotation(voc_object(box=("", 1, 1, 1)))},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 1: ymin is '1_0', not a number": (
        {"a.xml": voc_annotation(voc_object(box=(1, "1_0", 20, 20)))},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 1: xmax is NaN": (
        {"a.xml": voc_annotation(voc_object(box=(1, 1, "nan", 1)))},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 1: difficult is 'yes', not a whole number": (
        {"a.xml": voc_annotation(voc_object(difficult="yes"))},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 1: difficult is 2, neither 0 nor 1": (
        {"a.xml": voc_annotation(voc_object(difficult="2"))},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 1: box (9, 1, 8, 5): x_max < x_min": (
        {"a.xml": voc_annotation(voc_object(box=(9, 1, 8, 5)))},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, object 1: box (101, 1, 120, 5) lies outside its image": (
        {"a.xml": voc_annotation(voc_object(box=(101, 1, 120, 5)))},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, size 1: (0, 50) is not above 0": (
        {"a.xml": voc_annotation(size="<size><width>0</width><height>50</height></size>")},
        NOTHING_VOC,
    ),
    "{truths}/a.xml, size 1: height is missing": (
        {"a.xml": voc_annotation(size="<size><width>5</width></size>")},
        NOTHING_VOC,
    ),
    "{found}/cat.txt: class 'cat' is unknown": (ONE, {"cat.txt": ""}),
    "{found}/dog.txt: class 'dog' has two files, this and comp4_det_test_dog.txt": (
        ONE,
        {"dog.txt": "", "comp4_det_test_dog.txt": ""},
    ),
    "{found}/dog.txt: is no Unicode text: ": (ONE, {"dog.txt": b"a 0.5 1 1 2 \xff"}),
    "{found}/dog.txt, line 2: there are 5 fields, not 6 (image score xmin ymin xmax ymax)": (
        ONE,
        {"dog.txt": "a 0.5 1 1 2 2\na 1 1 2 2"},
    ),
    "{found}/dog.txt, line 2: image is 'b', which is unknown": (
        ONE,
        {"dog.txt": "a 0.5 1 1 2 2\nb 0.5 1 1 2 2"},
    ),
    "{found}/dog.txt, line 1: image is 'a.jpg', which is unknown; is it 'a'?": (
        ONE,
        {"dog.txt": "a.jpg 0.5 1 1 2 2"},
    ),
    "{found}/dog.txt, line 1: image is 'c.jpg', which is unknown": (
        ONE,
        {"dog.txt": "c.jpg 0.5 1 1 2 2"},
    ),
    "{found}/dog.txt, line 1: score is NaN": (ONE, {"dog.txt": "a nan 1 1 2 2"}),
    "{found}/dog.txt, line 1: score is inf, not finite": (ONE, {"dog.txt": "a 1e999 1 1 2 2"}),
    "{found}/dog.txt, line 1: score is 'high', not a number": (ONE, {"dog.txt": "a high 1 1 2 2"}),
    "{found}/dog.txt, line 3: box (1, 5, 2, 4): y_max < y_min": (
        ONE,
        {"dog.txt": "\n\na 0.5 1 5 2 4"},
    ),
}


@pytest.mark.parametrize("expected", BAD_VOC)
def test_whatever_is_wrong_with_voc_is_told_in_one_message(voc, tmp_path, expected):
    (told,) = told_by(voc, tmp_path / "voc", *BAD_VOC[expected])
    assert told == expected or (expected.endswith(": ") and told.startswith(expected))


def test_lists_and_files_that_name_something_twice_are_refused(voc, tmp_path):
    place = tmp_path / "voc"
    assert told_by(
        voc, place, ONE, NOTHING_VOC, images=["a", "a.jpg", "b"], classes=["dog", "dog"]
    ) == [
        "images: 'a' is there 2 times",
        "{truths}/b.xml: is missing",
        "classes: 'dog' is there 2 times",
    ]
    assert told_by(voc, place, {"a.XML": ONE["a.xml"], **ONE}, NOTHING_VOC) == [
        "{truths}/a.xml: is there twice, also as a.XML"
    ]


# Folders, and lists of names.


@pytest.mark.parametrize("options", [{}, {"images": ["a"]}, {"classes": ["dog", "cat", "cow"]}])
@pytest.mark.parametrize("others", [{}, {"a.csv": "", "b.json": "[]"}])
def test_a_folder_without_a_file_of_its_kind_is_refused(voc, yolo, tmp_path, others, options):
    """An image may well have no predictions; that none has a file is a mistyped path."""
    for kind, read, truths, found, missing in (
        (
            "voc",
            voc,
            others,
            NOTHING_VOC,
            "{truths}: there is no .xml file with the objects of an image",
        ),
        (
            "yolo",
            yolo,
            others,
            GUESSES,
            "{truths}: there is no .txt file with the objects of an image",
        ),
    ):
        assert told_by(read, tmp_path / kind, truths, found, **options) == [missing]


@pytest.mark.parametrize("options", [{}, {"images": ["a"]}, {"classes": ["dog", "cat", "cow"]}])
@pytest.mark.parametrize("others", [{}, {"a.xml": "<annotation/>", "b.json": "[]"}])
def test_no_file_at_all_is_not_taken_for_no_prediction(voc, yolo, tmp_path, others, options):
    for kind, read, truths, what in (
        ("voc", voc, ONE, "a class"),
        ("yolo", yolo, LABELS, "an image"),
    ):
        assert told_by(read, tmp_path / kind, truths, others, **options) == [
            f"{{found}}: there is no .txt file with the predictions of {what}"
        ]


def test_names_of_classes_are_no_objects_and_no_predictions(yolo, tmp_path):
    classes = {"classes.txt": "car\nboat\nsign"}
    assert told_by(yolo, tmp_path / "yolo", classes, classes, images=["a"]) == [
        "{truths}: there is no .txt file with the objects of an image",
        "{found}: there is no .txt file with the predictions of an image",
    ]


def test_a_list_of_images_is_one_of_this_folder(yolo, tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("images/train/x.jpg\nimages/train/y.jpg\n")
    for source, called in ((path, path), (["x", "y"], "images")):
        told = told_by(yolo, tmp_path / "yolo", LABELS, {"x.txt": ""}, images=source)
        assert told == [f"{{truths}}: there is no .txt file of an image in {called}"]
    assert yolo(LABELS, {"x.txt": ""}, images=["x", "a"]).image_names == {0: "x", 1: "a"}


def test_a_file_may_say_that_nothing_was_found(voc, yolo):
    for data in (voc(ONE, NOTHING_VOC), yolo(LABELS, NOTHING_YOLO)):
        assert len(data.predictions) == 0
        assert data.notes == ("1 of 1 images with objects have no prediction",)


def test_classes_are_not_called_unknown_while_a_file_that_may_have_them_is_unread(voc, tmp_path):
    assert told_by(voc, tmp_path / "voc", ONE | {"b.xml": ""}, {"cat.txt": "", "dog.txt": ""}) == [
        "{truths}/b.xml: is empty"
    ]


@pytest.mark.parametrize("option", ["images", "classes"])
@pytest.mark.parametrize("kind", ["yaml", "YML", "json", "xml"])
def test_a_list_of_names_is_no_yaml(voc, yolo, tmp_path, option, kind):
    """Each of its lines would be taken for a name."""
    path = tmp_path / f"data.{kind}"
    path.write_text("nc: 2\nnames:\n  - car\n  - boat\n")
    expected = "YAML" if kind in ("yaml", "YML") else kind.upper()
    for read, truths, found in ((voc, SCENE, FOUND), (yolo, LABELS, GUESSES)):
        for source in (path, str(path)):
            assert problems_of(read, truths, found, **{option: source}) == [
                f"{path}: is {expected}; write one name on each line of a text file"
            ]


@pytest.mark.parametrize("option", ["images", "classes"])
@pytest.mark.parametrize("content", [b"", b" \r\n\n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_a_list_without_names_is_told(voc, yolo, tmp_path, option, content):
    path = tmp_path / "names.txt"
    path.write_bytes(content)
    for read, truths, found in ((voc, SCENE, FOUND), (yolo, LABELS, GUESSES)):
        for source, called in ((path, path), ([], option)):
            assert problems_of(read, truths, found, **{option: source}) == [
                f"{called}: is empty; there should be one name on each line"
            ]


def test_a_list_that_is_no_text_is_not_taken_for_an_empty_one(yolo, tmp_path):
    path = tmp_path / "names.txt"
    path.write_bytes(b"\xffcar")
    (problem,) = problems_of(yolo, LABELS, GUESSES, classes=path)
    assert problem.startswith(f"{path}: is no Unicode text")


def test_a_class_that_is_not_in_a_list_names_the_list(voc, tmp_path):
    path = tmp_path / "voc.names"
    path.write_text("cat\n")
    found = NOTHING_VOC | {"cat.txt": ""}
    for source, called in ((path, path), (["cat"], "classes")):
        assert told_by(voc, tmp_path / "voc", ONE, found, classes=source) == [
            f"{{found}}/dog.txt: class 'dog' is not in {called}",
            f"{{truths}}/a.xml, object 1: name is 'dog', which is not in {called}",
        ]


def test_a_class_beyond_a_file_of_classes_names_the_file(yolo, tmp_path):
    path = tmp_path / "obj.names"
    path.write_text("car\nboat\n")
    place = tmp_path / "yolo"
    beyond = "class is 2, but {} has 2 names, counted from 0"
    for options, named in (({"classes": path}, path), ({}, "{truths}/classes.txt")):
        beside = {} if options else {"classes.txt": "car\nboat\n"}
        assert told_by(yolo, place, LABELS | beside, GUESSES, **options) == [
            "{truths}/a.txt, line 2: " + beyond.format(named),
            "{found}/b.txt, line 1: " + beyond.format(named),
        ]


# YOLO.


LABELS = {"a.txt": "0 0.5 0.5 0.25 0.5\n2 0.25 0.25 0.5 0.5\n", "b.txt": ""}
GUESSES = {"a.txt": "0 0.5 0.5 0.25 0.25 0.75\n", "b.txt": "2 0.5 0.5 1 1 0.5"}


def test_yolo_is_read_as_it_stands(yolo):
    assert columns(yolo(LABELS, GUESSES)) == {
        "truths": [
            [[0.5, 0.5, 0.25, 0.5], [0.25, 0.25, 0.5, 0.5]],
            [0, 0],
            [0, 2],
            [False, False],
            [False, False],
            [0.125, 0.25],
        ],
        "predictions": [
            [[0.5, 0.5, 0.25, 0.25], [0.5, 0.5, 1, 1]],
            [0.75, 0.5],
            [0, 1],
            [0, 2],
        ],
        "formats": ("cxcywh", "cxcywh"),
        "names": ({0: "a", 1: "b"}, {0: "0", 2: "2"}),
        "notes": (),
        "in_pixels": False,
    }


def test_sizes_turn_shares_into_pixels(yolo, tmp_path):
    path = tmp_path / "sizes.txt"
    path.write_text("b 10 10\na 640 480\nc 1 1\n")
    for sizes in (path, str(path), {"a": (640, 480), "b": (10, 10)}):
        data = yolo(LABELS, GUESSES, sizes=sizes)
        assert data.in_pixels
        assert data.truths.boxes.tolist() == [[320, 240, 160, 240], [160, 120, 320, 240]]
        assert data.truths.area.tolist() == [160 * 240, 320 * 240]
        assert data.predictions.boxes.tolist() == [[320, 240, 160, 120], [5, 5, 10, 10]]
    assert yolo(LABELS, GUESSES, sizes=(4, 8)).truths.area.tolist() == [4, 8]


def test_names_of_classes_stand_in_a_file_beside_the_truths(yolo):
    names = {"classes.txt": "car\nboat\nsign\n"}
    for data in (
        yolo(LABELS, GUESSES, classes=["car", "boat", "sign"]),
        yolo(LABELS | names, GUESSES | names),
    ):
        assert data.label_names == {0: "car", 1: "boat", 2: "sign"}
        assert data.image_names == {0: "a", 1: "b"}


def test_images_may_be_listed_as_paths_of_pictures(yolo, tmp_path):
    path = tmp_path / "val.txt"
    path.write_text("./images/val/c.v2.jpg\nC:\\data\\images\\a.PNG\nd.v3\n")
    data = yolo(LABELS, {"a.txt": ""}, images=path)
    assert data.image_names == {0: "c.v2", 1: "a", 2: "d.v3"}
    assert data.truths.images.tolist() == [1, 1]


BAD_YOLO = {
    "{truths}/a.txt, line 2: there are 4 fields, not 5 (class x_c y_c w h)": (
        {"a.txt": "0 0.5 0.5 0.1 0.1\n0 0.5 0.5 0.1"},
        NOTHING_YOLO,
        {},
    ),
    "{truths}/a.txt, line 1: there are 6 fields, not 5 (class x_c y_c w h); is the last a score?": (
        {"a.txt": "0 0.5 0.5 0.1 0.1 0.9"},
        NOTHING_YOLO,
        {},
    ),
    "{truths}/a.txt, line 1: there are 9 fields, not 5 (class x_c y_c w h); an outline?": (
        {"a.txt": "0 0.5 0.5 0.1 0.1 0.9 0.5 0.2 0.2"},
        NOTHING_YOLO,
        {},
    ),
    "{truths}/a.txt, line 1: class is '-1', not a whole number": (
        {"a.txt": "-1 0.5 0.5 0.1 0.1"},
        NOTHING_YOLO,
        {},
    ),
    "{truths}/a.txt, line 1: class is '1.5', not a whole number": (
        {"a.txt": "1.5 0.5 0.5 0.1 0.1"},
        NOTHING_YOLO,
        {},
    ),
    "{truths}/a.txt, line 1: class is 1, but classes has 1 name, counted from 0": (
        {"a.txt": "1 0.5 0.5 0.1 0.1"},
        NOTHING_YOLO,
        {"classes": ["car"]},
    ),
    "{truths}/a.txt, line 1: y_c is '0,5', not a number": (
        {"a.txt": "0 0.5 0,5 0.1 0.1"},
        NOTHING_YOLO,
        {},
    ),
    "{truths}/a.txt, line 1: box (0.5, 0.5, 0.1, -0.1): h < 0": (
        {"a.txt": "0 0.5 0.5 0.1 -0.1"},
        NOTHING_YOLO,
        {},
    ),
    "{truths}/a.txt, line 1: box (1.2, 0.5, 0.1, 0.1) lies outside its image": (
        {"a.txt": "0 1.2 0.5 0.1 0.1"},
        NOTHING_YOLO,
        {"sizes": (640, 480)},
    ),
    "{truths}/a.txt, line 1: box (32, 24, 64, 48) lies far from its image; is it in pixels?": (
        {"a.txt": "0 32 24 64 48"},
        NOTHING_YOLO,
        {"sizes": (640, 480)},
    ),
    "{found}/a.txt, line 2: box (0.5, 2, 0.5, 3) lies far from its image; is it in pixels?": (
        LABELS,
        {"a.txt": "0 0.5 1.99 3 3 0.9\n0 0.5 2 0.5 3 0.9"},
        {},
    ),
    "{found}/a.jpg.txt: there are no truths for this image; is it 'a'?": (
        LABELS,
        {"a.jpg.txt": ""},
        {},
    ),
    "{found}/a.txt, line 1: box (0.5, 0.5, 1e+306, 0.5) is beyond the range of float64": (
        LABELS,
        {"a.txt": "0 0.5 0.5 1e306 0.5 0.9"},
        {"sizes": (640, 480)},
    ),
    "{found}/c.txt: there are no truths for this image": (LABELS, {"c.txt": ""}, {}),
    "{found}/a.txt, line 1: there are 5 fields, not 6 (class x_c y_c w h score); "
    "is the score missing (save_conf)?": (LABELS, {"a.txt": "0 0.5 0.5 0.1 0.1"}, {}),
    "{found}/a.txt, line 1: score is NaN": (LABELS, {"a.txt": "0 0.5 0.5 0.1 0.1 NaN"}, {}),
    "sizes: there is no size of image 'b'": (
        LABELS,
        NOTHING_YOLO,
        {"sizes": {"a": (1, 1), 7: (1, 1)}},
    ),
    "sizes, image 'b': (0, 5) is not above 0": (
        LABELS,
        NOTHING_YOLO,
        {"sizes": {"a": (1, 1), "b": (0, 5)}},
    ),
    "sizes, image 'b': size has 1 numbers, not 2": (
        LABELS,
        NOTHING_YOLO,
        {"sizes": {"a": (1, 1), "b": (5,)}},
    ),
    "sizes, image 'b': size is 7, not a list of 2 numbers": (
        LABELS,
        NOTHING_YOLO,
        {"sizes": {"a": (1, 1), "b": 7}},
    ),
}


@pytest.mark.parametrize("expected", BAD_YOLO)
def test_whatever_is_wrong_with_yolo_is_told_in_one_message(yolo, tmp_path, expected):
    truths, found, options = BAD_YOLO[expected]
    assert told_by(yolo, tmp_path / "yolo", truths, found, **options) == [expected]


def test_a_file_of_sizes_is_read_as_carefully(yolo, tmp_path):
    path = tmp_path / "sizes.txt"
    path.write_text("a 640 x\nb 10\nb 10 10\na 640 480\n")
    assert problems_of(yolo, LABELS, GUESSES, sizes=path) == [
        f"{path}: 'a' is there 2 times",
        f"{path}, line 1: height is 'x', not a number",
        f"{path}, line 2: there are 2 fields, not 3 (image width height)",
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a 640 480\n", "there is no size of image 'b'"),
        (b"a 1 1\nb.png 1 1", "there is no size of image 'b'; is it that of 'b.png'?"),
        (b" \n", "is empty; each line should have a name, a width and a height"),
        (b"\xffa 640 480", "is no Unicode text: "),
    ],
)
def test_a_file_of_sizes_is_named(yolo, tmp_path, content, told):
    path = tmp_path / "sizes.txt"
    path.write_bytes(content)
    (problem,) = problems_of(yolo, LABELS, GUESSES, sizes=path)
    assert problem == f"{path}: {told}" or (
        told.endswith(": ") and problem.startswith(f"{path}: {told}")
    )


TEXT = st.text(st.sampled_from("01 .-en\n\r\t_é\ufeff\0"), max_size=40)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXT, TEXT)
@example("0 .1 .1 .1 .1", "0 .1 .1 .1 .1 1")
def test_texts_with_anything_in_them_are_read_whole_or_refused(yolo, truths, found):
    try:
        data = yolo({"a.txt": truths}, {"a.txt": found})
    except DataFileError:
        return
    for text, rows in ((truths, data.truths), (found, data.predictions)):
        assert len(rows) == sum(1 for line in text.lstrip("\ufeff").split("\n") if line.strip())


# One scene in three formats.


@st.composite
def scenes(draw):
    """Integer boxes in images of 64 by 32 pixels, which every format carries exactly."""
    side = st.integers(1, 16)
    corner = st.tuples(st.integers(0, 48), st.integers(0, 16))
    box = st.tuples(corner, side, side).map(lambda b: [*b[0], b[1], b[2]])
    row = st.tuples(st.integers(0, 2), st.integers(0, 1), box)
    return draw(st.lists(row, max_size=6)), draw(st.lists(row, max_size=6))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scenes())
def test_one_scene_is_the_same_in_all_formats(voc, yolo, scene):
    truths, found = scene
    ids, names = range(3), ["car", "boat"]
    coco = read_coco(
        {
            "images": [{"id": i, "width": 64, "height": 32} for i in ids],
            "categories": [{"id": k, "name": name} for k, name in enumerate(names)],
            "annotations": [
                {"id": n, "image_id": i, "category_id": k, "bbox": box}
                for n, (i, k, box) in enumerate(truths)
            ],
        },
        [
            {"image_id": i, "category_id": k, "bbox": box, "score": n / 8}
            for n, (i, k, box) in enumerate(found)
        ],
    )

    def inclusive(box):
        x, y, w, h = box
        return x + 1, y + 1, x + w, y + h

    voc_truths = {
        f"{i}.xml": voc_annotation(
            *(voc_object(names[k], box=inclusive(box)) for j, k, box in truths if j == i),
            size="<size><width>64</width><height>32</height></size>",
        )
        for i in ids
    }
    voc_found = {
        f"{name}.txt": "\n".join(
            " ".join(map(str, (i, n / 8, *inclusive(box))))
            for n, (i, k, box) in enumerate(found)
            if names[k] == name
        )
        for name in names
    }
    of_voc = voc(voc_truths, voc_found, classes=names)

    def line(k, box, *more):
        x, y, w, h = box
        shares = (x + w / 2) / 64, (y + h / 2) / 32, w / 64, h / 32
        return " ".join(map(str, (k, *shares, *more)))

    yolo_truths = {f"{i}.txt": "\n".join(line(*row) for j, *row in truths if j == i) for i in ids}
    yolo_found = {
        f"{i}.txt": "\n".join(line(*row, n / 8) for n, (j, *row) in enumerate(found) if j == i)
        for i in ids
    }
    of_yolo = yolo(yolo_truths, yolo_found, classes=names, sizes=(64, 32))

    def rows(data, shift=0):
        tables = []
        for table, last in (
            (data.truths, data.truths.area),
            (data.predictions, data.predictions.scores),
        ):
            corners = convert(table.boxes, fmt=table.fmt) - shift
            tables.append(sorted(zip(table.images, table.labels, *corners.T, last, strict=True)))
        return tables

    assert rows(coco) == rows(of_voc, shift=1) == rows(of_yolo)


def test_iou_does_not_change_when_an_axis_is_scaled(yolo):
    """So that shares of an image serve as well as pixels."""
    rng = np.random.default_rng(1)
    centre, side = rng.uniform(0.2, 0.8, (40, 2)), rng.uniform(0.05, 0.4, (40, 2))
    boxes = np.hstack([centre, side])
    text = "\n".join("0 " + " ".join(map(repr, row)) for row in boxes.tolist())
    found = "\n".join("0 " + " ".join(map(repr, row)) + " 0.5" for row in boxes[::-1].tolist())
    values = []
    for sizes in (None, (640, 480)):
        data = yolo({"a.txt": text}, {"a.txt": found}, sizes=sizes)
        values.append(iou(data.truths.boxes, data.predictions.boxes, fmt="cxcywh"))
    assert values[0].max() > 0.1
    np.testing.assert_allclose(*values, rtol=1e-14)


@pytest.mark.parametrize("kind", ["coco", "voc", "yolo"])
def test_progress_hands_out_all_there_is_to_read(voc, yolo, kind):
    seen = []

    def progress(items, what):
        for item in items:
            seen.append(what)
            yield item

    if kind == "coco":
        read_coco(annotated(), results(), progress=progress)
        assert seen == ["reading"] * 2
    elif kind == "voc":
        voc(SCENE, FOUND, progress=progress)
        assert seen == ["reading annotations"] * 2 + ["reading predictions"] * 2
    else:
        yolo(LABELS, GUESSES, progress=progress)
        assert seen == ["reading truths"] * 2 + ["reading predictions"] * 2


def test_a_data_set_cannot_be_changed():
    data = read_coco(annotated(), results())
    assert isinstance(data, DataSet)
    with pytest.raises(AttributeError):
        data.truths = None
    assert issubclass(files.DataFileError, ValueError)


def test_a_number_too_long_to_be_shown_is_told_as_such():
    truths = {"images": [{"id": 10**5000}], "categories": [], "annotations": []}
    with pytest.raises(DataFileError, match="thousands of digits"):
        read_coco(truths, [])
