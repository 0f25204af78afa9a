"""What values at the edges give: infinities, one element, no dimension, numbers beside tensors."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rushlight as rl
import rushlight.nn.functional as F

INF = math.inf


@pytest.mark.parametrize("call", [rl.add, rl.sub, rl.rsub], ids=lambda c: c.__name__)
def test_a_scaled_number_leaves_the_type_of_the_tensor(call: Any) -> None:
    for dtype in (rl.float32, rl.float16, rl.bfloat16, rl.float64):
        assert call(rl.ones(2, dtype=dtype), 1, alpha=2).dtype is dtype
    assert rl.ones(2).add_(1, alpha=2).tolist() == [3.0, 3.0]


def test_a_factor_with_an_imaginary_part_is_refused_beside_real_tensors() -> None:
    x = rl.ones(2)
    for call in (
        lambda: rl.addcmul(x, x, x, value=2j),
        lambda: rl.addcdiv(x, x, x, value=2j),
        lambda: rl.addmv(x, x.outer(x), x, alpha=2j),
        lambda: rl.lerp(x, x, 2j),
        lambda: rl.threshold(x, 2j, 0),
        lambda: F.softplus(x, 2j),
    ):
        with pytest.raises(RuntimeError, match="cannot be converted to type float"):
            call()
    with pytest.raises(RuntimeError, match="non-complex scalar as the order"):
        rl.norm(x, 2j)


def test_one_number_of_any_type_is_written_where_a_mask_says() -> None:
    for value in (rl.tensor(5), rl.tensor([5]), rl.tensor(5.7, dtype=rl.float64)):
        a = rl.arange(4, dtype=rl.int32)
        a[a == 0] = value
        assert a.tolist() == [5, 1, 2, 3]
    with pytest.raises(RuntimeError, match="source and destination dtypes match"):
        rl.zeros(3)[rl.tensor([0, 1])] = rl.tensor([1, 2])
    with pytest.raises(RuntimeError, match="without overflow"):
        rl.zeros(3, dtype=rl.int8).masked_fill_(rl.tensor([True, False, True]), rl.tensor(300))


def test_any_and_all_over_no_dimension_are_of_each_element() -> None:
    x = rl.tensor([[0.0, 1.0], [2.0, 0.0]])
    for call in (rl.any, rl.all):
        assert call(x, ()).tolist() == [[False, True], [True, False]]


def test_losses_take_integer_targets_backward() -> None:
    for loss in (F.smooth_l1_loss, F.mse_loss, F.l1_loss):
        for dtype in (rl.float32, rl.float16, rl.bfloat16):
            x = rl.full((3,), 1.0, dtype=dtype, requires_grad=True)
            loss(x, rl.arange(3)).backward()
            y = rl.full((3,), 1.0, dtype=dtype, requires_grad=True)
            loss(y, rl.arange(3).to(dtype)).backward()
            assert x.grad.tolist() == y.grad.tolist() and x.grad.dtype is dtype


def test_a_search_is_made_in_the_common_type() -> None:
    row = rl.tensor([1, 2, 3])
    for value in (2.5, rl.tensor(2.5), rl.tensor([2.5])):
        assert rl.searchsorted(row, value).reshape(-1).tolist() == [2]
    assert rl.bucketize(2.5, row).item() == 2


def test_the_logarithm_of_gamma_is_infinite_at_both_ends() -> None:
    for length in (1, 64, 5000):
        assert rl.lgamma(rl.full((length,), -INF)).tolist() == [INF] * length


def test_logits_at_infinity_give_what_the_terms_give() -> None:
    x = rl.tensor([INF, -INF, INF, -INF])
    t = rl.tensor([1.0, 0.0, 0.0, 1.0])
    for weight in (None, rl.tensor(2.0)):
        each = F.binary_cross_entropy_with_logits(x, t, reduction="none", pos_weight=weight)
        assert [str(v) for v in each.tolist()] == ["nan", "nan", "inf", "nan"]


def test_vander_has_as_many_columns_as_it_is_asked_for() -> None:
    x = rl.arange(3)
    assert rl.vander(x, N=1).tolist() == [[1]] * 3
    assert rl.vander(x, N=0).shape == (3, 0)
    assert rl.vander(x > 0).tolist() == [[0, 0, 1], [1, 1, 1], [1, 1, 1]]
    with pytest.raises(RuntimeError, match="N must be non-negative"):
        rl.vander(x, N=-1)


@pytest.mark.parametrize("logit", [5.0, 10.0, 17.0, 20.0, 40.0])
def test_the_loss_of_a_confident_prediction_is_not_negative(logit: float) -> None:
    exact = math.log1p(2 * math.exp(-logit))
    for rows in (1, 3, 5000):
        x = rl.tensor([[logit, 0.0, 0.0]] * rows)
        classes = rl.zeros(rows, dtype=rl.int64)
        for loss in (
            F.cross_entropy(x, classes),
            F.cross_entropy(x, classes, reduction="none").max(),
            F.cross_entropy(x, F.one_hot(classes, 3).float()),
            -rl.log_softmax(x, 1)[:, 0].mean(),
            F.cross_entropy(x[0], classes[0]),
            -rl.log_softmax(x[0], 0)[0],
        ):
            assert abs(loss.item() - exact) <= 2.5e-7
            assert loss.item() > -1.2e-7
        assert F.cross_entropy(x, classes).item() >= 0


def test_a_weight_without_dimensions_may_be_of_any_type() -> None:
    for dtype in (rl.float64, rl.float16, rl.int64):
        got = rl.lerp(rl.zeros(2), rl.ones(2), rl.tensor(1, dtype=dtype))
        assert got.dtype is rl.float32 and got.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="expected dtype float for `weight` but got dtype"):
        rl.lerp(rl.zeros(2), rl.ones(2), rl.ones(2, dtype=rl.float64))


def test_a_list_that_holds_itself_has_too_many_dimensions() -> None:
    one: list[Any] = []
    one.append(one)
    three: list[Any] = []
    three.extend([three, three, three])
    for value in (one, three, (one,)):
        for make in (rl.tensor, rl.as_tensor, rl.FloatTensor, rl.zeros(2).new_tensor):
            with pytest.raises(ValueError, match="too many dimensions 'list'"):
                make(value)
    later: list[Any] = [1]
    later.append(later)
    with pytest.raises(TypeError, match="self-referential lists"):
        rl.tensor(later)


def test_a_negative_place_in_a_sparse_tensor_is_refused() -> None:
    for size in (None, (3,)):
        with pytest.raises(RuntimeError, match="found negative index -1 for dim 0"):
            rl.sparse_coo_tensor([[0, -1]], [1.0, 2.0], size)


@pytest.mark.parametrize("kind", [rl.nn.RNN, rl.nn.LSTM, rl.nn.GRU], ids=lambda k: k.__name__)
@pytest.mark.parametrize("ways", [False, True])
def test_packed_sequences_whose_sizes_do_not_add_up_are_refused(kind: Any, ways: bool) -> None:
    from rushlight.nn.utils.rnn import PackedSequence, pad_packed_sequence

    layer = kind(2, 3, bidirectional=ways)

    def run(rows: int, sizes: list[int]) -> Any:
        return layer(PackedSequence(rl.ones(rows, 2), rl.tensor(sizes)))[0].data

    assert run(5, [2, 1]).shape == (3, 6 if ways else 3)
    with pytest.raises(RuntimeError, match=r"start \(2\) \+ length \(1\) exceeds dimension size"):
        run(2, [2, 1])
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        run(3, [1, 2])
    padded, lengths = pad_packed_sequence(PackedSequence(rl.ones(5, 2), rl.tensor([2, 1])))
    assert padded.sum().item() == 6 and lengths.tolist() == [2, 1]
    for rows, sizes in ((2, [2, 1]), (3, [1, 2]), (6, [3, 1, 2])):
        with pytest.raises(RuntimeError, match=r"invalid for input|doesn't match|must not grow"):
            pad_packed_sequence(PackedSequence(rl.ones(rows, 2), rl.tensor(sizes)))


def test_each_way_of_a_packed_layer_begins_at_its_own_end_of_spare_rows() -> None:
    from rushlight.nn.utils.rnn import PackedSequence

    layer = rl.nn.RNN(2, 3, bidirectional=True)
    data, sizes = rl.rand(5, 2), rl.tensor([2, 1])
    both = layer(PackedSequence(data, sizes))[0].data
    first = layer(PackedSequence(data[:3], sizes))[0].data
    last = layer(PackedSequence(data[2:], sizes))[0].data
    assert rl.equal(both[:, :3], first[:, :3]) and rl.equal(both[:, 3:], last[:, 3:])


@pytest.mark.parametrize("name", ["add", "mul", "sub", "eq", "lt", "bitwise_or", "fmod", "pow"])
def test_integers_of_more_than_64_bits_are_refused_and_never_wrap(name: str) -> None:
    for x in (rl.tensor([3]), rl.tensor(3, dtype=rl.uint8), rl.tensor([True])):
        with pytest.raises(OverflowError, match="int too big to convert"):
            getattr(x, name)(2**64)
        with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
            getattr(x, name)(-(2**63) - 1)
    with pytest.raises(OverflowError, match="int too big to convert"):
        rl.ones(2) + 2**64
    assert (rl.tensor([3]) + 2**63).tolist() == [3 - 2**63]


def test_bits_of_a_number_and_a_tensor() -> None:
    x = rl.tensor([1, 6], dtype=rl.uint8)
    assert rl.bitwise_and(2, x).tolist() == [0, 2]
    assert rl.bitwise_or(2, x).dtype is rl.uint8
    assert rl.bitwise_xor(True, rl.tensor([True, False])).tolist() == [False, True]
    with pytest.raises(NotImplementedError, match=r'"bitwise_and_cpu" not implemented for .Float'):
        rl.bitwise_and(1.5, x)


def test_turned_tensors_are_joined_in_rows() -> None:
    x = rl.arange(6.0).view(2, 3).t()
    for found in (rl.cat([x, x]), rl.cat([x, x.double()], 1), rl.vstack([x, x, x])):
        assert found.is_contiguous()
    last = rl.ones(2, 3, 4, 5).to(memory_format=rl.channels_last)
    assert rl.cat([last, last]).is_contiguous(memory_format=rl.channels_last)
