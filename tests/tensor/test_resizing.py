"""Tensors that are given another size: who shares their memory goes on sharing it."""

import gc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

FIXED = "Trying to resize storage that is not resizable"


def numbers(n: int = 6) -> Any:
    return torch.arange(float(n))


@pytest.mark.parametrize(
    "share",
    [
        lambda a: a[2:],
        lambda a: a.detach()[2:],
        lambda a: a.view(2, 3).reshape(-1)[2:],
        lambda a: torch.empty(0).set_(a)[2:],
        lambda a: torch.nn.Parameter(a).data[2:],
        lambda a: torch.as_strided(a, (4,), (1,), 2),
        lambda a: torch.split(a, [2, 4])[1],
    ],
)
@pytest.mark.parametrize("size", [3, 6, 12, 5000])
def test_what_shares_the_memory_still_does(share: Callable[[Any], Any], size: int) -> None:
    a = numbers()
    b = share(a)
    assert a.resize_(size) is a
    a[2] = 9
    b[1] = 8
    assert b.tolist() == [9, 8, 4, 5]
    assert a[:3].tolist() == [0, 1, 9]
    assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    assert a.untyped_storage().nbytes() == b.untyped_storage().nbytes() == max(24, 4 * size)
    assert b.data_ptr() == a.data_ptr() + 8


def test_a_view_that_grows_takes_its_base_along() -> None:
    a = numbers()
    v = a[2:]
    v.resize_(10)
    v[0] = 9
    assert a.tolist() == [0, 1, 9, 3, 4, 5]
    assert v[:4].tolist() == [9, 3, 4, 5]
    assert v.storage_offset() == 2 and a.untyped_storage().nbytes() == 48
    assert v._base is a


def test_elements_keep_their_place_in_memory() -> None:
    a = numbers().reshape(2, 3).t()
    assert a.resize_(3, 2).stride() == (1, 3)  # the same shape: nothing happens
    a.resize_(2, 3)
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]] and a.stride() == (3, 1)
    v = torch.ones(2, 3).expand(4, 2, 3)
    assert v.resize_(4, 2, 3).stride() == (0, 3, 1)
    assert v.resize_(24).untyped_storage().nbytes() == 96


def test_what_was_cut_off_comes_back() -> None:
    a = numbers()
    a.resize_(0)
    assert a.shape == (0,) and a.untyped_storage().nbytes() == 24
    assert a.resize_(6).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_view_of_another_type_follows() -> None:
    a = numbers()
    v = a.view(torch.int32)
    v.resize_(9)
    v[0] = 1
    assert a.untyped_storage().nbytes() == 36 and a[0].item() != 0
    b = torch.ones(3, dtype=torch.bfloat16) if hasattr(torch, "bfloat16") else numbers(3)
    w = b[1:]
    b.resize_(40)
    b[1] = 5
    assert w[0].item() == 5


@pytest.mark.parametrize(
    "shown",
    [
        lambda: torch.from_numpy(np.arange(6.0)),
        lambda: torch.as_tensor(np.arange(6.0)),
        lambda: torch.from_numpy(np.arange(12.0)[::2]),
        lambda: torch.frombuffer(bytearray(48), dtype=torch.float64),
        lambda: (t := torch.zeros(6), t.numpy())[0],
        lambda: (t := torch.zeros(6), t[2:].numpy())[0],
        lambda: (t := torch.zeros(6), np.asarray(t))[0],
    ],
)
def test_memory_that_numpy_has_seen_does_not_grow(shown: Callable[[], Any]) -> None:
    t = shown()
    with pytest.raises(RuntimeError, match=FIXED):
        t.resize_(50)
    assert t.shape == (6,)
    with (
        warnings.catch_warnings(),
        pytest.raises(RuntimeError, match=FIXED),
    ):
        warnings.simplefilter("ignore")
        torch.add(torch.ones(50, dtype=t.dtype), 1, out=t)
    assert not t.untyped_storage().resizable()
    with pytest.raises(RuntimeError, match=FIXED):
        t.untyped_storage().resize_(1000)


def test_memory_that_numpy_has_seen_is_shared_where_it_suffices() -> None:
    n = np.arange(6.0)
    t = torch.from_numpy(n)
    t.resize_(3)
    t[0] = 5
    assert n.tolist() == [5, 1, 2, 3, 4, 5]


def test_a_storage_that_grows_takes_its_tensors_along() -> None:
    a = numbers()
    v = a[1:]
    storage = a.untyped_storage()
    storage.resize_(48)
    assert storage.nbytes() == 48 and storage.resizable()
    assert a.data_ptr() == storage.data_ptr() == v.data_ptr() - 4
    v[0] = 7
    assert a.tolist() == [0, 7, 2, 3, 4, 5]
    a.resize_(12)
    assert a.untyped_storage().data_ptr() == storage.data_ptr()


def test_out_writes_where_a_view_lies() -> None:
    a = numbers()
    v = a[1:3]
    assert torch.add(torch.ones(2), 1, out=v) is v
    assert a.tolist() == [0, 2, 2, 3, 4, 5]
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        torch.add(torch.ones(4), 2, out=v)
    assert a.tolist() == [0, 3, 3, 3, 3, 5] and v.tolist() == [3, 3, 3, 3]
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        torch.add(torch.ones(40), 3, out=v)
    assert a.tolist() == [0, 4, 4, 4, 4, 4] and v.shape == (40,)
    assert v.data_ptr() == a.data_ptr() + 4


