"""Which dtype comes out: pairs of dtypes, scalars, 0-d tensors, in-place, division, comparison."""

import itertools

import torch
from observation import each, outcome

DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
)


def _table(operation, left, right) -> None:
    """One line for each left dtype: the result dtypes, or the exception, over the right dtypes."""
    for a in DTYPES:
        cells = []
        for b in right:
            try:
                result = operation(left(a), b)
                cells.append(str(result.dtype).removeprefix("torch."))
            except Exception as error:
                cells.append(type(error).__name__)
        print(str(a).removeprefix("torch."), *cells)


def _vector(dtype):
    return torch.ones(2, dtype=dtype)


def _zero_d(dtype):
    return torch.ones((), dtype=dtype)


VECTORS = [_vector(d) for d in DTYPES]
ZERO_DS = [_zero_d(d) for d in DTYPES]
SCALARS = (True, 2, 2.5, 1 + 2j)


def promote_types_of_every_pair() -> None:
    for a in DTYPES:
        print(a, *(str(torch.promote_types(a, b)).removeprefix("torch.") for b in DTYPES))


def can_cast_of_every_pair() -> None:
    for a in DTYPES:
        print(a, *(int(torch.can_cast(a, b)) for b in DTYPES))


def adding_vectors() -> None:
    _table(lambda a, b: a + b, _vector, VECTORS)


def adding_a_vector_and_a_zero_d() -> None:
    _table(lambda a, b: a + b, _vector, ZERO_DS)


def adding_zero_ds() -> None:
    _table(lambda a, b: a + b, _zero_d, ZERO_DS)


def adding_a_scalar() -> None:
    _table(lambda a, b: a + b, _vector, SCALARS)
    _table(lambda a, b: b + a, _vector, SCALARS)
    _table(lambda a, b: a + b, _zero_d, SCALARS)


def subtracting() -> None:
    _table(lambda a, b: a - b, _vector, VECTORS)
    _table(lambda a, b: b - a, _vector, SCALARS)


def multiplying() -> None:
    _table(lambda a, b: a * b, _vector, VECTORS)
    _table(lambda a, b: a * b, _vector, SCALARS)
    _table(lambda a, b: a * b, _zero_d, VECTORS)


def dividing() -> None:
    _table(lambda a, b: a / b, _vector, VECTORS)
    _table(lambda a, b: a / b, _vector, SCALARS)
    _table(lambda a, b: b / a, _vector, SCALARS)


