"""Factories called with sizes alone give, and refuse, what they do with options."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch

SIZES: list[tuple[Any, ...]] = [
    (2, 3), ((2, 3),), ([2, 3],), (torch.Size([2, 3]),), (0,), ((),), (3,), (), (-1,), ((2, -3),),
    (1.5,), (True,), ((True, 2),), ("a",), (1 << 70,), (1 << 62,), ((1 << 31, 1 << 31, 8),),
    (torch.tensor(2), 3), (2, None), ((2,), 3), ([[2]],), (torch.Size([1 << 62, 4]),),
]  # fmt: skip


def outcome(function: Callable[..., Any], args: tuple[Any, ...], **options: object) -> Any:
    try:
        made = function(*args, **options)
    except Exception as error:
        # Which arguments a refusal lists is another matter.
        return type(error), "" if isinstance(error, TypeError) else str(error)
    return made.shape, made.stride(), made.dtype, made.requires_grad, type(made)


@pytest.fixture(params=["as it is", "float64", "meta", "inference"])
def setting(request: pytest.FixtureRequest) -> Iterator[str]:
    """What is switched on meanwhile."""
    if request.param == "float64":
        torch.set_default_dtype(torch.float64)
    elif request.param == "meta":
        torch.set_default_device("meta")
    with torch.inference_mode(request.param == "inference"):
        yield request.param
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand"])
def test_sizes_alone_mean_the_same(name: str, setting: str) -> None:
    function = getattr(torch, name)
    for size in SIZES:
        plain, told = outcome(function, size), outcome(function, size, requires_grad=False)
        assert plain == told, size


def test_one_value_in_a_size(setting: str) -> None:
    values = [1.5, 2, True, -0.0, 1e300, 1 << 62, 1 << 70, 1j, None, "a", torch.tensor(2.5)]
    for size in SIZES:
        for value in values:
            args = (size[0] if size else (), value)
            told = outcome(torch.full, args, requires_grad=False)
            assert outcome(torch.full, args) == told, args
    if setting == "as it is":
        assert torch.full((2,), 3).tolist() == [3, 3] and torch.full((), 0.5).item() == 0.5
        assert torch.full([1, 2], True).tolist() == [[True, True]]


def test_numbers_up_to_one(setting: str) -> None:
    for end in (0, 1, 7, -1, 2.5, True, None, "a", 1 << 70, 1 << 61, (1 << 63) - 1, (3,)):
        told = outcome(torch.arange, (end,), requires_grad=False)
        assert outcome(torch.arange, (end,)) == told, end
    if setting == "as it is":
        assert torch.arange(4).tolist() == [0, 1, 2, 3]


def test_tensors_like_others() -> None:
    some = torch.arange(24.0).reshape(2, 3, 4)
    for x in (
        some, some.mT, some[:, ::2], some[0, 0, 0], some[:0], some.int(), some.double(),
        some > 3, some.to(torch.bfloat16), some.to(torch.complex64), some.half(), some[:1, :, :1],
        some.expand(2, 2, 3, 4), some.long(), torch.empty(2, 3, 4, 5).to(
            memory_format=torch.channels_last), some.to("meta"),
    ):  # fmt: skip
        for name, value in (("zeros_like", 0), ("ones_like", 1), ("empty_like", None)):
            function = getattr(torch, name)
            plain, told = function(x), function(x, memory_format=torch.preserve_format)
            assert plain.shape == told.shape and plain.dtype == told.dtype
            assert plain.stride() == told.stride() and plain.device == told.device
            if value is not None and x.device.type != "meta":
                assert bool((plain == value).all())
            assert function(some, requires_grad=True).requires_grad
    with pytest.raises(TypeError, match="must be Tensor"):
        torch.zeros_like(3)  # type: ignore[arg-type]
    with torch.inference_mode():
        assert torch.ones_like(some).is_inference()


def test_an_identity_of_any_size_and_type() -> None:
    for n, m in ((3, 3), (2, 4), (4, 2), (1, 5), (0, 3), (3, 0), (5, 1)):
        for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16):
            made = torch.eye(n, m, dtype=dtype)
            assert made.tolist() == [[i == j for j in range(m)] for i in range(n)]


def test_what_isn_t_set_is_filled_where_programs_ask_for_it() -> None:
    torch.use_deterministic_algorithms(True)
    try:
        assert torch.empty_like(torch.ones(3)).isnan().all()
        assert torch.empty(3).isnan().all()
    finally:
        torch.use_deterministic_algorithms(False)
