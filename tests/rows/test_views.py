"""Views: shared memory, strides, gradients, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

VIEWS: dict[str, Callable[[Any], Any]] = {
    "view": lambda x: x.view(4, 6),
    "view with -1": lambda x: x.view(-1),
    "reshape": lambda x: x.reshape(3, 8),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, -1)),
    "ravel": lambda x: x.ravel(),
    "transpose": lambda x: x.transpose(0, 2),
    "permute": lambda x: x.permute(1, 2, 0),
    "movedim": lambda x: x.movedim(0, 2),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "mT": lambda x: x.mT,
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x[:1].squeeze(),
    "squeeze one": lambda x: x[:1].squeeze(0),
    "squeeze several": lambda x: x[:1, :1].squeeze((0, 1)),
    "select": lambda x: x.select(1, -1),
    "narrow": lambda x: x.narrow(2, 1, 2),
    "diagonal": lambda x: x.diagonal(1, 0, 2),
    "unfold": lambda x: x.unfold(2, 2, 1),
    "as_strided": lambda x: x.as_strided((3, 2), (2, 5), 1),
    "expand": lambda x: x[:, :1].expand(-1, 5, -1),
    "broadcast_to": lambda x: x.broadcast_to((2, 2, 3, 4)),
    "indexing": lambda x: x[1, ..., ::2],
    "split": lambda x: x.split(2, 1)[1],
    "chunk": lambda x: x.chunk(2)[0],
    "unbind": lambda x: x.unbind(2)[3],
    "tensor_split": lambda x: x.tensor_split(3, 2)[0],
    "chained": lambda x: x.transpose(0, 1)[1:].mT[..., 0],
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "clone": lambda x: x.clone(),
    "reshape of a transposed tensor": lambda x: x.mT.reshape(-1),
    "contiguous": lambda x: x.mT.contiguous(),
    "repeat": lambda x: x.repeat(1, 1, 1),
    "flip": lambda x: x.flip(0),
    "roll": lambda x: x.roll(1),
    "tril": lambda x: x.tril(2),
    "view_copy": lambda x: torch.view_copy(x, (24,)),
    "select_copy": lambda x: torch.select_copy(x, 0, 0),
    "advanced indexing": lambda x: x[[0, 1]],
}


def numbered(*shape: int) -> Any:
    count = 1
    for n in shape:
        count *= n
    return torch.arange(float(count)).reshape(shape).clone()


@pytest.mark.parametrize("name", VIEWS)
def test_a_write_through_a_view_is_seen_in_its_base_and_counted_once(name: str) -> None:
    x = numbered(2, 3, 4)
    v = VIEWS[name](x)
    assert v._base is x and v._is_view()
    places = v.flatten().tolist()
    v.fill_(-1.0)
    assert x._version == v._version == 1
    written = {k for k, value in enumerate(x.flatten().tolist()) if value == -1.0}
    assert written == {int(p) for p in places}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_shares_nothing(name: str) -> None:
    x = numbered(2, 3, 4)
    c = COPIES[name](x)
    assert c.data_ptr() != x.data_ptr()
    before = x.tolist()
    c.fill_(-1.0)
    assert x.tolist() == before and x._version == 0


@pytest.mark.parametrize("name", VIEWS)
def test_the_gradient_of_a_view_counts_how_often_each_element_is_shown(name: str) -> None:
    x = numbered(2, 3, 4).requires_grad_()
    v = VIEWS[name](x)
    counts = [0.0] * 24
    for place in v.detach().flatten().tolist():
        counts[int(place)] += 1
    (g,) = torch.autograd.grad(v.sum(), x)
    assert g.flatten().tolist() == counts


@pytest.mark.parametrize("name", {**VIEWS, **COPIES})
def test_second_derivatives_through_views_are_those_of_the_elements(name: str) -> None:
    take = {**VIEWS, **COPIES}[name]
    x = numbered(2, 3, 4).requires_grad_()
    (g,) = torch.autograd.grad((take(x) ** 3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    ones = torch.ones(2, 3, 4).requires_grad_()
    (counts,) = torch.autograd.grad(take(ones).sum(), ones)
    assert torch.equal(h, 6 * x.detach() * counts)


def test_strides_are_those_of_the_memory() -> None:
    x = numbered(2, 3, 4)
    assert x.transpose(0, 2).stride() == (1, 4, 12)
    assert x.unsqueeze(0).stride() == (24, 12, 4, 1)
    assert x.mT.unsqueeze(3).stride() == (12, 1, 4, 1)
    assert x[:, :1].expand(2, 5, 4).stride() == (12, 0, 1)
    assert x.expand(7, 2, 3, 4).stride() == (0, 12, 4, 1)
    assert x[..., ::2].stride() == (12, 4, 2)
    assert x.diagonal(0, 1, 2).stride() == (12, 5)
    assert x.unfold(2, 3, 1).stride() == (12, 4, 1, 1)
    assert x.mT.clone().stride() == (12, 1, 4)
    assert x.mT.contiguous().stride() == (12, 3, 1)


def test_views_and_sizes_without_elements() -> None:
    x = torch.zeros(0, 3)
    assert x.view(3, 0).shape == (3, 0)
    assert x.reshape(-1).shape == (0,)
    assert x.mT.unsqueeze(1).shape == (3, 1, 0)
    assert x.expand(2, 0, 3).shape == (2, 0, 3)
    assert [tuple(p.shape) for p in x.split(2)] == [(0, 3)]
    assert x.diagonal().shape == (0,)
    assert x.repeat(2, 2).shape == (0, 6)
    s = torch.tensor(5.0)
    assert s.view(1, 1).tolist() == [[5.0]]
    assert s.expand(3).tolist() == [5.0] * 3
    assert s.transpose(0, -1).item() == s.flatten()[0].item() == 5.0


def test_view_needs_a_layout_that_allows_it_and_reshape_copies() -> None:
    x = numbered(2, 3)
    with pytest.raises(RuntimeError, match=r"view size is not compatible .* Use \.reshape"):
        x.t().view(6)
    assert x.t().reshape(6).tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    assert x.t().reshape(6)._base is None
    assert x.t().reshape(3, 2, 1)._base is x


REFUSED: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda x: x.view(5),
        RuntimeError,
        "shape '[5]' is invalid for input of size 24",
    ),
    (
        lambda x: x.view(-1, -1),
        RuntimeError,
        "only one dimension can be inferred",
    ),
    (
        lambda x: x.view(-2, 12),
        RuntimeError,
        "invalid shape dimension -2 at index 0",
    ),
    (
        lambda x: x.transpose(0, 3),
        IndexError,
        "Dimension out of range (expected to be in range of [-3, 2], but got 3)",
    ),
    (
        lambda x: x.t(),
        RuntimeError,
        "t() expects a tensor with <= 2 dimensions, but self is 3D",
    ),
    (
        lambda x: x.permute(0, 0, 1),
        RuntimeError,
        "permute(): duplicate dims are not allowed.",
    ),
    (
        lambda x: x.expand(2, 5, 4),
        RuntimeError,
        "must match the existing size (3) at non-singleton dimension 1",
    ),
    (
        lambda x: x.select(0, 2),
        IndexError,
        "select(): index 2 out of range for tensor of size [2, 3, 4] at dimension 0",
    ),
    (
        lambda x: x.narrow(0, 1, 2),
        RuntimeError,
        "start (1) + length (2) exceeds dimension size (2).",
    ),
    (
        lambda x: x.unfold(2, 5, 1),
        RuntimeError,
        "maximum size for tensor at dimension 2 is 4 but size is 5",
    ),
    (
        lambda x: x.as_strided((50,), (1,)),
        RuntimeError,
        "are out of bounds for storage of size 96",
    ),
    (
        lambda x: x.diagonal(0, 1, 1),
        RuntimeError,
        "diagonal dimensions cannot be identical 1, 1",
    ),
    (
        lambda x: x.squeeze((0, 0)),
        RuntimeError,
        "dim 0 appears multiple times in the list of dims",
    ),
    (
        lambda x: x.flatten(2, 1),
        RuntimeError,
        "flatten() has invalid args: start_dim cannot come after end_dim",
    ),
    (
        lambda x: torch.cat([x, x[0]]),
        RuntimeError,
        "Tensors must have same number of dimensions: got 3 and 2",
    ),
    (
        lambda x: torch.stack([x, x[0]]),
        RuntimeError,
        "stack expects each tensor to be equal size",
    ),
    (
        lambda x: x.split([1, 2]),
        RuntimeError,
        "split_with_sizes expects split_sizes to sum exactly to 2",
    ),
    (
        lambda x: x.H,
        RuntimeError,
        "tensor.H is only supported on matrices (2-D tensors).",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), REFUSED)
def test_what_does_not_fit_is_refused_in_pytorchs_words(
    call: Callable[[Any], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        call(numbered(2, 3, 4))
    assert message in str(caught.value)


def test_as_strided_reaches_over_the_whole_memory() -> None:
    x = numbered(6)
    part = x[3:]
    assert part.as_strided((2,), (1,), 0).tolist() == [0.0, 1.0]
    assert part.as_strided((2,), (1,)).tolist() == [3.0, 4.0]
    y = numbered(4).requires_grad_()
    y.as_strided((3, 2), (1, 1)).sum().backward()
    assert y.grad.tolist() == [1.0, 2.0, 2.0, 1.0]


def test_bits_can_be_read_as_another_type_and_written_through() -> None:
    x = torch.tensor([1.0, -2.0])
    bits = x.view(torch.int32)
    assert bits.tolist() == [0x3F800000, -0x40000000]
    bits[0] = 0
    assert x.tolist() == [0.0, -2.0] and x._version == 1
    assert x.view(torch.uint8).shape == (8,)
    with pytest.raises(RuntimeError, match="must be divisible by 2 to view Float as Double"):
        torch.zeros(3).view(torch.float64)


def test_joining_and_splitting_are_inverse_to_each_other_in_value_and_gradient() -> None:
    x = numbered(5, 4).requires_grad_()
    for pieces in (x.split(2), x.split([1, 4]), x.chunk(3), x.tensor_split(2), x.unbind()):
        joined = torch.stack(pieces) if pieces[0].ndim == 1 else torch.cat(pieces)
        assert torch.equal(joined, x)
        weights = numbered(5, 4)
        (g,) = torch.autograd.grad((joined * weights).sum(), x)
        assert torch.equal(g, weights)


def test_only_the_pieces_that_were_used_give_a_gradient() -> None:
    x = numbered(5).requires_grad_()
    _, second, _ = x.split(2)
    second.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 1.0, 1.0, 0.0]


def test_cat_promotes_skips_empty_vectors_and_gives_each_operand_its_part() -> None:
    a, b = torch.ones(2, requires_grad=True), torch.tensor([1, 2])
    joined = torch.cat([torch.zeros(0), a, b])
    assert joined.dtype == torch.float32 and joined.tolist() == [1.0, 1.0, 1.0, 2.0]
    (joined * numbered(4)).sum().backward()
    assert a.grad.tolist() == [0.0, 1.0]


def test_expanded_memory_refuses_arithmetic_in_place_but_not_a_fill() -> None:
    x = torch.zeros(1).expand(3)
    for write in (lambda: x.add_(1), lambda: x.copy_(torch.ones(3))):
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write()
    x.fill_(2.0)
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_overlapping_parts_of_one_memory_are_not_copied_into_each_other() -> None:
    x = numbered(4)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        x[1:].copy_(x[:-1])
    x[2:].copy_(x[:2])
    assert x.tolist() == [0.0, 1.0, 0.0, 1.0]


def test_shape_changes_in_place_keep_memory_and_history() -> None:
    x = numbered(2, 3).requires_grad_()
    y = x * 2
    assert y.t_() is y and y.shape == (3, 2) and y._version == 1
    y.unsqueeze_(0).squeeze_(0).transpose_(0, 1)
    assert y.shape == (2, 3)
    (y * numbered(2, 3)).sum().backward()
    assert torch.equal(x.grad, 2 * numbered(2, 3))
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.t_()


def test_a_view_as_another_type_made_in_inference_mode_has_no_version() -> None:
    a = torch.ones(2)
    with torch.inference_mode():
        v = a.view(torch.int32)
        v.zero_()
    assert a._version == 0 and a.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        v.add_(1)


def test_views_say_what_they_do_not_take() -> None:
    x: Any = torch.ones(6)
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: x.view(dim=-1), "got (dim=int, )"),
        (lambda: x.view(-1, dtype=torch.int8), "got (int, dtype=torch.dtype)"),
        (lambda: x.reshape(True), "argument 'shape' (position 1) must be tuple of ints, not bool"),
        (lambda: x.reshape(6, dim=0), "got an unexpected keyword argument 'dim'"),
        (lambda: torch.reshape(x, 2, 3), "takes 2 positional arguments but 3 were given"),
        (lambda: x.flatten(True), "argument 'start_dim' (position 1) must be int, not bool"),
        (lambda: torch.split(x, True), "got (Tensor, bool, int)"),
        (lambda: torch.split(x, 2, "a"), "got (Tensor, int, str)"),
    ]
    for call, text in calls:
        with pytest.raises(TypeError, match=re.escape(text)):
            call()
    with pytest.raises(RuntimeError, match="split expects split_size be non-negative"):
        torch.split(x, -1, dim=7)
    assert [part.tolist() for part in x.split(torch.tensor(3))] == [[1.0] * 3] * 2


def test_a_size_of_zero_is_repeated_any_number_of_times() -> None:
    assert torch.zeros(2, 0).tile(-3).shape == (2, 0)
    assert torch.zeros(0).repeat(0, -2).shape == (0, 0)
    with pytest.raises(RuntimeError, match="negative dimension -3"):
        torch.zeros(2, 1).tile(-3)


def test_a_complex_copy_has_no_derivative() -> None:
    x = torch.randn(3, 2, requires_grad=True)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="view_as_complex_copy does not support automatic"):
            torch.view_as_complex_copy(x)
    assert torch.view_as_complex_copy(x.detach()).shape == (3,)


@pytest.mark.parametrize("parts", ["unsafe_split", "unsafe_chunk"])
def test_parts_made_in_inference_mode_are_views_whose_refused_writes_change_nothing(
    parts: str,
) -> None:
    p = torch.ones(2, 3, requires_grad=True) + 0
    with torch.inference_mode():
        piece = getattr(p, parts)(2)[0]
        alone = getattr(torch.ones(2, 3), parts)(2)[0]
    assert piece._is_view() and not piece.is_inference() and piece.requires_grad
    with pytest.raises(RuntimeError, match="A view was created in inference mode"):
        piece.mul_(2)
    assert p.tolist() == [[1.0] * 3] * 2
    assert alone.is_inference()
    plain = torch.ones(2, 3)
    with torch.inference_mode():
        piece = getattr(plain, parts)(2)[0]
    piece.mul_(2)
    assert plain[0].tolist() == [2.0] * 3


def test_places_of_a_split_come_one_by_one_or_in_a_list() -> None:
    x = torch.arange(16).view(4, 4)
    assert [p.tolist() for p in x.hsplit(1, 3)] == [p.tolist() for p in x.hsplit((1, 3))]
    assert [tuple(p.shape) for p in x.vsplit(1, 2)] == [(1, 4), (1, 4), (2, 4)]
    with pytest.raises(RuntimeError, match="at least 3 dimension"):
        x.dsplit(1, 2)
    with pytest.raises(TypeError, match=r"got \(bool, bool\)"):
        x.view(2, 2, 4).dsplit(True, False)
