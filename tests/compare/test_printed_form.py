"""Random arrays under random options print as an installed PyTorch prints them.

`RUSHLIGHT_PRINT_CASES` sets how many arrays are tried (300 unless told), `RUSHLIGHT_PRINT_SEED` the
seed of the first. A failure names its case: that number as the seed, with one case, repeats it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rushlight._array import printing as text

torch = pytest.importorskip("torch")
torch_text = pytest.importorskip("torch._tensor_str")
ml_dtypes = pytest.importorskip("ml_dtypes")

CASES = int(os.environ.get("RUSHLIGHT_PRINT_CASES", "300"))
SEED = int(os.environ.get("RUSHLIGHT_PRINT_SEED", "0"))

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64"]
SMALL_FLOATS = [
    "bfloat16",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]
COMPLEX = ["complex64", "complex128"]
DTYPES = ["bool", *INTEGERS, *FLOATS, *FLOATS, *FLOATS, *SMALL_FLOATS, *COMPLEX, *COMPLEX]
SPECIAL = [float("nan"), -float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 5e-324, 1e-45]
SPECIAL += [1e8, 99999999.5, 1e8 + 1, 1000.0, 1001.0, 1e-4, 0.00010001, 1.7e308, 0.5, 1.0, -1.0]


def random_shape(rng: random.Random) -> tuple[int, ...]:
    kind = rng.random()
    if kind < 0.08:
        return ()
    if kind < 0.3:
        return (rng.choice([1, 2, 5, 6, 7, 8, 20, 50, 999, 1000, 1001, 1500]),)
    if kind < 0.36:
        return tuple(rng.choice([0, 1, 2, 7]) for _ in range(rng.randint(1, 4)))
    if kind < 0.4:
        return tuple(rng.choice([1, 1, 1, 2]) for _ in range(rng.randint(5, 9)))
    rank = rng.randint(2, 5)
    largest = {2: 45, 3: 12, 4: 8, 5: 4}[rank]
    return tuple(rng.randint(1, largest) for _ in range(rank))


def random_reals(rng: random.Random, numbers: np.random.Generator, count: int) -> Any:
    kind = rng.randrange(9)
    if kind == 0:
        values = numbers.standard_normal(count)
    elif kind == 1:
        values = np.round(numbers.standard_normal(count) * 10.0 ** rng.randint(0, 5))
    elif kind == 2:
        values = numbers.standard_normal(count) * 10.0 ** numbers.uniform(-6, 9, count)
    elif kind == 3:
        values = numbers.standard_normal(count) * 10.0 ** rng.randint(-12, 12)
    elif kind == 4:
        values = np.round(10.0 ** numbers.uniform(0, rng.choice([2, 3, 4, 9]), count))
    elif kind == 5:
        values = np.zeros(count)
    elif kind == 6:
        values = np.full(count, rng.choice(SPECIAL))
    elif kind == 7:
        values = numbers.choice(SPECIAL, count)
    else:
        values = numbers.uniform(1, rng.choice([2, 999, 1000, 1001, 1e5]), count)
    if rng.random() < 0.3 and count:
        share = rng.choice([0.02, 0.5])
        values = np.where(numbers.random(count) < share, numbers.choice(SPECIAL, count), values)
    return values


def random_array(rng: random.Random, numbers: np.random.Generator, dtype: str) -> Any:
    shape = random_shape(rng)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == "bool":
        flat = numbers.random(count) < rng.choice([0.0, 0.5, 1.0])
    elif dtype in INTEGERS:
        info = np.iinfo(dtype)
        low, high = rng.choice([(0, 9), (0, 127), (info.min, info.max), (0, info.max)])
        if rng.random() < 0.2 and info.min < 0:
            low = -5
        flat = numbers.integers(low, high, count, dtype=dtype, endpoint=True)
    else:
        with np.errstate(all="ignore"):
            flat = random_reals(rng, numbers, count)
            if dtype in COMPLEX:
                imaginary = random_reals(rng, numbers, count)
                flat = (flat + 0j).astype(np.complex128)
                flat.imag = imaginary
            flat = flat.astype(getattr(ml_dtypes, dtype) if dtype in SMALL_FLOATS else dtype)
    raw = flat.reshape(shape)
    change = rng.random()
    if change < 0.1 and raw.ndim >= 2:
        raw = raw.swapaxes(0, -1)
    elif change < 0.2 and raw.ndim >= 1:
        raw = raw[::2]
    elif change < 0.25 and raw.ndim >= 1:
        raw = np.broadcast_to(raw, (rng.randint(1, 3), *raw.shape))
    return raw


def random_options(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.35:
        return {}
    options: dict[str, Any] = {}
    if rng.random() < 0.2:
        options["profile"] = rng.choice(["default", "short", "full", "other"])
    if rng.random() < 0.5:
        options["precision"] = rng.choice([0, 1, 2, 3, 6, 8, 17])
    if rng.random() < 0.5:
        options["threshold"] = rng.choice([0, 1, 5, 20, 100, 500, float("inf")])
    if rng.random() < 0.5:
        options["edgeitems"] = rng.choice([0, 1, 1, 2, 2, 3, 4, 5, 10])
    if rng.random() < 0.4:
        options["linewidth"] = rng.choice([0, 5, 12, 30, 40, 60, 79, 81, 100, 200, 1000])
    if rng.random() < 0.4:
        options["sci_mode"] = rng.choice([True, False, None])
    return options


def torch_tensor(raw: Any, dtype: str) -> Any:
    shape = raw.shape
    raw = np.array(raw, order="C")
    if dtype in SMALL_FLOATS:
        bits = raw.view(np.int16 if raw.dtype.itemsize == 2 else np.uint8)
        return torch.from_numpy(bits.reshape(-1)).view(getattr(torch, dtype)).reshape(shape)
    return torch.from_numpy(raw.reshape(-1)).reshape(shape)


def with_suffixes(rng: random.Random, theirs: Any) -> tuple[Any, list[str]]:
    """The tensor made to require a gradient, or given a history of a name of random length."""
    choice = rng.random()
    if choice < 0.5 or not (theirs.is_floating_point() or theirs.is_complex()):
        return theirs, []
    theirs = theirs.requires_grad_()
    if choice < 0.7:
        return theirs, ["requires_grad=True"]
    name = "F" * rng.randint(1, 60)

    def forward(ctx: Any, value: Any) -> Any:
        return value.clone()

    members = {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: g)}
    function: Any = type(name, (torch.autograd.Function,), members)
    return function.apply(theirs), [f"grad_fn=<{name}Backward>"]


def differing_case(seed: int) -> str | None:
    """None when case `seed` prints the same on both sides, else both texts."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    dtype = rng.choice(DTYPES)
    default = rng.choice(["float32"] * 7 + ["float64", "float16", "bfloat16"])
    raw = random_array(rng, numbers, dtype)
    options = random_options(rng)
    theirs, suffixes = with_suffixes(rng, torch_tensor(raw, dtype))
    name = "tensor"
    if not suffixes and rng.random() < 0.1:
        name = "S" * rng.randint(1, 12)
        theirs = theirs.as_subclass(type(name, (torch.Tensor,), {}))
    torch.set_default_dtype(getattr(torch, default))
    try:
        with torch_text.printoptions(**options):
            expected = repr(theirs)
        with text.printoptions(**options):
            ours = text.tensor_text(raw, dtype, suffixes=suffixes, default_dtype=default, name=name)
    finally:
        torch.set_default_dtype(torch.float32)
    if ours == expected:
        return None
    return f"case {seed}: {dtype}{raw.shape} {options} {suffixes}\n{ours}\n--- PyTorch\n{expected}"


