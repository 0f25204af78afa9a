"""Cases for the tests of the table: each row's samples, in each dtype, as arrays.

A row's `samples=` is a function of `mk`, the maker of inputs; a row without samples gets a few
shapes of random numbers, read off its schema. Elementwise rows also get a 0-d, an empty and a
broadcasting case derived from their first sample, whatever their samples are.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

import rushlight
from rushlight import autograd
from rushlight._array import types as T
from rushlight._base import dtypes as D
from rushlight._base.schema import REQUIRED, Parameter
from rushlight._core.storage import TensorBase, new_tensor
from rushlight._table import ROWS, Row

#: The element types that the cases of a row come in, by what the row says in `dtypes=`.
TYPES = {
    "all": (D.float64, D.float32, D.complex128),
    "float": (D.float64, D.float32),
    "complex": (D.complex128, D.complex64),
    "int": (D.int64,),
    "bool": (D.bool_,),
}
PYTHON_TYPES = {float: D.float64, int: D.int64, bool: D.bool_, complex: D.complex128}

#: Kinks of common functions lie at the multiples of one half; samples keep this far away from them.
MARGIN = 0.04


class Maker:
    """`mk`: random inputs, the same ones for the same row."""

    def __init__(self, seed: int, dtype: D.dtype) -> None:
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype
        self.asked_default = False  # whether an input was made of the case's own dtype

    def __call__(
        self,
        *shape: Any,
        low: float | None = None,
        high: float | None = None,
        dtype: Any = None,
        integer: bool = False,
    ) -> Any:
        """A tensor of `shape`: of the case's float type, away from kinks, all elements distinct.

        `low` and `high` bound the elements (of a complex tensor: their real parts); with
        `integer=True` they are integers from `low` up to but without `high`. `dtype` asks for that
        type whatever the case's own is.
        """
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        wanted = as_dtype(dtype)
        if integer or (wanted is not None and wanted.category == D.INT):
            array = self.rng.integers(0 if low is None else low, 6 if high is None else high, shape)
            return new_tensor(np.asarray(array).astype(T.to_raw(wanted or D.int64)))
        if wanted is D.bool_:
            flat = np.arange(int(np.prod(shape))) % 2 == 0
            return new_tensor(self.rng.permutation(flat).reshape(shape))
        if wanted is None:
            self.asked_default = True
            wanted = self.dtype
        array = self.reals(shape, low, high)
        if wanted.category == D.COMPLEX:
            reach = 1.2 if low is None and high is None else 0.3
            array = array + 1j * self.reals(shape, -reach, reach)
        return new_tensor(np.asarray(array.astype(T.to_raw(wanted))))

    def reals(self, shape: tuple[int, ...], low: float | None, high: float | None) -> Any:
        """Distinct numbers between the bounds: one in each of as many cells, in random order."""
        if low is None:
            low = -2.0 if high is None else high - 2.0
        if high is None:
            high = 2.0 if low == -2.0 else low + 2.0
        n = int(np.prod(shape))
        cells = self.rng.permutation(n) + self.rng.uniform(0.25, 0.75, n)
        values = low + (high - low) * cells / max(n, 1)
        for _ in range(2):
            near = np.round(values * 2) / 2
            close = np.abs(values - near) < MARGIN
            side = np.where(values < near, -1.0, 1.0)
            moved = near + side * (MARGIN + np.abs(values - near))
            other = near - side * (MARGIN + np.abs(values - near))
            inside = (moved > low) & (moved < high)
            values = np.where(close, np.where(inside, moved, other), values)
        return np.clip(values, low, high).reshape(shape)


def as_dtype(dtype: Any) -> D.dtype | None:
    """An element type from a type of ours, a name, a Python type, or None."""
    if dtype is None or isinstance(dtype, D.dtype):
        return dtype
    if isinstance(dtype, type) and dtype in PYTHON_TYPES:
        return PYTHON_TYPES[dtype]
    return D.BY_NAME[str(dtype).removesuffix("_")]


class Case:
    """One row, one sample, one dtype.

    `args` are in schema order, arrays in place of tensors. `places` says where the arrays are that
    have a gradient: (position, None), or (position, item) in a list.
    """

    def __init__(self, row: Row, label: str, name: str, dtype: D.dtype, args: list[Any]) -> None:
        self.row = row
        self.label = label
        self.dtype = dtype
        self.args = args
        self.id = f"{name}-{label}-{dtype.name}"
        self.places = list(differentiable(row, args))
        self.refused: list[tuple[int, int | None]] = []

    def with_args(self, args: list[Any]) -> Case:
        """The same case with other arrays."""
        other = Case(self.row, self.label, self.id, self.dtype, args)
        other.places = self.places
        other.__dict__["random"] = self.random
        return other

    def __repr__(self) -> str:
        return f"<{self.id}: {self.row.schema.text}>"

    # ---- calling ------------------------------------------------------------------------------

    def tensors(
        self, arrays: list[Any] | None = None, wants: Any = ()
    ) -> tuple[list[Any], list[Any]]:
        """Fresh arguments, and those of them that stand at `places`.

        `arrays` replace the sample's at the places; those whose number is in `wants` require grad.
        """
        full = [as_tensors(a) for a in self.args]
        inputs = []
        for k, (position, item) in enumerate(self.places):
            array = pick(self.args, (position, item)) if arrays is None else arrays[k]
            t = new_tensor(array)
            if k in wants:
                t.requires_grad_()
            if item is None:
                full[position] = t
            else:
                full[position][item] = t
            inputs.append(t)
        return full, inputs

    def call(self, arguments: list[Any]) -> list[Any]:
        """The results of the row as a list."""
        if self.random:
            rushlight.manual_seed(0)
        return listed(self.row(*arguments))

    def value(self, arrays: list[Any] | None = None) -> list[Any]:
        """The results as arrays, unrecorded."""
        return [out._raw for out in self.call(self.tensors(arrays)[0])]

    @property
    def arrays(self) -> list[Any]:
        """The arrays at the places."""
        return [pick(self.args, place) for place in self.places]

    @cached_property
    def everything(self) -> range:
        """The numbers of all places: all that can require grad does."""
        return range(len(self.places))

    @cached_property
    def random(self) -> bool:
        """Whether two calls differ, so that each must start from the same seed."""
        self.__dict__["random"] = False
        first, second = self.value(), self.value()
        return any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second))

    # ---- gradients ----------------------------------------------------------------------------

    def part_with_refused(self) -> None:
        """Takes from `places` those whose formula says that there is no derivative."""
        try:
            _ = self.differentiable and self.gradients
        except (NotImplementedError, RuntimeError):
            everything = self.places
            self.places = []
            for place in everything:
                alone = Case(self.row, self.label, self.id, self.dtype, self.args)
                alone.places = [place]
                try:
                    _ = alone.gradients
                except (NotImplementedError, RuntimeError) as error:
                    if "derivative for" not in str(error):
                        raise
                    self.refused.append(place)
                else:
                    self.places.append(place)
            for name in ("everything", "cotangents", "differentiable", "gradients"):
                self.__dict__.pop(name, None)
        except Exception:
            return  # the tests will say so

    @cached_property
    def result(self) -> list[Any]:
        """The value for the sample as it is."""
        return self.value()

    @cached_property
    def differentiable(self) -> bool:
        """Whether some result requires grad when the inputs do."""
        return bool(self.places) and bool(self.cotangents)

    @cached_property
    def cotangents(self) -> dict[int, Any]:
        """A random gradient for each result that requires one, by its number."""
        rng = np.random.default_rng(zlib.crc32(self.id.encode()))
        outs = self.call(self.tensors(wants=self.everything)[0])
        return {k: noise(rng, o._raw) for k, o in enumerate(outs) if o.requires_grad}

    @cached_property
    def gradients(self) -> list[Any]:
        """The gradients for `cotangents`, by the engine on arrays; zeros where there are none."""
        return self.vjp(self.arrays, self.cotangents)

    def vjp(
        self, arrays: list[Any], cotangents: dict[int, Any], wants: Any = None, traced: bool = False
    ) -> list[Any]:
        """The gradients at `arrays` (all, or those in `wants`) as arrays."""
        wants = self.everything if wants is None else wants
        arguments, inputs = self.tensors(arrays, wants)
        outs = self.call(arguments)
        found = autograd.grad(
            [outs[k] for k in cotangents],
            [inputs[k] for k in wants],
            [new_tensor(u) for u in cotangents.values()],
            create_graph=traced,
            allow_unused=True,
        )
        return [np.zeros_like(arrays[k]) if g is None else g._raw for k, g in zip(wants, found)]

    def directions(self, salt: int) -> list[Any]:
        """A random direction for each place."""
        rng = np.random.default_rng(zlib.crc32(self.id.encode()) + salt)
        return [of_its_form(noise(rng, a), a) for a in self.arrays]


def noise(rng: Any, like: Any) -> Any:
    """Random numbers of an array's shape and dtype, none of them small."""
    values = rng.uniform(0.3, 1.0, like.shape) * rng.choice([-1.0, 1.0], like.shape)
    if like.dtype.kind == "c":
        values = values * np.exp(1j * rng.uniform(0.0, 6.28, like.shape))
    return np.asarray(values).astype(like.dtype)


