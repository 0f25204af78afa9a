"""Charts: their ticks, what they draw and what they refuse."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree

import pytest

from rushlight.viz.chart import confusion_chart, line_chart, ticks

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg):
    return [
        "".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")
    ]


def curves(svg):
    paths = ElementTree.fromstring(svg).iter(f"{SVG}path")
    return [path.get("d") for path in paths if path.get("class") == "rl-curve"]


def chart(series, **options):
    return line_chart(series, title="Loss", x_label="epoch", y_label="nats", **options)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0.013, 0.0137), (-3, 12345), (1e-9, 2e-9), (0.97, 1.0), (-5, -1)]
)
def test_ticks_are_few_even_and_enclose_the_range(low, high):
    marks = ticks(low, high)
    assert marks[0] <= low and marks[-1] >= high
    assert 3 <= len(marks) <= 9
    steps = [b - a for a, b in itertools.pairwise(marks)]
    assert all(math.isclose(step, steps[0], rel_tol=1e-6) for step in steps)


def test_ticks_are_written_without_rounding_dirt():
    assert ticks(0, 0.6) == [0.0, 0.2, 0.4, 0.6]


def test_a_range_of_one_value_still_has_ticks():
    assert ticks(2, 2)[0] < 2 < ticks(2, 2)[-1]
    assert ticks(0, 0)[0] < 0 < ticks(0, 0)[-1]


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_an_endless_axis_is_refused(value):
    with pytest.raises(ValueError, match="finite"):
        ticks(0, value)


def test_a_line_goes_through_all_its_values():
    (path,) = curves(chart({"train": [3.0, 2.0, 1.0]}))
    points = [tuple(map(float, point)) for point in re.findall(r"([\d.]+) ([\d.]+)", path)]
    assert len(points) == 3
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.2)
    assert y2 > y0  # smaller values are lower on the page


def test_axes_and_lines_are_labelled():
    words = texts(chart({"train": [3.0, 2.0], "test": [4.0, 3.5]}))
    assert {"Loss", "epoch", "nats", "train", "test", "1", "2"} <= set(words)


def test_an_axis_from_zero_starts_at_zero():
    assert "0" in texts(chart({"train": [5.0, 4.0]}, from_zero=True))
    assert "0" not in texts(chart({"train": [5.0, 4.0]}))


def test_a_value_that_is_not_finite_leaves_a_gap():
    (path,) = curves(chart({"train": [1.0, 2.0, math.nan, 3.0, 2.0]}))
    assert re.sub(r"[\d. ]", "", path) == "MLML"


def test_one_value_is_a_point_and_no_error():
    assert curves(chart({"train": [1.0]})) != []


def test_steps_of_a_long_run_are_labelled_sparsely():
    words = texts(chart({"train": [float(i) for i in range(1000)]}))
    steps = [int(word) for word in words if word.isdigit()]
    assert {1, 1000} <= set(steps) and len(steps) < 25


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="nothing to draw"):
        chart({"train": [math.nan]})


def test_more_lines_than_colours_are_refused():
    with pytest.raises(ValueError, match="at most 4 lines, got 5"):
        chart({str(i): [1.0] for i in range(5)})


def test_a_confusion_matrix_shows_counts_recall_and_precision():
    words = texts(confusion_chart([[3, 1], [0, 4]], ["cat", "dog"], title="Pets"))
    assert [word for word in words if word.isdigit()] == ["3", "1", "4"]
    assert "75%" in words  # three of four cats
    assert "80%" in words  # four of five who were called dogs


def test_a_class_that_never_occurs_has_no_recall():
    assert "nan" not in confusion_chart([[2, 0], [0, 0]], ["a", "b"], title="t").lower()


def test_a_confusion_matrix_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="needs 2 rows of 2 counts"):
        confusion_chart([[1, 2, 3], [4, 5, 6]], ["a", "b"], title="t")