def test_an_empty_out_is_seen_by_what_shares_it() -> None:
    a = torch.empty(0)
    v = a[:]
    torch.add(torch.ones(4), 1, out=a)
    assert a.tolist() == [2, 2, 2, 2] and v.shape == (0,)
    assert v.untyped_storage().nbytes() == 16


def test_a_view_without_elements_is_refused_where_its_place_is_not_known() -> None:
    a = numbers()
    v = a[1:1]
    with pytest.raises(NotImplementedError, match="its place in memory"):
        torch.add(torch.ones(4), 1, out=v)
    with pytest.raises(NotImplementedError, match="its place in memory"):
        v.resize_(3)
    assert a.tolist() == [0, 1, 2, 3, 4, 5]
    w = a[2:]
    w.resize_(0)
    w.resize_(2).fill_(7)
    assert a.tolist() == [0, 1, 7, 7, 4, 5]


def test_a_detached_result_that_grows_stays_part_of_its_graph() -> None:
    a = numbers().requires_grad_()
    b = a * a
    d = b.detach()
    d.resize_(12)
    d[0] = 5
    assert b[0].item() == 5
    (a * 2).sum().backward()
    assert a.grad.tolist() == [2] * 6


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((), TypeError, r'resize_\(\) missing 1 required positional arguments: "size"'),
        ((3, "a"), TypeError, "failed to unpack the object at pos 2"),
        ((-3,), RuntimeError, "numel: integer multiplication overflow"),
        ((1 << 62, 1 << 62), RuntimeError, "numel: integer multiplication overflow"),
    ],
)
def test_wrong_sizes_change_nothing(arguments: Any, error: type[Exception], text: str) -> None:
    a = torch.ones(2, 3)
    with pytest.raises(error, match=text):
        a.resize_(*arguments)
    assert a.shape == (2, 3) and a._version == 0


def test_a_memory_format_sets_the_strides() -> None:
    a = torch.ones(2, 3)
    assert a.resize_((1, 2, 3, 2), memory_format=torch.channels_last).stride() == (12, 1, 4, 2)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(2, 3).resize_((3, 2), memory_format=torch.channels_last)
    like = torch.ones(1, 2, 3, 2).to(memory_format=torch.channels_last)
    assert torch.ones(2).resize_as_(like).stride() == (12, 6, 2, 1)
    kept = torch.ones(2).resize_as_(like, memory_format=torch.preserve_format)
    assert kept.stride() == (12, 1, 4, 2)


def test_those_that_share_memory_are_found_among_young_objects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_all: list[Any] = []
    get_objects = gc.get_objects

    def asked(generation: int | None = None) -> list[Any]:
        of_all.extend([] if generation is not None else [None])
        return get_objects(generation)

    monkeypatch.setattr(gc, "get_objects", asked)
    a = numbers()
    a.resize_(9)  # nobody else looks at it
    b, c = a[2:], a.detach()
    for size in (20, 40):
        a.resize_(size)
        b.resize_(size)
        c.resize_(2 * size)
    a[2] = 9
    assert b[0] == c[2] == 9 and not of_all
    loose = a._raw[1:]  # an array that no tensor has: somebody may
    a.resize_(400)
    assert of_all and loose.size


@pytest.mark.parametrize("frozen", [False, True])
def test_old_and_frozen_tensors_follow(frozen: bool) -> None:
    a = numbers()
    old = a[2:], a.detach(), a.view(2, 3), torch.empty(0).set_(a)
    gc.collect()
    if frozen:
        gc.freeze()
    try:
        young = a[3:]
        for size in (20, 5000):
            a.resize_(size)
            a.copy_(torch.arange(float(size)))
            assert [x.flatten()[0].item() for x in (*old, young)] == [2, 0, 0, 0, 3]
            assert {x.untyped_storage().data_ptr() for x in (*old, young)} == {a.data_ptr()}
    finally:
        gc.unfreeze()


def test_a_collection_in_between_hides_nobody() -> None:
    threshold = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for n in range(1, 40):
            a = torch.zeros(n)
            views = [a[k:] for k in range(n)]
            a.resize_(2 * n)
            a.fill_(float(n))
            assert all(v.eq(n).all() for v in views)
    finally:
        gc.set_threshold(*threshold)


def test_many_tensors_grow_together_and_alone() -> None:
    for seed in range(60):
        torch.manual_seed(seed)
        n = int(torch.randint(1, 30, ()))
        a = torch.arange(float(n))
        parts = [a[int(torch.randint(0, n, ())) :] for _ in range(4)]
        places = [n - p.numel() for p in parts]
        for _ in range(4):
            which = int(torch.randint(0, 5, ()))
            chosen = a if which == 4 else parts[which]
            chosen.resize_(int(torch.randint(1, 60, ())))
            a.resize_(n)
            a.fill_(float(seed))
            a += torch.arange(float(n))
            for part, place in zip(parts, places):
                both = min(part.numel(), n - place)
                assert part[:both].tolist() == a[place : place + both].tolist()