def of_its_form(direction: Any, like: Any) -> Any:
    """A direction that keeps a Hermitian argument Hermitian, a triangular one triangular.

    Operations that read one triangle give the gradient as if both had been read, as in PyTorch.
    """
    if like.ndim < 2 or like.shape[-1] != like.shape[-2] or not like.size:
        return direction
    adjoint = np.conj(like.swapaxes(-1, -2))
    if np.array_equal(adjoint, like):
        return (direction + np.conj(direction.swapaxes(-1, -2))) / 2
    for triangle in (np.tril, np.triu):
        if np.array_equal(triangle(like), like):
            return triangle(direction)
    return direction


def inner(a: Any, b: Any) -> float:
    """The real inner product of two arrays."""
    return float(np.sum(np.conj(a) * b).real) if a.size else 0.0


def listed(results: Any) -> list[Any]:
    """The results of a call as a list."""
    return list(results) if isinstance(results, (tuple, list)) else [results]


def as_tensors(arg: Any) -> Any:
    """An argument with tensors in place of arrays."""
    if isinstance(arg, np.ndarray):
        return new_tensor(arg)
    if isinstance(arg, list):
        return [as_tensors(a) for a in arg]
    return arg


def pick(args: list[Any], place: tuple[int, int | None]) -> Any:
    """What stands at a place among arguments."""
    position, item = place
    return args[position] if item is None else args[position][item]


