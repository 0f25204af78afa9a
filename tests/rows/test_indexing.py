"""Indexing with brackets, and reading and writing at computed places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch


def numbered(*shape: int) -> Any:
    count = 1
    for n in shape:
        count *= n
    return torch.arange(float(count)).reshape(shape)


@pytest.mark.parametrize(
    ("index", "shape", "names"),
    [
        (1, (3, 4), ["SelectBackward0"]),
        ((0, slice(None), 1), (3,), ["SelectBackward0", "SelectBackward0"]),
        (slice(None), (2, 3, 4), ["SliceBackward0"]),
        ((slice(None), slice(None)), (2, 3, 4), ["AliasBackward0"]),
        ((slice(None), slice(1, None)), (2, 2, 4), ["SliceBackward0"]),
        (..., (2, 3, 4), ["AliasBackward0"]),
        (None, (1, 2, 3, 4), ["UnsqueezeBackward0"]),
        ((..., None, 0), (2, 3, 1), ["SelectBackward0", "UnsqueezeBackward0"]),
        ([0, 1], (2, 3, 4), ["IndexBackward0"]),
        (True, (1, 2, 3, 4), ["IndexBackward0", "UnsqueezeBackward0"]),
        ((0, [0, 2]), (2, 4), ["IndexBackward0", "SelectBackward0"]),
    ],
)  # fmt: skip
def test_an_index_gives_views_for_basic_items_and_a_copy_for_advanced_ones(
    index: Any, shape: tuple[int, ...], names: list[str]
) -> None:
    x = numbered(2, 3, 4).requires_grad_()
    r = x[index]
    assert tuple(r.shape) == shape
    node, found = r.grad_fn, []
    while node is not None and type(node).__name__ != "AccumulateGrad":
        found.append(type(node).__name__)
        node = node.next_functions[0][0]
    assert found == names
    assert r._is_view() == ("IndexBackward0" not in names)


def test_advanced_indices_put_their_dimensions_in_place_or_in_front() -> None:
    x, i = torch.zeros(2, 3, 4, 5), torch.tensor([0, 1, 1])
    assert x[i].shape == (3, 3, 4, 5)
    assert x[:, i, i].shape == (2, 3, 5)
    assert x[i, :, i].shape == (3, 3, 5)
    assert x[0, :, i].shape == (3, 3, 5)  # the integer is taken first: unlike NumPy
    assert x[i, None, i].shape == (3, 1, 4, 5)
    assert x[i[:, None], i[:2]].shape == (3, 2, 4, 5)
    assert x[torch.ones(2, 3, dtype=torch.bool)].shape == (6, 4, 5)
    assert x[x > 1].shape == (0,)


def test_an_element_read_twice_gets_both_gradients() -> None:
    x = numbered(3, 2).requires_grad_()
    (x[torch.tensor([2, 0, 2])] * numbered(3, 2)).sum().backward()
    assert x.grad.tolist() == [[2.0, 3.0], [0.0, 0.0], [4.0, 6.0]]


def test_assignment_broadcasts_converts_and_strips_leading_ones() -> None:
    x = torch.zeros(2, 3)
    x[0] = torch.arange(3)
    x[:, 1] = torch.tensor([7.0, 8.0])
    x[1] = torch.ones(1, 1, 3, dtype=torch.float64)
    x[1, [0, 2]] = torch.tensor([[1.5, 2.5]])
    x[x == 0] = -1
    assert x.tolist() == [[-1.0, 7.0, 2.0], [1.5, 1.0, 2.5]]
    assert x._version == 5
    x[False] = 3
    assert x._version == 5


def test_assignment_carries_gradients_to_value_and_base() -> None:
    x, v = numbered(2, 3).requires_grad_(), torch.tensor([5.0, 6.0], requires_grad=True)
    y = x * 1
    y[:, 1] = v
    y[1, 2] = v[0]
    y[torch.tensor([0]), torch.tensor([0])] = 9.0
    (y * torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 3.0], [4.0, 0.0, 0.0]]
    assert v.grad.tolist() == [8.0, 5.0]


def test_assigning_everything_is_a_copy_and_assigning_a_part_a_slice_of_one() -> None:
    names = []
    for index in (..., slice(None), slice(0, 2), 0, None, [0, 1]):
        y = torch.ones(2, requires_grad=True) * 1
        y[index] = torch.zeros(2) if index != 0 else torch.tensor(0.0)
        names.append(type(y.grad_fn).__name__)
    assert names == ["CopyBackwards"] * 3 + ["CopySlices", "CopySlices", "IndexPutBackward0"]


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize(
    ("index", "kind", "message"),
    [
        (2, IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        ((0, 3), IndexError, "index 3 is out of bounds for dimension 1 with size 3"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(None, None, 0), ValueError, "slice step cannot be zero"),
        (1.5, IndexError, "only integers, slices (`:`), ellipsis (`...`), None and long or byte"),
        ("a", TypeError, "new(): invalid data type 'str'"),
        ([0, 5], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        (([0, 1], [0, 1, 2]), IndexError, "shape mismatch: indexing tensors could not be"),
        ([True, False, True], IndexError, "The shape of the mask [3] at index 0 does not match"),
        (slice("a"), TypeError, "slice indices must be integers or None"),
    ],
)  # fmt: skip
def test_an_index_that_means_nothing_is_refused(
    index: Any, kind: type[Exception], message: str
) -> None:
    x = numbered(2, 3, 4)
    with pytest.raises(kind) as caught:
        x[index]
    assert message in str(caught.value)
    with pytest.raises(kind) as caught:
        x[index] = 1.0
    assert message in str(caught.value) and x._version == 0


def test_values_that_do_not_fit_are_refused_and_nothing_is_written() -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match=r"The expanded size of the tensor \(3\) must match"):
        x[0] = torch.ones(5)
    with pytest.raises(RuntimeError, match="cannot be broadcast to indexing result of shape"):
        x[[0, 1]] = torch.ones(5)
    with pytest.raises(
        RuntimeError, match="Index put requires the source and destination dtypes match"
    ):
        x[[0, 1]] = torch.ones(3, dtype=torch.float64)
    with pytest.raises(TypeError, match=r"can't assign a list to a torch\.FloatTensor"):
        x[0] = [1.0, 2.0, 3.0]
    with pytest.raises(
        RuntimeError, match="value cannot be converted to type uint8_t without overflow"
    ):
        torch.zeros(1, dtype=torch.uint8)[0] = 300
    with pytest.raises(
        RuntimeError, match="value cannot be converted to type int64_t without overflow"
    ):
        torch.zeros(1, dtype=torch.int64)[0] = float("nan")
    assert x.tolist() == [[0.0] * 3] * 2 and x._version == 0


def test_zero_dimensional_tensors_take_dots_none_and_masks_but_no_place() -> None:
    s = torch.tensor(4.0)
    assert s[...].item() == s[()].item() == s[None].tolist()[0] == 4.0
    assert s[torch.tensor(True)].tolist() == [4.0] and s[False].tolist() == []
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        s[0]
    s[...] = 5.0
    assert s.item() == 5.0


PLACED: dict[str, Callable[[Any, Any], Any]] = {
    "index_add": lambda x, s: x.index_add(0, torch.tensor([2, 0, 2]), s),
    "index_copy": lambda x, s: x.index_copy(0, torch.tensor([2, 0, 1]), s),
    "index_put": lambda x, s: x.index_put((torch.tensor([1, 1, 0]),), s, accumulate=True),
    "scatter": lambda x, s: x.scatter(1, torch.tensor([[1, 0], [0, 1], [1, 0]]), s),
    "scatter_add": lambda x, s: x.scatter_add(0, torch.tensor([[1, 0], [1, 1], [1, 0]]), s),
    "mean": lambda x, s: x.scatter_reduce(0, torch.tensor([[1, 0], [1, 1], [1, 0]]), s, "mean"),
    "amax": lambda x, s: x.scatter_reduce(0, torch.tensor([[1, 0], [1, 1], [1, 0]]), s, "amax"),
    "prod": lambda x, s: x.scatter_reduce(0, torch.tensor([[1, 0], [1, 1], [1, 0]]), s, "prod"),
    "put": lambda x, s: x.put(torch.tensor([5, 0, 2, 1, 4, 3]), s.reshape(-1)),
    "masked_scatter": lambda x, s: x.masked_scatter(x > 2, s),
    "select_scatter": lambda x, s: x.select_scatter(s[0], 0, 1),
    "slice_scatter": lambda x, s: x.slice_scatter(s[:2], 0, 1, 3),
    "diagonal_scatter": lambda x, s: x.diagonal_scatter(s[0]),
    "index_fill": lambda x, s: x.index_fill(0, torch.tensor([1]), s[0, 0]),
}


@pytest.mark.parametrize("name", PLACED)
def test_gradients_of_writes_at_computed_places_match_differences(name: str) -> None:
    write = PLACED[name]
    x = (numbered(3, 2) + 0.5).double().requires_grad_()
    s = (numbered(3, 2).flip(0) * 1.25 + 0.7).double().requires_grad_()
    w = (numbered(3, 2) * 0.3 - 0.4).double()

    def value() -> Any:
        return (write(x, s) ** 2 * w).sum()

    grads = torch.autograd.grad(value(), (x, s))
    step = 1e-6
    for source, grad in zip((x, s), grads):
        for place in range(6):
            with torch.no_grad():
                flat = source.view(-1)
                flat[place] += step
                above = value().item()
                flat[place] -= 2 * step
                below = value().item()
                flat[place] += step
            assert grad.view(-1)[place].item() == pytest.approx(
                (above - below) / (2 * step), abs=1e-6
            )


def test_reading_at_places_undoes_writing_there() -> None:
    x = torch.zeros(3, 4)
    where = torch.tensor([[2, 0, 3, 1], [0, 1, 2, 3], [3, 2, 1, 0]])
    y = x.scatter(1, where, numbered(3, 4))
    assert torch.equal(y.gather(1, where), numbered(3, 4))
    flat = torch.tensor([7, -1, 0])
    assert x.put(flat, torch.ones(3)).take(flat).tolist() == [1.0, 1.0, 1.0]
    mask = numbered(3, 4) % 3 == 0
    assert torch.equal(x.masked_scatter(mask, numbered(12)).masked_select(mask), numbered(4))


def test_places_of_nonzero_elements() -> None:
    x = torch.tensor([[0, 3], [5, 0]])
    assert x.nonzero().tolist() == torch.argwhere(x).tolist() == [[0, 1], [1, 0]]
    rows, columns = x.nonzero(as_tuple=True)
    assert rows.tolist() == [0, 1] and columns.tolist() == [1, 0]
    assert torch.nonzero_static(x, size=3).tolist() == [[0, 1], [1, 0], [-1, -1]]
    assert torch.tensor(1.0).nonzero().shape == (1, 0)


def test_a_slow_write_in_place_leaves_nothing_behind_when_it_fails() -> None:
    x = torch.zeros(3, requires_grad=True) * 1
    before = x.grad_fn
    with pytest.raises(IndexError):
        x[torch.tensor([0, 7])] = 1.0
    with pytest.raises(IndexError):
        x.index_add_(0, torch.tensor([9]), torch.ones(1))
    assert x.tolist() == [0.0] * 3 and x._version == 0 and x.grad_fn is before


def test_a_source_has_the_shape_of_the_parts_that_it_is_written_to() -> None:
    first = torch.tensor([0])
    for run, words in (
        (lambda: torch.ones(2).index_add_(0, first, torch.tensor(1.0)), r"source.shape = \[\]"),
        (lambda: torch.tensor(1.0).index_add_(0, first, torch.ones(1)), r"self.shape = \[\]"),
        (lambda: torch.tensor(1.0).index_reduce(0, first, torch.ones(1), "prod"), r"\[1\]"),
        (lambda: torch.ones(2, 3).index_copy_(0, first, torch.tensor(1.0)), "slice shape: 3 at"),
        (lambda: torch.ones(2, 2, 3).index_copy_(0, first, torch.ones(1, 3, 2)), "shape: 2 3 at"),
        (lambda: torch.ones(3, 2).index_copy_(1, first, torch.ones(1, 1)), "same slice shapes"),
        (lambda: torch.ones(2, 3).index_put_((torch.tensor(0),), torch.ones(1, 3)), r"of \[1, 3\]"),
    ):
        with pytest.raises(RuntimeError, match=words.replace("of ", "of shape ")):
            run()


def test_values_are_compared_before_places_are_looked_up() -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="shape mismatch"):
        x.index_put_((torch.tensor([9]),), torch.ones(3), accumulate=True)
    with pytest.raises(IndexError, match="dimension with size 0"):
        torch.ones(0)[[0, 1]] = torch.ones(3, 3)
    with pytest.raises(IndexError, match="dimension with size 0"):
        torch.ones(0)[[0, 1]] = torch.tensor(1)
    with pytest.raises(IndexError, match=r"expected to be in range of \[-1, 0\], but got 1"):
        torch.ones(2, 3).scatter_(0, torch.tensor([[0]]), torch.ones(2))
    with pytest.raises(IndexError, match="index out of range in self"):
        torch.ones(3).index_add(0, torch.tensor([5]), torch.ones(1))
    with pytest.raises(RuntimeError, match="id=5 axis_dim=3"):
        torch.ones(2, 3).index_select(1, torch.tensor([0, 5]))
    with pytest.raises(IndexError, match="take from an empty tensor"):
        torch.ones(0).take(torch.tensor([0]))


def test_a_slice_has_its_ends_read_before_its_step_is_refused() -> None:
    x = torch.ones(4, 4)
    with pytest.raises(TypeError, match="slice indices must be integers"):
        x[1.5:1:0]
    with pytest.raises(TypeError, match="only integer tensors of a single element"):
        x[(torch.ones(2, 3),), 0]


def test_a_number_too_large_for_a_half_is_written_as_infinity() -> None:
    x = torch.ones(3, dtype=torch.float16)
    x[0] = 1e10
    x[torch.tensor([1])] = 2**40
    assert x.tolist() == [float("inf"), float("inf"), 1.0]
    with pytest.raises(RuntimeError, match="type c10::Half without overflow"):
        torch.full((2,), 1e10, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="type uint8_t without overflow"):
        torch.full((2,), 300, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="type uint8_t without overflow"):
        torch.full((2,), 300, out=torch.empty(2, dtype=torch.uint8))
    assert torch.full((2,), -1, dtype=torch.uint8).tolist() == [255, 255]
    assert torch.full((1,), 1e10, dtype=torch.float16).tolist() == [float("inf")]


def test_one_value_is_written_at_a_mask_wherever_it_lies() -> None:
    a = torch.tensor([1.0, 2.0])
    a[a > 1] = a[:1]
    assert a.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="single memory location"):
        a[torch.tensor([0, 1])] = a


def test_each_tensor_with_history_in_a_list_is_warned_of() -> None:
    a = torch.ones(2, requires_grad=True)
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="to a scalar may lead to") as said:
            assert torch.as_tensor(a.unbind()).tolist() == [1.0, 1.0]
    finally:
        torch.set_warn_always(False)
    assert len(said) == 2


def test_an_index_true_writes_to_the_whole_tensor() -> None:
    x = torch.zeros(2, dtype=torch.int8)
    x[True] = torch.tensor([3, 4], dtype=torch.int16)
    assert x.tolist() == [3, 4]
    with pytest.raises(RuntimeError, match="expanded size of the tensor"):
        x[True] = torch.ones(2, 2)
    with pytest.raises(ValueError, match="step must be greater than zero"):
        torch.tensor(1.0)[3::-1] = 2


def test_a_mask_that_comes_first_must_fit_before_bytes_are_warned_of() -> None:
    x, bytes_ = torch.ones(2, 3, 2), torch.ones(3, dtype=torch.uint8)
    with pytest.raises(IndexError, match="The shape of the mask"):  # warnings are errors
        x[bytes_, :, torch.tensor([0])] = 2.0
    with pytest.raises(IndexError, match="too many indices"):
        torch.ones(3)[bytes_[None]]
    with pytest.raises(IndexError, match="must be long, int, byte or bool"):
        torch.ones(3, 3)[bytes_, torch.ones(3)]


def test_scatter_looks_at_types_then_sizes_then_the_reduction() -> None:
    x, index = torch.ones(3, 3), torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match="Expected dtype int32/int64 for index"):
        x.scatter(0, index, torch.ones(2, 3, dtype=torch.int8))
    with pytest.raises(IndexError, match="Dimension out of range"):
        x.scatter(5, index.long(), x, reduce="prod")
    with pytest.raises(RuntimeError, match="same number of dimensions as self"):
        x.scatter(0, index.long()[None], 1, reduce="prod")
    with pytest.raises(RuntimeError, match="must be either add or multiply"):
        x.scatter(0, index.long(), 1, reduce="prod")


def test_scatter_of_nothing_copies() -> None:
    x, index = torch.ones(3, 3), torch.zeros(0, 3, dtype=torch.int64)
    for y in (x.scatter(0, index, torch.tensor(2.0)), x.scatter(0, index, 1j, reduce="add")):
        assert torch.equal(x, y) and y.data_ptr() != x.data_ptr()


def test_gather_of_a_number_looks_at_its_place() -> None:
    with pytest.raises(RuntimeError, match="index 1 is out of bounds for dimension 0 with size 1"):
        torch.gather(torch.tensor(5.0), 0, torch.tensor(1))


def test_a_whole_slice_behind_the_last_dimension_is_skipped() -> None:
    x = torch.arange(24).reshape(2, 3, 4)
    assert x[..., ..., [0, 1], :].tolist() == x[..., [0, 1]].tolist()
    assert x[..., ..., :3, :5].tolist() == x[..., :3].tolist()
    with pytest.raises(IndexError, match=r"Dimension out of range .* but got 3"):
        x[..., ..., :3, 1:]


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (lambda: torch.ones(3) > 0, r"too many indices for tensor of dimension 3 \(got 5\)"),
        (lambda: torch.ones(3), r"too many indices for tensor of dimension 3 \(got 5\)"),
        (lambda: torch.ones(4, 2) > 0, "Dimension out of range .* but got 3"),
        (lambda: torch.ones(2, 2) > 0, "at index 0 does not match .* at index 2"),
    ],
)
def test_index_tensors_are_counted_before_masks_are_fitted(index: Any, message: str) -> None:
    x = torch.ones(2, 3, 4)
    with pytest.raises(IndexError, match=message):
        x[..., ..., index()]
    with pytest.raises(IndexError, match=message):
        x[..., ..., index()] = 1


def test_a_mask_of_more_dimensions_is_too_many_indices() -> None:
    with pytest.raises(IndexError, match=r"too many indices for tensor of dimension 1$"):
        torch.ones(3)[torch.ones(3, 2) > 0]


def test_a_tuple_has_too_many_places_for_a_number_and_a_place_is_outside() -> None:
    x = torch.ones(())
    for items in ((1,), (0,), (slice(None),)):
        with pytest.raises(IndexError, match="too many indices for tensor of dimension 0"):
            x[items]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        x[0]
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        x[2**63]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**64])
@pytest.mark.parametrize("index", [0, slice(0, 1), slice(0, 0), (0, 1), (..., None)])
def test_an_integer_that_c_cannot_hold_is_not_written(index: Any, value: int) -> None:
    x = torch.ones(2, 2)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        x[index] = value
    assert x.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("shape", [(2,), (2, 0)])
def test_values_must_fit_where_no_place_is_named(shape: Any, accumulate: bool) -> None:
    x, places = torch.zeros(3), torch.zeros(0, dtype=torch.int64)
    with pytest.raises(RuntimeError, match=r"cannot be broadcast to indexing result of shape \[0"):
        x.index_put_((places,), torch.ones(shape), accumulate=accumulate)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_a_row_is_not_written_to_a_place(dtype: Any) -> None:
    x = torch.zeros(4, dtype=dtype)
    with pytest.raises(RuntimeError, match=r"expand\(.*\{\[3, 1\]\}, size=\[\]\)"):
        x[1] = torch.ones(3, 1, dtype=dtype)


def test_nothing_comes_back_from_a_number_that_is_overwritten() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x.put(torch.tensor([0]), torch.tensor([7.0]))
    (y * y).backward()
    assert x.grad.item() == 0


def test_filled_places_of_an_expanded_tensor_leave_it_in_order() -> None:
    x = torch.zeros(2, 3).expand(2, -1, -1)
    assert x.index_fill(0, torch.tensor([0]), 2.0).stride() == (6, 3, 1)


def test_nothing_is_looked_up_in_tensors_without_elements() -> None:
    x, far = torch.empty(0, 1, 2), torch.tensor([5])
    assert x.index_add(1, far, x).shape == x.shape
    assert x.index_copy(1, far, x).shape == x.shape
    assert x.index_fill(1, far, 0).shape == x.shape
    with pytest.raises(RuntimeError, match="INDICES element is out of DATA bounds, id=5 axis_dim"):
        x.index_select(1, far)
    with pytest.raises(RuntimeError, match="self indexing axis dim should be positive"):
        x.index_select(0, torch.tensor([0]))


def test_the_warning_of_byte_masks_names_the_line_of_the_program() -> None:
    mask = torch.tensor([1, 0], dtype=torch.uint8)
    with pytest.warns(UserWarning, match=r"indexing with dtype torch\.uint8") as seen:
        torch.ones(2)[mask]
    assert seen[0].filename == __file__


def test_nonzero_has_columns_and_no_out_as_a_tuple() -> None:
    x = torch.tensor([[1, 0], [1, 1]])
    out = torch.empty(0, dtype=torch.int64)
    assert torch.nonzero(x, out=out).stride() == (1, 3)
    with pytest.raises(RuntimeError, match="does not support the out kwarg when as_tuple is True"):
        torch.nonzero(x, as_tuple=True, out=out)


def test_a_scatter_that_reduces_has_no_derivative() -> None:
    x, index = torch.ones(4, 3, requires_grad=True), torch.zeros(2, 3, dtype=torch.int64)
    found = x.scatter(0, index, 2.5, reduce="multiply")
    assert found.grad_fn.name() == "torch::autograd::NotImplemented"


def test_a_size_of_more_than_64_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.ones(5, 2).split(2**63)


def test_a_copy_with_places_written_is_laid_out_as_the_operand() -> None:
    x, place = torch.zeros(4, 3).t(), torch.tensor([1])
    written = x.index_put((place,), torch.tensor(1.0))
    assert written.stride() == x.stride()
    assert written.tolist() == [[0.0] * 4, [1.0] * 4, [0.0] * 4]
    written = x.put(place, torch.tensor([1.0]))
    assert written.stride() == x.stride()
    assert written.flatten().tolist() == [0.0, 1.0] + [0.0] * 10
    assert torch.cdist(x, torch.zeros(5, 4)).stride() == (5, 1)


def test_the_start_of_a_slice_is_looked_at_before_its_step_is_zero() -> None:
    x = torch.ones(3)
    with pytest.raises(TypeError, match="slice indices must be integers"):
        x[1.5:2:0]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        x[-1:1.5:0]


def test_too_many_indices_of_integers_are_told_before_how_the_view_was_made() -> None:
    with torch.no_grad():
        x = torch.arange(6).view(2, 3)[0, 1]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 0"):
        x.index_put_((torch.tensor([0]),), torch.tensor(1))


def test_a_value_without_its_leading_ones_is_a_view() -> None:
    x = torch.ones(3, 2, requires_grad=True)
    y = torch.zeros(3, 3)
    y[0] = (x * 1)[:, :1].t()
    assert y.grad_fn.next_functions[1][0].name() == "ViewBackward0"


@pytest.mark.parametrize("name", ["index_add_", "index_copy_", "scatter_"])
def test_a_tensor_of_nothing_overlaps_with_itself(name: str) -> None:
    x = torch.empty(0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        getattr(x, name)(0, torch.empty(0, dtype=torch.int64), x)


def test_elements_by_a_mask_are_the_same_however_they_are_taken() -> None:
    x = numbered(3, 4)
    mask = x % 3 == 1
    wanted = [1.0, 4.0, 7.0, 10.0]
    for t in (x, x.t().contiguous().t(), x.double(), x.long(), x.bfloat16(), x.half()):
        found = t[mask]
        assert found.tolist() == wanted and found.dtype is t.dtype and found.stride() == (1,)
        found.add_(1)  # a copy
        assert t[0, 1] == 1
    assert x[mask.t().contiguous().t()].tolist() == wanted
    assert x[x < 0].shape == (0,) and x[x >= 0].shape == (12,)
    assert torch.tensor(5.0)[torch.tensor(True)].tolist() == [5.0]
    with pytest.warns(UserWarning, match="uint8"):  # a mask of old
        assert x[mask.byte()].tolist() == wanted
    with pytest.raises(IndexError):
        x[mask[:2]]
    base = x.clone().requires_grad_()
    found = base[mask]
    assert type(found.grad_fn).__name__ == "IndexBackward0"
    found.sum().backward()
    assert base.grad is not None and base.grad.equal(mask.float())
    with torch.inference_mode():
        assert x[mask].is_inference()
    with torch.no_grad():
        assert base[mask].tolist() == wanted and not base[mask].requires_grad


def test_places_that_come_several_times_are_added_to_one_after_the_other() -> None:
    x, source = torch.zeros(5, 3), torch.arange(12.0).reshape(4, 3)
    for places in ([1, 1, 4, 0], [1, -4, -1, 0]):
        at = torch.tensor(places)
        out = x.index_put((at,), source, accumulate=True)
        assert out.tolist() == [[9, 10, 11], [3, 5, 7], [0, 0, 0], [0, 0, 0], [6, 7, 8]]
        square = x.index_put((at.reshape(2, 2),), source.reshape(2, 2, 3), accumulate=True)
        assert torch.equal(square, out)
        assert not x.any()
    with pytest.raises(RuntimeError, match="shape mismatch"):
        x.index_put((at.reshape(2, 2),), source, accumulate=True)
    with pytest.raises(IndexError, match="index 6 is out of bounds"):
        x.index_put_((at + 5,), source, accumulate=True)
    assert not x.any()
