"""Plain nodes are left out of garbage collections, which find what may lead back to itself."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest

import rushlight as torch
from rushlight._core.hooks import COLLECTOR
from rushlight._core.node import Node

compiled = pytest.mark.skipif(COLLECTOR.track is None, reason="a C compiler didn't build it")


class Mark:
    """Something that is seen to be gone."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf() -> torch.Tensor:
    return torch.ones(3, requires_grad=True)


def nodes_of(y: torch.Tensor) -> list[Node]:
    """The nodes of a chain, from its end."""
    found, node = [], y._node
    while isinstance(node, Node):
        found.append(node)
        node = node.next[0]
    return found


@compiled
def test_nodes_that_lead_to_nodes_are_left_out() -> None:
    y = leaf() * 2
    z = (y * torch.ones(3)).exp().reshape(3, 1)
    last, *rest = reversed(nodes_of(z))
    assert all(map(gc.is_tracked, [last, *rest]))
    gc.collect()
    assert gc.is_tracked(last)  # who refers to a leaf can be asked
    assert not any(gc.is_tracked(x) for node in rest for x in (node, node.next, node.saved))


def test_a_graph_is_freed_without_the_collector() -> None:
    x, mark = leaf(), Mark()
    y = ((x * 2).exp() * torch.ones(3)).sum()
    y._node.next[0].meta = {"mark": mark}  # type: ignore[union-attr]
    gone = weakref.ref(mark)
    del mark
    gc.collect()
    assert gone() is not None
    y.backward()
    assert x.grad is not None
    del y
    assert gone() is None


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(
    "give",
    [
        lambda y, f: y.register_hook(f),
        lambda y, f: y.grad_fn.register_hook(f),
        lambda y, f: y.grad_fn.register_prehook(f),
        lambda y, f: y.grad_fn.metadata.update(f=f),
    ],
    ids=["tensor", "node", "before the node", "metadata"],
)
def test_a_hook_that_holds_its_tensor_is_found(give: Callable[..., object], before: bool) -> None:
    y = (leaf() * 2).exp() * torch.ones(3)
    mark = Mark()
    if before:
        gc.collect()
    give(y, lambda *gradients, kept=(y, mark): None)
    gone = weakref.ref(mark)
    del mark, y
    assert gone() is not None
    gc.collect()
    assert gone() is None


def test_what_is_packed_or_in_a_context_is_found() -> None:
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):  # type: ignore[no-untyped-def]
            return x.exp()

        @staticmethod
        def backward(ctx, g):  # type: ignore[no-untyped-def]
            return g

    kept: list[object] = []
    x, mark = leaf(), Mark()

    def pack(t: torch.Tensor, held: list[object] = kept) -> object:
        return held

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda k: torch.ones(3)):
        y = (x * 2).exp()
    z = Keeps.apply(x * 2)
    z.grad_fn.mark = (mark, z)
    kept.extend([y, mark])
    gone = weakref.ref(mark)
    mark = y = z = None  # type: ignore[assignment]
    del pack
    kept = []
    gc.collect()
    assert gone() is None


def test_who_refers_to_a_leaf_is_found_after_a_collection() -> None:
    x = leaf()
    y = (x * 2).exp().sum()
    gc.collect()
    assert x._use_count() == 2
    del y
    assert x._use_count() == 1


def test_gradients_are_the_same_with_collections_anywhere() -> None:
    def gradient(collect: bool) -> torch.Tensor:
        x = leaf()
        w = torch.full((3,), 1.01, requires_grad=True)
        y, parts = x, []
        for k in range(60):
            y = (y * w).tanh() if k % 3 else torch.cat([y[:1], y[1:].exp().log()])
            parts.append(y.unbind()[k % 3])
            if collect and k % 7 == 0:
                gc.collect(k % 2)
        (first,) = torch.autograd.grad(torch.stack(parts).sum(), w, create_graph=True)
        if collect:
            gc.collect()
        (second,) = torch.autograd.grad(first.sum(), w)
        return second

    assert gradient(True).tolist() == gradient(False).tolist()


def test_collections_beside_threads_that_record() -> None:
    def work() -> None:
        x = leaf()
        for _ in range(20):
            y = x
            for _ in range(50):
                y = (y * 1.01).sin() + x
            y.sum().backward()
        found.append(x.grad.tolist())  # type: ignore[union-attr]

    found: list[object] = []
    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        gc.collect()
    assert len(found) == 3 and found[0] == found[1] == found[2]


@compiled
def test_a_long_chain_is_collected_no_more() -> None:
    gc.enable()
    y = leaf() * 1
    b = torch.ones(3)
    before = gc.get_stats()[2]["collections"]
    for _ in range(30_000):
        y = y * b
    tracked = sum(map(gc.is_tracked, nodes_of(y)))
    assert tracked < 1000 and gc.get_stats()[2]["collections"] - before <= 1


def test_what_isn_t_known_is_refused() -> None:
    untracking = pytest.importorskip("rushlight._native.collector.untracking")
    with pytest.raises(TypeError, match="a phase"):
        untracking.prepare("start")
    with pytest.raises(TypeError, match="a phase"):
        untracking.prepare(1, {})
    with pytest.raises(TypeError, match="doesn't know"):
        untracking.set_classes(int, int, int)
    assert untracking.prepare("stop", {}) is None and untracking.track(3) is None