def test_random_arrays_print_as_in_pytorch() -> None:
    different = [found for k in range(CASES) if (found := differing_case(SEED + k)) is not None]
    assert not different, f"{len(different)} of {CASES} differ; the first:\n{different[0]}"


def test_a_sparse_tensors_text_is_made_of_indented_parts() -> None:
    rng = random.Random(SEED)
    for rows in (1, 4, 20, 400):
        indices = np.array([[rng.randrange(50) for _ in range(rows)] for _ in range(2)])
        values = np.array([[rng.random() for _ in range(6)] for _ in range(rows)])
        theirs = torch.sparse_coo_tensor(indices, values, (50, 50, 6), check_invariants=True)
        parts = [
            text.tensor_text(indices, "int64", name="indices=tensor", indent=7),
            text.tensor_text(
                values, "float64", name="values=tensor", indent=7, default_dtype="float64"
            ),
            f"size=(50, 50, 6), nnz={rows}, dtype=torch.float64, layout=torch.sparse_coo",
        ]
        assert text.assemble_text(parts[0], parts[1:], a_line_each=True) == repr(theirs)


def test_a_suffix_with_lines_of_its_own_counts_in_full() -> None:
    dual = pytest.importorskip("torch.autograd.forward_ad")
    for shape in [(3,), (12,), (5, 2), (2, 2), (40,)]:
        raw = np.linspace(0.0, 1.0, int(np.prod(shape))).reshape(shape)
        tangent = text.tensor_text(raw, "float64")
        with dual.dual_level():
            theirs = dual.make_dual(torch.from_numpy(raw), torch.from_numpy(raw)) * 1.0
            expected = repr(theirs)
        assert text.tensor_text(raw, "float64", suffixes=[f"tangent={tangent}"]) == expected


def test_options_change_as_in_pytorch() -> None:
    rng = random.Random(SEED)
    before_theirs, before = torch_text.get_printoptions(), text.get_printoptions()
    assert before == before_theirs
    try:
        for _ in range(CASES):
            options = random_options(rng)
            torch.set_printoptions(**options)
            text.set_printoptions(**options)
            assert text.get_printoptions() == torch_text.get_printoptions()
            inner = random_options(rng)
            with torch_text.printoptions(**inner), text.printoptions(**inner):
                assert text.get_printoptions() == torch_text.get_printoptions()
            assert text.get_printoptions() == torch_text.get_printoptions()
    finally:
        torch.set_printoptions(**before_theirs)
        text.set_printoptions(**before)


def outcome(function: Callable[..., str], *arguments: Any) -> str:
    """The text that the call gives, or its error's."""
    try:
        return function(*arguments)
    except (TypeError, ValueError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"


def test_an_element_formats_as_in_pytorch() -> None:
    specs = ["", ".3f", ".2e", "d", "10", ">12", "x", "%", "g", "+.1f", ",", "s", "08.3f", "z"]
    for seed in range(SEED, SEED + CASES):
        rng = random.Random(seed)
        dtype = rng.choice(DTYPES)
        raw = random_array(rng, np.random.default_rng(seed), dtype)
        if raw.size and rng.random() < 0.8:
            raw = np.array(raw.reshape(-1)[:1]).reshape(())
        theirs = torch_tensor(raw, dtype)
        spec = rng.choice(specs)
        if raw.ndim and not spec:
            continue
        expected = outcome(format, theirs, spec)
        assert outcome(text.format_element, raw, spec) == expected, f"case {seed}: {dtype} {spec!r}"
