"""What calls say to arguments that don't fit, in PyTorch's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

X = torch.ones(2, 3)

REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: torch.gather(), TypeError,
     'gather() missing 3 required positional argument: "input", "dim", "index"'),
    (lambda: X.gather(1), TypeError, 'gather() missing 1 required positional arguments: "index"'),
    (lambda: X.gather(1, 2, 3, 4), TypeError,
     "gather() takes 2 positional arguments but 4 were given"),
    (lambda: X.cumsum(True), TypeError,
     "cumsum(): argument 'dim' (position 1) must be int, not bool"),
    (lambda: torch.cumsum(X, 1.0), TypeError,
     "cumsum(): argument 'dim' (position 2) must be int, not float"),
    (lambda: X.cumsum(2**63), ValueError, "Overflow when unpacking long long"),
    (lambda: X.neg(1), TypeError, "TensorBase.neg() takes no arguments (1 given)"),
    (lambda: X.neg(a=1), TypeError, "TensorBase.neg() takes no keyword arguments"),
    (lambda: X.sum([0, "a"]), TypeError,
     "sum(): argument 'dim' failed to unpack the object at pos 2 with error "
     '"type must be tuple of ints,but got str"'),
    (lambda: X.permute("a", 0), TypeError,
     "permute() takes 1 positional argument but 2 were given"),
    (lambda: torch.permute(X, 1), TypeError,
     "permute(): argument 'dims' (position 2) must be tuple of ints, not int"),
    (lambda: X.minimum(1), TypeError,
     "minimum(): argument 'other' (position 1) must be Tensor, not int"),
    (lambda: X.max("a", True), TypeError,
     "max(): argument 'dim' (position 1) must be int, not str"),
    (lambda: torch.add(X, 1, foo=1, bar=2, baz=3), TypeError,
     "add() received an invalid combination of arguments - got unrecognized keyword arguments: "
     "baz, bar, foo"),
    (lambda: torch.max(X, 1, keepdim=2), TypeError,
     "max() received an invalid combination of arguments - got (Tensor, int, keepdim=int), but "
     "expected one of:\n * (Tensor input, *, Tensor out = None)\n      didn't match because some "
     "of the keywords were incorrect: keepdim\n * (Tensor input, Tensor other, *, Tensor out = "
     "None)\n * (Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)\n"),
    (lambda: X.bitwise_and([[1], "a"]), TypeError,
     "bitwise_and() received an invalid combination of arguments - got (list), but expected one "
     "of:\n * (Tensor other)\n      didn't match because some of the arguments have invalid types: "
     "(!list of [list, str]!)\n * (Number other)\n      didn't match because some of the arguments "
     "have invalid types: (!list of [list, str]!)\n"),
    (lambda: torch.logsumexp(X, dim=np.float32(1)), TypeError,
     "logsumexp(): argument 'dim' must be tuple of ints, not numpy.float32"),
    (lambda: torch.fft.fft(X, "a"), TypeError,
     "fft_fft(): argument 'n' (position 2) must be int, not str"),
    (lambda: torch.nanmean([None]), TypeError,
     "nanmean(): argument 'input' (position 1) must be Tensor, not list"),
    (lambda: torch.arctanh_([1]), TypeError,
     "arctanh_(): argument 'input' (position 1) must be Tensor, not list"),
    (lambda: torch.log_(X, out=X), TypeError, "log_() got an unexpected keyword argument 'out'"),
    (lambda: torch.full(3, 2), TypeError,
     "full(): argument 'size' (position 1) must be tuple of ints, not int"),
    (lambda: torch.ones(2, dtype=torch.int64, out=torch.ones(2)), RuntimeError,
     "dtype Long does not match dtype of out parameter (Float)"),
    (lambda: torch.ones(2, pin_memory=True), RuntimeError,
     "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is "
     "available on this system."),
    (lambda: torch.ones(3) ^ torch.ones(2), RuntimeError,
     "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0"),
    (lambda: torch.ones(1, dtype=torch.int64).__imod__(torch.ones(2, 3)), RuntimeError,
     "output with shape [1] doesn't match the broadcast shape [2, 3]"),
    (lambda: X[0, 1, 1.5], IndexError, "too many indices for tensor of dimension 2"),
    (lambda: X.__setitem__(5, 1j), RuntimeError,
     "value cannot be converted to type float without overflow"),
    (lambda: X.__setitem__(0, torch.float32), TypeError,
     "can't assign a torch.dtype to a torch.FloatTensor"),
    (lambda: X.view_as(5), TypeError,
     "view_as(): argument 'other' (position 1) must be Tensor, not int"),
    (lambda: X.type_as(True), TypeError,
     "type_as(): argument 'other' (position 1) must be Tensor, not bool"),
    (lambda: torch.broadcast_tensors(X, (X,)), TypeError,
     "expected Tensor as element 1 in argument 0, but got tuple"),
    (lambda: torch.meshgrid([X, 5], indexing="ij"), TypeError,
     "expected Tensor as element 1 in argument 0, but got int"),
    (lambda: torch.nn.functional.selu((1,), inplace=True), TypeError,
     "selu_(): argument 'input' (position 1) must be Tensor, not tuple"),
    (lambda: torch.nn.functional.dropout((1,), inplace=True), TypeError,
     "dropout_(): argument 'input' (position 1) must be Tensor, not tuple"),
    (lambda: X.map_(X.double(), lambda v, w: v), TypeError,
     "map_: expected torch.FloatTensor for 'other' (got torch.DoubleTensor)"),
    (lambda: torch.tensor(1.0).unbind(-1), IndexError,
     "Dimension specified as 0 but tensor has no dimensions"),
    (lambda: torch.tensor([1], requires_grad=None), TypeError,
     "tensor(): argument 'requires_grad' must be bool, not NoneType"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_does_not_fit_is_refused_in_the_words_of_pytorch(number: int) -> None:
    call, kind, text = REFUSED[number]
    for _ in range(2):  # what a first call has taught must not change the second
        with pytest.raises(kind) as caught:
            call()
        assert type(caught.value) is kind
        assert str(caught.value) == text


def test_a_call_that_fits_does_not_open_the_door_for_one_of_the_same_types() -> None:
    assert X.sum([0]).shape == (3,)
    with pytest.raises(TypeError, match="sum\\(\\) received an invalid combination"):
        X.sum([1.5])
    assert X.cumsum(torch.tensor(1)).shape == (2, 3)
    with pytest.raises(TypeError, match="must be int, not Tensor"):
        X.cumsum(torch.tensor(1.5))


def test_the_names_of_pytorch_are_taken_where_the_formulas_have_others() -> None:
    matrix = torch.eye(2)
    assert torch.linalg.eigh(input=matrix).eigenvalues.tolist() == [1.0, 1.0]
    assert torch.linalg.tensorinv(input=torch.eye(4).reshape(2, 2, 2, 2), ind=2).shape == (2,) * 4


def test_an_unfitting_value_is_refused_before_the_place_is_looked_for() -> None:
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        X[7] = 2**63


def test_a_function_with_a_better_one_says_so() -> None:
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="torch.qr is deprecated in favor of torch.linalg.qr"):
            torch.qr(torch.eye(2))
        with pytest.warns(UserWarning, match="without specifying the dim arg is deprecated"):
            torch.cross(torch.ones(3), torch.ones(3))
    finally:
        torch.set_warn_always(False)


def test_messages_name_the_types_of_several_results_with_their_module() -> None:
    found = X.max(0)
    assert type(found).__name__ == "max" and repr(type(found)).endswith("return_types.max'>")
    with pytest.raises(TypeError, match=r"must be Tensor, not torch\.return_types\.max$"):
        torch.relu(found)
    with pytest.raises(TypeError, match=r"got torch\.return_types\.max$"):
        torch.cat([found])
    with pytest.raises(TypeError, match=r"unary -: 'torch\.return_types\.max'$"):
        _ = -found


@pytest.mark.parametrize("name", ["broadcast_tensors", "block_diag", "cartesian_prod"])
def test_tensors_one_by_one_are_no_list(name: str) -> None:
    with pytest.raises(TypeError, match=r"element 0 in argument 0, but got list$"):
        getattr(torch, name)([torch.ones(2), torch.ones(2)])


def test_a_tensor_that_has_a_gradient_to_lose_stands_for_no_number() -> None:
    rate, x = torch.tensor([0.5], requires_grad=True), torch.ones(2)
    with torch.no_grad():
        for number in (rate[0], rate.squeeze(), rate.view(())):  # views say what their base says
            with pytest.raises(TypeError, match="argument 'alpha' must be Number, not Tensor"):
                x.add_(x, alpha=number)
        assert x.add_(x, alpha=rate.sum()).tolist() == [1.5, 1.5]


def test_a_bool_of_numpy_is_no_bool() -> None:
    for call in (
        lambda yes: torch.sum(torch.ones(2, 3), 0, yes),
        lambda yes: torch.topk(torch.ones(3), 2, 0, yes),
        lambda yes: torch.embedding(torch.ones(2, 3), torch.tensor([1]), -1, yes),
    ):
        with pytest.raises(TypeError, match=r"must be bool, not numpy\.bool"):
            call(np.bool_(True))


def test_a_bool_is_a_size_behind_the_first() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert x.repeat(1, True).equal(x) and x.tile(1, True).equal(x)
    assert x.view(6, True).shape == x.reshape(6, True).shape == (6, 1)
    assert x.permute(1, False).equal(x.t()) and x.flip(0, True).equal(x.flip((0, 1)))
    assert x[:, :1].expand(2, True).shape == x.unflatten(0, (2, True))[:, :, 0].shape == (2, 1)
    with pytest.raises(TypeError):
        x.repeat(True, 1)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_narrow_takes_no_bool(place: int) -> None:
    given: list[Any] = [1, 0, 1]
    given[place] = True
    with pytest.raises(TypeError, match=r"narrow\(\) received an invalid combination"):
        torch.narrow(X, *given)
    with pytest.raises(TypeError, match=r"narrow\(\) received an invalid combination"):
        X.narrow(*given)


def test_vander_takes_halves_where_the_one_of_linalg_does_not() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float16)
    assert torch.vander(x, 3).tolist() == [[1, 1, 1], [4, 2, 1]]
    with pytest.raises(RuntimeError, match="but got Half"):
        torch.linalg.vander(x)


def test_arguments_that_are_taken_once_are_looked_at_again_where_they_are_large() -> None:
    x, window = torch.ones(64), torch.ones(16)

    def transform(size: Any, hop: Any = 4, given: Any = window) -> Any:
        return torch.stft(x, size, hop, window=given, return_complex=True)

    for _ in range(3):
        assert transform(16).shape == (9, 17)
    for wrong in (1 << 64, -(1 << 70)):
        with pytest.raises(ValueError, match="Overflow when unpacking long"):
            transform(16, wrong)
    for size, hop, given in ((16.0, 4, window), (16, "4", window), (16, 4, 3.0), (16, 4, [1.0])):
        for _ in range(2):
            with pytest.raises(TypeError):
                transform(size, hop, given)
    assert transform(torch.tensor(16)).shape == (9, 17)