def differentiable(row: Row, args: list[Any]) -> Iterator[tuple[int, int | None]]:
    """The places of arrays that have a formula and an element type with gradients.

    Gradients that are sparse tensors aren't compared here: tests/sparse does that.
    """
    if row.schema.name.startswith("_sparse_embedding"):
        return
    for position, p in enumerate(row.schema.params):
        if p.type != "Tensor":
            continue
        if row.joint is None and row.formulas.get(p.name) is None:
            continue
        found = args[position]
        items = enumerate(found) if isinstance(found, list) else [(None, found)]
        for item, array in items:
            if isinstance(array, np.ndarray) and not T.is_discrete(array.dtype):
                yield position, item


# ---- from rows to cases -----------------------------------------------------------------------


def row_name(row: Row) -> str:
    """The row's name and overload; rows that share them are told apart by their node's name."""
    s = row.schema
    name = f"{s.name}.{s.overload}" if s.overload else s.name
    same = [r for r in ROWS[s.name] if r.schema.overload == s.overload]
    if len(same) == 1:
        return name
    nodes = [r.op.node_class.__name__ for r in same]
    mine = row.op.node_class.__name__
    return f"{name}[{mine}]" if nodes.count(mine) == 1 else f"{name}[{same.index(row)}]"


def given_samples(row: Row, mk: Maker) -> list[Any]:
    """What the row's own samples are, or the default ones."""
    if row.samples is None:
        return default_samples(row, mk)
    return [s if isinstance(s, (tuple, list)) else (s,) for s in row.samples(mk)]


SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((3, 4), (3, 4), (3, 4)),
    ((3, 4), (4,), (3, 1)),
    ((3, 1), (1, 4), ()),
    ((), (3, 4), (4,)),
    ((), (), ()),
]


def default_samples(row: Row, mk: Maker) -> list[Any]:
    """A few shapes of random numbers for each tensor, and simple values for what has no default.

    Raises:
        LookupError: for an argument that can't be guessed.
    """
    params = row.schema.params
    several = sum(p.type == "Tensor" and not p.optional for p in params) > 1
    shapes = SHAPES if several and row.op.broadcasts else [SHAPES[0], SHAPES[-1]]
    if row.kind != "elementwise":
        shapes = [((3, 4),) * 3, ((2, 3, 2),) * 3]
    samples = []
    for sizes in shapes:
        args: list[Any] = []
        used = 0
        for p in params:
            if p.type == "Tensor" and p.default is REQUIRED and not p.optional:
                shape = sizes[used % 3]
                args.append([mk(*shape), mk(*shape)] if p.is_list else mk(*shape))
                used += 1
            else:
                args.append(default_argument(row, p))
        samples.append(args)
    return samples


def default_argument(row: Row, p: Parameter) -> Any:
    """The value of an argument that is no tensor: its default, or a number where one will do."""
    if p.default is not REQUIRED:
        return p.default
    if p.optional:
        return None
    if p.type in ("Scalar", "float") and not p.is_list:
        return 0.7
    if p.type == "bool" and not p.is_list:
        return False
    raise LookupError(
        f"no default sample for `{p.type} {p.name}`: "
        "give the row samples=lambda mk: [(mk(3, 4), …)]"
    )


