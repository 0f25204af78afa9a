"""Pipes of data: steps by name, one iterator at a time, orders, shares, graphs."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.utils.data import DataLoader, IterDataPipe, functional_datapipe
from rushlight.utils.data.datapipes import iter as steps, map as maps
from rushlight.utils.data.graph import traverse_dps
from rushlight.utils.data.graph_settings import (
    apply_random_seed,
    apply_sharding,
    apply_shuffle_settings,
    get_all_graph_pipes,
)


def add(x: int) -> int:
    return x + 1


def odd(x: int) -> int:
    return x % 2


def wrap(*items: Any) -> Any:
    return steps.IterableWrapper(list(items))


def test_steps_are_called_by_name() -> None:
    pipe = wrap(0, 1, 2, 3, 4).map(add).filter(lambda_free).batch(2)
    assert list(pipe) == [[2, 3], [4, 5]] and repr(pipe) == "BatcherIterDataPipe"
    assert list(wrap((1, 2)).map(add, input_col=1, output_col=-1)) == [(1, 2, 3)]
    assert next(iter(wrap(1, 2).batch(2).collate())).tolist() == [1, 2]
    assert list(wrap(0, 1).concat(wrap(2))) == [0, 1, 2]
    assert list(wrap(0, 1).zip(wrap(5, 6))) == [(0, 5), (1, 6)]
    assert list(wrap(0, 1).mux(wrap(5, 6, 7))) == [0, 5, 1, 6]
    assert list(wrap(0, 1, 2).groupby(odd)) == [[0, 2], [1]]
    assert list(wrap([[1], [2]]).unbatch(unbatch_level=-1)) == [1, 2]


def lambda_free(x: int) -> bool:
    return x > 1


def test_a_pipe_is_split_among_several() -> None:
    first, second = wrap(0, 1, 2).fork(num_instances=2)
    assert list(first) == list(second) == list(first) == [0, 1, 2]
    even, uneven = wrap(0, 1, 2).demux(num_instances=2, classifier_fn=odd)
    assert (list(even), list(uneven)) == ([0, 2], [1])
    with pytest.raises(BufferError, match="buffer size 1 is insufficient"):
        list(wrap(0, 1, 2).fork(num_instances=2, buffer_size=1)[0])


def test_a_new_iterator_ends_the_one_before() -> None:
    pipe = wrap(0, 1, 2)
    first = iter(pipe)
    next(first)
    next(iter(pipe))
    with pytest.raises(RuntimeError, match="This iterator has been invalidated because another"):
        next(first)


def test_an_error_tells_the_step() -> None:
    with pytest.raises(IndexError, match=r"is thrown by __iter__ of UnBatcherIterDataPipe\(data"):
        list(wrap(1).unbatch())


def test_an_order_follows_from_its_seed() -> None:
    assert list(steps.IterableWrapper(range(10)).shuffle().set_seed(3)) == [
        3, 9, 2, 4, 7, 6, 0, 8, 1, 5,
    ]  # fmt: skip
    assert list(maps.SequenceWrapper(range(5)).shuffle().set_seed(2)) == [2, 1, 3, 4, 0]
    pipe = steps.IterableWrapper(range(10)).shuffle()
    apply_random_seed(pipe, torch.Generator().manual_seed(3))
    assert list(pipe) == [3, 4, 8, 2, 7, 9, 6, 0, 1, 5]
    assert list(apply_shuffle_settings(wrap(0, 1, 2).shuffle(), False)) == [0, 1, 2]


def test_items_are_shared_among_workers() -> None:
    pipe = steps.IterableWrapper(range(7)).sharding_filter()
    apply_sharding(pipe, 2, 1)
    assert list(pipe) == [1, 3, 5] and len(pipe) == 3
    twice: Any = wrap(1).sharding_filter().map(add).sharding_filter()
    with pytest.raises(RuntimeError, match="Sharding twice on a single pipeline"):
        apply_sharding(twice, 2, 0)
    loader = DataLoader(steps.IterableWrapper(range(6)).sharding_filter(), num_workers=2)
    assert sorted(int(batch) for batch in loader) == [0, 1, 2, 3, 4, 5]


def test_a_loader_shuffles_the_steps_that_do() -> None:
    torch.manual_seed(0)
    loader: Any = DataLoader(steps.IterableWrapper(range(8)).shuffle(), batch_size=None)
    assert list(loader) == [0, 5, 6, 3, 7, 1, 2, 4]


def test_the_graph_of_a_pipe_holds_its_steps() -> None:
    pipe = wrap(0).map(add).zip(wrap(1).shuffle())
    names = [repr(step) for step in get_all_graph_pipes(traverse_dps(pipe))]
    assert names == [
        "ZipperIterDataPipe", "MapperIterDataPipe", "IterableWrapperIterDataPipe",
        "ShufflerIterDataPipe", "IterableWrapperIterDataPipe",
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match="Expected `IterDataPipe` or `MapDataPipe`, but"):
        traverse_dps(3)  # type: ignore[arg-type]


def test_mappings_have_steps_too() -> None:
    source: Any = maps.SequenceWrapper(range(3))
    assert [source.map(add)[i] for i in range(3)] == [1, 2, 3]
    assert source.batch(2)[1] == [2] and len(source.batch(2)) == 2
    joined = source.concat(maps.SequenceWrapper([7]))
    assert joined[3] == 7 and source.zip(source)[1] == (1, 1)
    with pytest.raises(IndexError, match=r"Index 9 is out of range\."):
        joined[9]


def test_a_step_of_ones_own_has_a_name_once() -> None:
    class Tripled(IterDataPipe[int]):
        def __init__(self, source: Any) -> None:
            self.source = source

        def __iter__(self) -> Iterator[int]:
            for x in self.source:
                yield 3 * x

    functional_datapipe("tripled")(Tripled)
    try:
        assert list(wrap(1, 2).tripled()) == [3, 6]
        with pytest.raises(Exception, match="function name tripled as it is already taken"):
            functional_datapipe("tripled")(Tripled)
    finally:
        del IterDataPipe.functions["tripled"]
    with pytest.raises(AttributeError, match="object has no attribute 'tripled"):
        wrap(1).tripled()


def test_pipes_are_pickled() -> None:
    pipe = pickle.loads(pickle.dumps(wrap(0, 1, 2).map(add).shuffle().set_seed(4)))
    assert list(pipe) == [1, 3, 2]


def test_files_are_listed_in_order(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    for name in ("b.txt", "a.csv", "inner/c.txt"):
        (tmp_path / name).touch()
    root = str(tmp_path)

    def names(pipe: Any) -> list[str]:
        return [path[len(root) + 1 :] for path in pipe]

    assert names(steps.FileLister(root)) == ["a.csv", "b.txt"]
    assert names(steps.FileLister(root, "*.txt", recursive=True)) == ["b.txt", "inner/c.txt"]
    listed = steps.IterableWrapper([root, f"{root}/a.csv"]).list_files(["a*", "x"])
    assert names(listed) == ["a.csv", "a.csv"]
    assert len(steps.FileLister(root, length=3)) == 3
    with pytest.raises(TypeError, match="doesn't have valid length"):
        len(steps.FileLister(root))
    with (
        pytest.warns(UserWarning, match="No such file"),
        pytest.raises(FileNotFoundError, match="No such file"),
    ):
        list(steps.FileLister(f"{root}/none"))
