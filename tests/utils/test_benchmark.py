"""Times of statements, and paths into nested containers."""

from collections import namedtuple

from rushlight.utils import _pytree as tree, benchmark

Pair = namedtuple("Pair", "first second")


def measured(times: list[float], sub: str, description: str) -> benchmark.Measurement:
    spec = benchmark.TaskSpec("x", "pass", label="L", sub_label=sub, description=description)
    return benchmark.Measurement(10, times, spec)


def test_a_measurement_tells_the_time_of_one_run() -> None:
    m = measured([1e-5, 3e-5, 2e-5], "a", "b")
    assert abs(m.median - 2e-6) < 1e-12 and abs(m.mean - 2e-6) < 1e-12
    assert m.has_warnings
    assert "Median: 2.00 us" in repr(m)


def test_a_timer_runs_the_statement_as_often_as_it_says() -> None:
    counts = [0]
    found = benchmark.Timer("counts[0] += 1", globals={"counts": counts}).timeit(50)
    assert found.number_per_run == 50
    assert counts[0] == 52  # two of them to warm up


def test_a_comparison_has_a_row_for_each_sub_label_and_a_column_for_each_description() -> None:
    table = str(
        benchmark.Compare([measured([1e-5] * 3, "one", "A"), measured([2e-5] * 3, "two", "B")])
    )
    lines = table.splitlines()
    assert lines[1].split() == ["|", "A", "|", "B"]
    assert lines[3].split() == ["one", "|", "1.0", "|"]
    assert lines[4].split() == ["two", "|", "|", "2.0"]


def test_each_leaf_is_found_again_by_its_path() -> None:
    nested = {"x": [1, (2, 3)], "y": Pair(4, {"z": 5})}
    found = tree.tree_leaves_with_path(nested)
    assert [tree.keystr(path) for path, _ in found] == [
        "['x'][0]", "['x'][1][0]", "['x'][1][1]", "['y'].first", "['y'].second['z']",
    ]  # fmt: skip
    assert all(tree.key_get(nested, path) == leaf for path, leaf in found)
    named = tree.tree_map_with_path(lambda path, leaf: len(path) * leaf, nested)
    assert named == {"x": [2, (6, 9)], "y": Pair(8, {"z": 15})}