def normalised(row: Row, sample: Any) -> list[Any]:
    """A sample as arguments in schema order: arrays for tensors, tuples for lists of ints.

    Raises:
        TypeError: for too many arguments, or too few.
    """
    params = row.schema.params
    if len(sample) > len(params):
        raise TypeError(f"the sample has {len(sample)} arguments, the schema {len(params)}")
    args = []
    for i, p in enumerate(params):
        if i >= len(sample):
            if p.default is REQUIRED:
                raise TypeError(f"the sample has no value for `{p.name}`")
            args.append(p.default)
            continue
        value = sample[i]
        if p.is_list and p.type == "Tensor":
            value = [raw_of(v) for v in value]
        elif p.is_list and p.type == "int" and value is not None:
            value = (value,) * (p.list_size or 1) if isinstance(value, int) else tuple(value)
        args.append(raw_of(value))
    return args


def raw_of(value: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return value._raw if isinstance(value, TensorBase) else value


def derived(row: Row, args: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Cases of an elementwise row made from a sample of it: 0-d, empty, broadcasting."""
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    if row.kind != "elementwise" or not arrays or any(isinstance(a, list) for a in args):
        return
    shape = arrays[0].shape
    if not shape or not arrays[0].size or any(a.shape != shape for a in arrays):
        return
    yield "0d", with_arrays(args, lambda k, a: np.array(a[(0,) * a.ndim]))
    yield "empty", with_arrays(args, lambda k, a: a[:0].copy())
    if row.op.broadcasts and len(arrays) > 1:
        yield "broadcast", with_arrays(args, lambda k, a: a[:1].copy() if k else a[..., :1].copy())


def with_arrays(args: list[Any], change: Callable[[int, Any], Any]) -> list[Any]:
    """The arguments with `change(k, array)` for the k-th array."""
    found = []
    k = 0
    for a in args:
        if isinstance(a, np.ndarray):
            found.append(change(k, a))
            k += 1
        else:
            found.append(a)
    return found


class Broken:
    """A row whose samples don't work, and why."""

    def __init__(self, row: Row, where: str, error: Exception) -> None:
        self.row = row
        self.message = (
            f"{row.schema.text}\n{where}: {type(error).__name__}: {error}\n"
            "samples=lambda mk: [(mk(3, 4), 1), …] gives positional arguments in schema order; "
            "mk(*shape, low=, high=, dtype=, integer=) makes tensors."
        )


BROKEN: dict[str, Broken] = {}


def cases_of(row: Row) -> list[Case]:
    """All cases of a row. A row that doesn't run on its samples is noted in `BROKEN`."""
    name = row_name(row)
    if row.dtypes == "none":  # changes what a tensor is, not what it holds
        return []
    if row.dtypes not in TYPES and row.dtypes not in D.BY_NAME:
        known = LookupError(f"neither one of {list(TYPES)} nor the name of a type")
        BROKEN[name] = Broken(row, f"dtypes={row.dtypes!r}", known)
        return []
    found: list[Case] = []
    types = TYPES.get(row.dtypes) or (D.BY_NAME[row.dtypes],)
    for number, dtype in enumerate(types):
        mk = Maker(zlib.crc32(row.schema.text.encode()), dtype)
        where = "its samples"
        try:
            samples = [normalised(row, s) for s in given_samples(row, mk)]
            if number and not mk.asked_default:
                break  # the samples are of types of their own
            if not samples:
                raise LookupError("there are none")
            labelled = [(str(i), s) for i, s in enumerate(samples)]
            if row.samples is not None:
                labelled += derived(row, samples[0])
            mine = []
            for label, args in labelled:
                where = f"sample {label} of {dtype.name}"
                case = Case(row, label, name, dtype, args)
                _ = case.random
                case.part_with_refused()
                mine.append(case)
            found += mine
        except Exception as error:
            # Rows don't say which of them take complex numbers: the call does. That it refuses
            # them where PyTorch does is compared in tests/compare/test_table.py.
            if dtype.category != D.COMPLEX or row.dtypes == "complex":
                BROKEN[name] = Broken(row, where, error)
                return []
    return found


def all_rows() -> list[Row]:
    """Every row, in order of declaration."""
    return [row for rows in ROWS.values() for row in rows]


CASES: list[Case] = [case for row in all_rows() for case in cases_of(row)]