def floor_dividing() -> None:
    _table(lambda a, b: a // b, _vector, VECTORS)
    _table(lambda a, b: a // b, _vector, SCALARS)
    _table(lambda a, b: b // a, _vector, SCALARS)


def remainders() -> None:
    _table(lambda a, b: a % b, _vector, VECTORS)
    _table(lambda a, b: a % b, _vector, SCALARS)
    _table(lambda a, b: b % a, _vector, SCALARS)


def powers() -> None:
    _table(lambda a, b: a**b, _vector, VECTORS)
    _table(lambda a, b: a**b, _vector, SCALARS)
    _table(lambda a, b: b**a, _vector, SCALARS)


def comparing() -> None:
    _table(lambda a, b: a == b, _vector, VECTORS)
    _table(lambda a, b: a < b, _vector, VECTORS)
    _table(lambda a, b: a >= b, _vector, SCALARS)


def comparing_across_dtypes_uses_the_common_dtype() -> None:
    i = torch.tensor([1, 2, 3])
    each(
        half=lambda: i == 2.5,
        less=lambda: i < 2.5,
        big=lambda: torch.tensor([2**53 + 1]) == float(2**53),
        small=lambda: torch.tensor([0.1]) == 0.1,
        double=lambda: torch.tensor([0.1], dtype=torch.float64) == torch.tensor([0.1]),
        byte=lambda: torch.tensor([255], dtype=torch.uint8) == -1,
        zero_d=lambda: torch.tensor([0.1]) == torch.tensor(0.1, dtype=torch.float64),
    )


def bitwise_operations() -> None:
    _table(lambda a, b: a & b, _vector, VECTORS)
    _table(lambda a, b: a | b, _vector, SCALARS)
    _table(lambda a, b: a << b, _vector, VECTORS)
    _table(lambda a, b: ~a, _vector, (None,))


def in_place_addition() -> None:
    _table(lambda a, b: a.add_(b), _vector, VECTORS)
    _table(lambda a, b: a.add_(b), _vector, SCALARS)
    _table(lambda a, b: a.mul_(b), _vector, ZERO_DS)


def in_place_division() -> None:
    _table(lambda a, b: a.div_(b), _vector, VECTORS)
    _table(lambda a, b: a.floor_divide_(b), _vector, SCALARS)
    _table(lambda a, b: a.pow_(b), _vector, SCALARS)


def maxima_and_where() -> None:
    _table(lambda a, b: torch.maximum(a, b), _vector, VECTORS)
    _table(lambda a, b: torch.where(torch.tensor([True, False]), a, b), _vector, VECTORS)
    _table(lambda a, b: torch.where(torch.tensor([True, False]), a, b), _vector, SCALARS)


def joining() -> None:
    _table(lambda a, b: torch.cat([a, b]), _vector, VECTORS)
    _table(lambda a, b: torch.stack([a, b]), _vector, VECTORS)


def unary_functions() -> None:
    names = ["exp", "sqrt", "sin", "abs", "neg", "sign", "floor", "round", "sigmoid", "reciprocal", "square", "relu", "isnan", "logical_not", "trunc", "expm1", "atan", "erf"]
    for name in names:
        cells = []
        for x in VECTORS:
            try:
                cells.append(str(getattr(torch, name)(x).dtype).removeprefix("torch."))
            except Exception as error:
                cells.append(type(error).__name__)
        print(name, *cells)


def reductions() -> None:
    for name in ["sum", "prod", "mean", "max", "argmax", "std", "cumsum", "all", "any", "amax", "norm", "logsumexp", "softmax", "median", "cumprod", "nansum", "var", "count_nonzero"]:
        cells = []
        for x in VECTORS:
            try:
                value = (
                    getattr(x, name)(0)
                    if name in ("cumsum", "softmax", "logsumexp", "cumprod")
                    else getattr(x, name)()
                )
                cells.append(str(value.dtype).removeprefix("torch."))
            except Exception as error:
                cells.append(type(error).__name__)
        print(name, *cells)


def ternary_functions() -> None:
    f, d, i = torch.ones(2), torch.ones(2).double(), torch.ones(2).long()
    each(
        addcmul=lambda: torch.addcmul(f, d, i).dtype,
        addcdiv=lambda: torch.addcdiv(f, d, f).dtype,
        addcdiv_int=lambda: torch.addcdiv(i, i, i),
        lerp=lambda: torch.lerp(f, d, 0.5),
        clamp=lambda: i.clamp(0.5).dtype,
        clamp_tensor=lambda: f.clamp(d).dtype,
        alpha=lambda: torch.add(i, i, alpha=2),
        alpha_float=lambda: torch.add(i, i, alpha=0.5),
        alpha_bool=lambda: torch.add(i, i, alpha=True),
        sub_alpha=lambda: torch.sub(f, i, alpha=0.5),
        masked=lambda: i.masked_fill(i > 0, 1.5),
    )


def result_type_of_mixed_arguments() -> None:
    each(
        a=lambda: torch.result_type(torch.ones(1).long(), 1.0),
        b=lambda: torch.result_type(torch.tensor(1), torch.ones(1).int()),
        c=lambda: torch.result_type(1, 2.0),
        d=lambda: torch.result_type(torch.tensor(1.0).double(), torch.ones(1).half()),
        e=lambda: torch.result_type(torch.ones(1) > 0, 1),
        f=lambda: torch.result_type(torch.ones(1).half(), 1j),
    )


def the_default_dtype_decides_for_python_floats() -> None:
    torch.set_default_dtype(torch.float64)
    print(
        torch.tensor(1.0).dtype,
        torch.ones(1).dtype,
        (torch.tensor([1]) / 2).dtype,
        (torch.tensor([1]) + 1.0).dtype,
        torch.tensor(1j).dtype,
    )
    print(torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float32))
    torch.set_default_dtype(torch.float32)
    print(torch.get_default_dtype())
    each(integer=lambda: torch.set_default_dtype(torch.int64))


def integers_wrap_around() -> None:
    b = torch.tensor([250, 5], dtype=torch.uint8)
    s = torch.tensor([120], dtype=torch.int8)
    each(
        add=lambda: b + 10,
        sub=lambda: b - 10,
        mul=lambda: b * 2,
        signed=lambda: s + 10,
        neg=lambda: -b,
        sum=lambda: b.sum(),
        power=lambda: b**2,
        big=lambda: torch.tensor([2**62]) * 4,
        scalar=lambda: b + 300,
        scalar_neg=lambda: b + -1,
        shift=lambda: b << 1,
        absolute=lambda: torch.tensor([-128], dtype=torch.int8).abs(),
    )


def reprs_of_dtypes() -> None:
    for d in DTYPES:
        print(repr(d), str(d), d.itemsize, d.is_floating_point, d.is_complex, d.is_signed)
    print(
        torch.float is torch.float32,
        torch.double is torch.float64,
        torch.long is torch.int64,
        torch.half is torch.float16,
        torch.int is torch.int32,
        torch.cfloat is torch.complex64,
    )
    print(
        len(list(itertools.product(DTYPES, DTYPES))),
        torch.float32.to_complex(),
        torch.complex64.to_real(),
    )


def finfo_and_iinfo() -> None:
    for d in DTYPES:
        try:
            info = torch.finfo(d)
            print(info.bits, info.eps, info.max, info.min, info.tiny, info.resolution, info.dtype)
        except TypeError as error:
            print(d, error)
    for d in DTYPES[1:6]:
        print(torch.iinfo(d).bits, torch.iinfo(d).max, torch.iinfo(d).min, torch.iinfo(d))
    print(torch.finfo(torch.float32), torch.finfo().dtype)


def two_numbers_are_added_as_tensors() -> None:
    pairs = ((1, 2), (True, True), (1.5, 2), (1j, 2), (True, 2.5), (7, -2))
    names = ("add", "subtract", "mul", "div", "true_divide", "floor_divide", "maximum", "fmod")
    for name in names:
        for a, b in pairs:
            outcome(getattr(torch, name), a, b)
        outcome(getattr(torch, name), 1, 2, out=torch.empty(()))
    outcome(torch.add, 1, 1, alpha=True)
    outcome(torch.sub, 3.0, 2, alpha=3)
    outcome(torch.div, 7, 2.0, rounding_mode="trunc")
    outcome(torch.floor_divide, 7, 0)
    outcome(torch.add, 2**70, 3)
    outcome(torch.add, 2, "3")
    outcome(torch.add, input=2, other=3)
