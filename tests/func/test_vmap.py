"""`vmap`: one run on whole batches, whatever the function does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight._tensor.batching import BatchedTensor
from rushlight.func import debug_unwrap, grad, vmap

X = torch.arange(6.0).view(3, 2)


def refused(action: Callable[..., Any], text: str, kind: type[Exception] = RuntimeError) -> None:
    with pytest.raises(kind) as found:
        action()
    assert text in str(found.value)


def test_the_function_runs_once_for_the_whole_batch() -> None:
    calls = []
    out = vmap(lambda a: calls.append(tuple(a.shape)) or a.sum())(X)
    assert out.tolist() == [1.0, 5.0, 9.0]
    assert calls == [(2,)]


def test_the_wrapper_shows_one_example_and_hides_the_batch() -> None:
    seen: list[Any] = []
    vmap(lambda a: seen.append(a) or a, in_dims=1)(X)
    (a,) = seen
    assert isinstance(a, BatchedTensor)
    assert tuple(a.shape) == (3,)
    assert a.stride() == (2,)
    assert debug_unwrap(a) is X
    assert repr(a).startswith("BatchedTensor(lvl=1, bdim=1, value=\n    tensor(")


@pytest.mark.parametrize(
    "read", [lambda a: a[0].item(), lambda a: float(a[0]), lambda a: a.tolist(),
             lambda a: a.numpy(), lambda a: bool(a.sum()), lambda a: a.data,
             lambda a: torch.equal(a, a),
             lambda a: torch.allclose(a, a), lambda a: a.nonzero(), lambda a: a[a > 1]],
)  # fmt: skip
def test_reading_the_elements_of_a_batch_is_refused(read: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError):
        vmap(lambda a: read(a) and a)(X)


def test_arrays_that_stand_for_examples_refuse_numpy() -> None:
    seen: list[Any] = []
    vmap(lambda a: seen.append(a._raw) or a)(X)
    raw = seen[0]
    assert raw.shape == (2,)
    for read in (lambda: raw + 1, lambda: raw[0], lambda: raw.sum(), lambda: raw.item()):
        with pytest.raises(RuntimeError):
            read()


def test_dimensions_may_be_nested_negative_and_absent() -> None:
    out = vmap(lambda p: p["a"] + p["b"][0], in_dims=({"a": -1, "b": (None,)},), out_dims=-1)(
        {"a": X, "b": (torch.ones(3),)}
    )
    assert out.tolist() == (X + 1).tolist()


def test_sizes_that_differ_are_refused() -> None:
    refused(lambda: vmap(torch.add)(X, X[:2]), "got sizes [3, 2]", ValueError)


def test_a_result_without_a_batch_is_repeated() -> None:
    assert vmap(lambda a: torch.ones(2))(X).tolist() == [[1.0, 1.0]] * 3
    assert vmap(lambda a: torch.ones(2), out_dims=None)(X).tolist() == [1.0, 1.0]


def test_vmaps_nest() -> None:
    out = vmap(vmap(torch.mul, in_dims=(None, 0)), in_dims=(0, None))(X[:, 0], X[:, 1])
    assert out.tolist() == torch.outer(X[:, 0], X[:, 1]).tolist()


def test_a_write_inside_reaches_the_callers_tensor() -> None:
    y = X.clone()
    vmap(lambda a: a.mul_(2), in_dims=1)(y)
    assert y.tolist() == (X * 2).tolist()


def test_a_write_of_batches_into_one_example_is_refused() -> None:
    refused(
        lambda: vmap(lambda a, b: a.mul_(b[0]), in_dims=(None, 0))(torch.ones(2), X),
        "vmap: inplace arithmetic(self, *extra_args) is not possible",
    )
    for name, told in {
        "sub_": "vmap: inplace arithmetic(self",
        "pow_": "vmap: aten::pow_(self",
        "atan2_": r"output with shape [2] doesn't match the broadcast shape [3, 2]",
    }.items():
        write = lambda a, b, name=name: getattr(a, name)(b)  # noqa: E731
        refused(lambda: vmap(write, in_dims=(None, 0))(torch.ones(2), X), told)  # noqa: B023


def test_a_wrapper_that_escaped_is_refused() -> None:
    kept: list[Any] = []
    vmap(lambda a: kept.append(a) or a)(X)
    refused(lambda: kept[0] + 1, "may have escaped")


def test_an_empty_batch_gives_an_empty_result() -> None:
    assert tuple(vmap(lambda a: a.cumsum(0))(torch.zeros(0, 3)).shape) == (0, 3)
    assert tuple(vmap(lambda a: torch.histc(a, 4))(torch.zeros(0, 3)).shape) == (0, 4)


def test_the_modes_inside_end_with_the_call() -> None:
    vmap(lambda a: torch.set_grad_enabled(False) and a)(X)
    assert torch.is_grad_enabled()
    with pytest.raises(ZeroDivisionError):
        vmap(lambda a: a * (1 // 0))(X)
    assert (X + 1).sum() == 21
    refused(lambda: torch.vmap(lambda a: torch.rand(1))(X), "randomness error mode")
    assert torch.rand(1).numel() == 1


def test_randomness_is_refused_shared_or_drawn_for_each() -> None:
    draw = lambda a: a + torch.rand(2)  # noqa: E731
    refused(lambda: vmap(draw)(X), "called random operation")
    same = vmap(draw, randomness="same")(torch.zeros(3, 2))
    assert same[0].equal(same[1])
    different = vmap(draw, randomness="different")(torch.zeros(3, 2))
    assert different.unique().numel() == 6


def test_a_draw_for_each_is_the_draw_of_the_whole_batch() -> None:
    torch.manual_seed(3)
    whole = torch.randn(3, 2)
    torch.manual_seed(3)
    assert vmap(torch.randn_like, randomness="different")(X).equal(whole)


def test_chunks_give_the_same() -> None:
    out = vmap(lambda a: (a.sum(), a * 2), chunk_size=2, out_dims=(0, 1))(X)
    assert out[0].tolist() == [1.0, 5.0, 9.0]
    assert out[1].equal((X * 2).t())


def test_gradients_of_examples_need_one_backward() -> None:
    w = torch.ones(2)
    out = vmap(grad(lambda w, a: (w * a).pow(2).sum()), in_dims=(None, 0))(w, X)
    assert out.equal(2 * X * X)


def test_plain_tensors_outside_stay_plain() -> None:
    vmap(torch.sin)(X)
    assert X._plain
    assert (X * 2)._plain


def test_a_mask_of_one_element_for_each_example_is_refused_as_a_mask() -> None:
    x = torch.tensor([1.0, -1.0])
    for index in (lambda x: x[x > 0], lambda x: torch.ones(3)[None, x > 0]):
        with pytest.raises(RuntimeError, match="indexing with a boolean mask"):
            torch.vmap(index)(x)
    assert torch.vmap(lambda x: x[True])(x).shape == (2, 1)
