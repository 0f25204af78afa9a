"""Random sampling: tensors of random numbers, and filling tensors with them in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._array import types as T
from ..._array.shape import create as raw_create
from ..._base import dtypes as D, errors
from ..._base.device import DEFAULTS, on_meta
from ..._base.lazy import later
from ..._core.apply import apply_n
from ..._core.mode import current
from ..._core.slow import read_by_python
from ..._core.storage import TensorBase, bump, new_tensor
from ..._native.ufunc_loops import sizes_of
from ..calls import dtype_checks as _checks
from ..calls.argument_parser import is_number_tensor
from ..calls.call_errors import combination
from ..rows import meta as _meta
from ..rows.composite import POSITIONAL, composite
from ..rows.result_strides import array_like, empty_on_meta_like
from ..rows.row import Row, general
from ..shape.create import deliver, dtype_or_default, finish, is_usual, size_of, type_for
from .fill import refill, refill_at_once, refill_between, refuse_leaf
from .generator import Generator, default_generator, stream_of

if TYPE_CHECKING:
    from types import ModuleType

    from ..._base.annotations import AnyCallable, Keywords, Positional, Shape, TensorLike
    from ..._tensor.tensor import Tensor

discrete = later("_array.random.discrete")
distributions = later("_array.random.distributions")


def _refuse_integers(name: str, array: Any) -> None:
    """Refuses to draw integers.

    Raises:
        NotImplementedError: in the name of PyTorch's kernel, which for normal numbers isn't called
            where there is nothing to draw.
    """
    if array.dtype.kind in "biu" and (array.size or name == "check_uniform_bounds"):
        kind = D.scalar_name(T.from_raw(array.dtype))
        raise NotImplementedError(errors.not_implemented(name, kind))


def _check_generator(name: str, size: tuple[object, ...], generator: Generator | None) -> None:
    if generator is None or isinstance(generator, Generator):
        return
    given = ", ".join([type(n).__name__ for n in size] + [f"generator={type(generator).__name__}"])
    rest = (
        "Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, "
        "torch.device device = None, bool pin_memory = False, bool requires_grad = False)"
    )
    raise TypeError(
        f"{name}() received an invalid combination of arguments - got ({given}), but expected one "
        f"of:\n * (tuple of ints size, *, torch.Generator generator, {rest}\n * (tuple of "
        f"ints size, *, {rest}\n"
    )


def _like_dtype(input: Tensor, dtype: Any) -> D.dtype:
    return T.from_raw(input._raw.dtype) if dtype is None else dtype_or_default(dtype)


def _declare(name: str, kernel: str, again: Any, doc: str) -> None:
    """The functions `name(*sizes)` and `name_like(input)`.

    `kernel` is PyTorch's, which refuses integers; `again(out, shape)` says whether PyTorch writes
    `out` twice.
    """
    uniform, letter = name == "rand", "U" if name == "rand" else "N"

    def fresh(
        *sizes: Any, size: Any = None, generator: Any = None, out: Any = None, dtype: Any = None,
        layout: object = None, device: Any = None, requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Any:  # fmt: skip
        if size is not None:
            sizes = (*sizes, size)
        nowhere = on_meta(device, out)
        _check_generator(name, sizes, generator)
        found = dtype_or_default(type_for(out, dtype))
        shape = size_of(name, sizes, out)
        if nowhere and out is None:
            return _meta.empty_meta(shape, found, requires_grad)
        if found.category < D.FLOAT:
            array = raw_create.empty(shape, found)
            _refuse_integers(kernel, array)
        else:
            draw = distributions.rand if uniform else distributions.randn
            array = draw(stream_of(generator), shape, T.to_raw(found))
        if out is not None and (generator is not None or again(out, shape)):
            bump(out)
        return deliver(array, out, requires_grad)

    def like(
        input: Tensor, *, dtype: Any = None, layout: object = None, device: Any = None,
        requires_grad: bool = False, memory_format: Any = None, generator: Any = None,
    ) -> Any:  # fmt: skip
        found = _like_dtype(input, dtype)
        if _meta.beside(input, device):
            return empty_on_meta_like(input, found, memory_format, requires_grad)
        array = array_like(input, found, None, memory_format)
        _refuse_integers(kernel, array)
        fill = distributions.uniform_ if uniform else distributions.normal_
        if array.size:
            fill(stream_of(generator), array)
        return finish(array, requires_grad)

    def fresh_plainly(*sizes: object) -> object:
        shape = sizes_of(sizes)
        if shape and is_usual() and not current().slow:
            stream = default_generator._stream or default_generator.stream
            few = stream.draw(letter, shape)
            if few is not None:
                return new_tensor(few)
        return fresh(*sizes)

    def like_plainly(*args: Any) -> object:
        if len(args) == 1 and isinstance(args[0], TensorBase) and args[0]._plain:
            few = None if current().slow else default_generator.stream.draw(letter, args[0]._raw)
            if few is not None:
                return new_tensor(few)
        return like(*args)

    POSITIONAL[fresh], POSITIONAL[like] = fresh_plainly, like_plainly
    for function, shown, end in (
        (fresh, name, "."), (like, f"{name}_like", ", shaped, typed and laid out like `input`.")
    ):  # fmt: skip
        function.__name__ = function.__qualname__ = shown
        function.__doc__ = doc + end
        composite(name=shown)(function)


_declare("rand", "check_uniform_bounds", lambda out, shape: False, "Uniform numbers in [0, 1)")
_declare(
    "randn", "normal_kernel_cpu", lambda out, shape: out._raw.shape != shape,
    "Normal numbers with mean 0 and variance 1",
)  # fmt: skip


def _bounds(name: str, args: Positional, kwargs: Keywords) -> tuple[int, int, list[Any]]:
    """(low, high) and what follows, from `(high, …)` or `(low, high, …)`."""
    rest = list(args)
    if "high" in kwargs:
        high = kwargs.pop("high")
        low = kwargs.pop("low", None)
        if low is None:
            low = rest.pop(0) if rest and isinstance(rest[0], int) else 0
    elif (
        len(rest) >= 2 and isinstance(rest[1], (int, TensorBase)) and not isinstance(rest[1], bool)
    ):
        low, high = int(rest.pop(0)), int(rest.pop(0))
    else:
        low, high = 0, int(rest.pop(0))
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    return int(low), int(high), rest


@composite()
def randint(
    *args: Any, generator: Any = None, out: Any = None, dtype: Any = None, layout: object = None,
    device: str | None = None, requires_grad: bool = False, pin_memory: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """Whole numbers from `low` (0) to below `high`: `randint(low=0, high, size)`; int64 by default.

    Raises:
        RuntimeError: where `low` isn't below `high`.
    """
    nowhere = on_meta(device, out)
    low, high, rest = _bounds("randint", args, kwargs)
    size = kwargs.pop("size") if "size" in kwargs else rest[0]
    dtype = type_for(out, dtype)
    found = D.int64 if dtype is None else dtype_or_default(dtype)
    if nowhere and out is None:
        return _meta.empty_meta(size_of("randint", (size,)), found, requires_grad)
    array = discrete.randint(
        stream_of(generator), low, high, size_of("randint", (size,), out), T.to_raw(found)
    )
    return deliver(array, out, requires_grad)


def _randint_plainly(*args: Any) -> object:
    low, high, shape = (0, *args) if len(args) == 2 else args if len(args) == 3 else (0, 0, None)
    if type(shape) is tuple and type(low) is type(high) is int and not DEFAULTS.changed:
        few = stream_of(None).draw("I", shape, low, high - low)
        return randint(*args) if few is None else finish(few, False)
    return randint(*args)


POSITIONAL[randint] = _randint_plainly


@composite()
def randint_like(input: Tensor, *args: Any, dtype: Any = None, layout: object = None,
                 device: Any = None, requires_grad: bool = False, memory_format: Any = None,
                 **kwargs: Any) -> Any:  # fmt: skip
    """Whole numbers from `low` (0) to below `high`, shaped and typed like `input`."""
    bound = args[0] if len(args) == 1 else kwargs.get("high")
    if isinstance(bound, TensorBase) and bound._raw.ndim:
        raise RuntimeError("high must be a scalar tensor and on CPU")
    low, high, _ = _bounds("randint_like", args, kwargs)
    raw = T.to_raw(_like_dtype(input, dtype))
    if _meta.beside(input, device):
        return empty_on_meta_like(input, T.from_raw(raw), memory_format, requires_grad)
    array = array_like(input, T.from_raw(raw), None, memory_format)
    generator = kwargs.get("generator")
    raw_create.in_memory_order(array)[...] = discrete.randint(
        stream_of(generator), low, high, (array.size,), raw
    )
    return finish(array, requires_grad)


@composite()
def randperm(
    n: int, *, generator: Any = None, out: Any = None, dtype: Any = None, layout: object = None,
    device: str | None = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """The numbers from 0 to n - 1 in random order.

    Raises:
        RuntimeError: for a negative n.
    """
    nowhere = on_meta(device, out)
    if n < 0 and out is not None:
        raise RuntimeError(f"n must be non-negative, got{n}")
    if n < 0:
        raise RuntimeError(errors.negative_dimension([n]))
    dtype = type_for(out, dtype)
    found = D.int64 if dtype is None else dtype_or_default(dtype)
    if nowhere and out is None:
        return _meta.empty_meta((n,), found, requires_grad)
    array = discrete.randperm(stream_of(generator), n, T.to_raw(found))
    return deliver(array, out, requires_grad)


def _permute_plainly(*args: Any) -> Any:
    if len(args) == 1 and type(args[0]) is int and not DEFAULTS.changed:
        few = stream_of(None).draw("P", args[0])
        if few is not None:
            return finish(few, False)
    return randperm(*args)


POSITIONAL[randperm] = _permute_plainly


def _as_number(value: float, given: tuple[object, ...]) -> float:
    """A parameter beside a size: a number, or a tensor that is one.

    Raises:
        TypeError: for tensors of several numbers, and for those that need a gradient.
    """
    if not isinstance(value, TensorBase):
        return value
    if not is_number_tensor(value):
        raise combination("normal", given, {})
    return read_by_python(value, "normal()").item()


@composite()
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: object = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Normal numbers with the given means and standard deviations (numbers or tensors).

    Raises:
        RuntimeError: for a negative standard deviation.
    """
    stream = stream_of(generator)
    if size is not None:
        mean, std = _as_number(mean, (mean, std, size)), _as_number(std, (mean, std, size))
    if not isinstance(mean, TensorBase) and not isinstance(std, TensorBase):
        shape, found = size_of("normal", (size,), out), dtype_or_default(type_for(out, dtype))
        _check_std(std)
        if out is not None and out.requires_grad and current().grad:
            raise RuntimeError(errors.out_requires_grad("aten::normal"))
        if on_meta(device, out) and out is None:
            return _meta.empty_meta(shape, found, requires_grad)
        array = raw_create.empty(shape, found)
        distributions.normal_(stream, array, float(mean), float(std))
        return deliver(array, out, requires_grad)
    if isinstance(std, TensorBase):
        if std._raw.size and bool((std._raw < 0).any()):
            raise RuntimeError("normal expects all elements of std >= 0.0")
        if isinstance(mean, TensorBase) and not (mean._raw.size and std._raw.size):
            kinds = T.dtype_of(std), T.dtype_of(mean)
            if not D.can_cast(*kinds):
                raise RuntimeError(errors.cannot_cast(*map(D.scalar_name, kinds)))
        if isinstance(mean, TensorBase):
            mismatch = errors.broadcast(mean._raw.shape, std._raw.shape)
            if mismatch is not None:
                raise RuntimeError(mismatch)
    else:
        _check_std(std)
    is_complex = isinstance(std, TensorBase) and std._raw.dtype.kind == "c"  # refused below
    if out is not None and isinstance(mean, TensorBase) and not is_complex:
        kinds = T.dtype_of(mean), T.dtype_of(out)
        if kinds[1].is_floating_point and not D.can_cast(*kinds):
            raise RuntimeError(errors.cannot_cast(*map(D.scalar_name, kinds)))
    array = distributions.normal(
        stream,
        mean._raw if isinstance(mean, TensorBase) else float(mean),
        std._raw if isinstance(std, TensorBase) else float(std),
        None if out is None else out._raw.dtype,
    )
    if out is not None:
        if current().grad and any(
            isinstance(t, TensorBase) and t._requires_grad for t in (mean, std, out)
        ):
            raise RuntimeError(errors.out_requires_grad("normal"))
        return deliver(array, out, None)
    if not isinstance(std, TensorBase):
        return apply_n(_around_mean.op, [mean, finish(array, False)])
    if not isinstance(mean, TensorBase):
        return apply_n(_around_number.op, [std, finish(array, False)])
    return apply_n(_around_both.op, [mean, std, finish(array, False)])


def _no_slope(xp: ModuleType, g: TensorLike, self_shape: Shape) -> TensorLike:
    """Zeros: random numbers don't move with what they were drawn from."""
    return xp.zeros(self_shape, g.dtype)


def _attach_draws(name: str, node: str, slope: AnyCallable = _no_slope) -> Row:
    """The row which hangs numbers that are drawn already onto the graph of their parameter."""
    return general(
        f"{name}(Tensor self, Tensor drawn) -> Tensor",
        lambda x, drawn: drawn.copy(),
        self=slope,
        node=node,
        public=False,
        out=False,
        samples=lambda mk: [(mk(3), mk(3))],
        doc="Numbers drawn with a parameter, whose gradient is zero.",
    )


_around_mean = _attach_draws("_normal_mean", "NormalBackward1")
_around_number = _attach_draws("_normal_std", "NormalBackward2")
_around_both = general(
    "_normal_both(Tensor self, Tensor std, Tensor drawn) -> Tensor",
    lambda x, std, drawn: drawn.copy(),
    self=_no_slope,
    std=lambda xp, g, std_shape: xp.zeros(std_shape, g.dtype),
    node="NormalBackward3",
    public=False,
    out=False,
    samples=lambda mk: [(mk(3), mk(3), mk(3))],
    doc="Normal numbers with means and standard deviations, whose gradients are zero.",
)
_coins = _attach_draws("_bernoulli", "BernoulliBackward0")
_alike_coins = _attach_draws(
    "_bernoulli_number", "NotImplemented", _checks.no_derivative("bernoulli")
)


def _check_std(std: float) -> None:
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {float(std):g}")


@composite("", method=True)
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None,
              out: Tensor | None = None) -> Tensor:  # fmt: skip
    """Ones with the probabilities in `input` (or `p`), else zeros.

    Raises:
        RuntimeError: for a probability outside [0, 1].
    """
    if out is not None:
        if current().grad and (input.requires_grad or out.requires_grad):
            raise RuntimeError(errors.out_requires_grad("bernoulli"))
        T.refuse_overlap(out._raw)
    kind = (input if out is None else out)._raw.dtype
    made = raw_create.like(input._raw, T.from_raw(kind), None, True)
    if p is None:
        discrete.bernoulli_tensor_(stream_of(generator), made, input._raw)
    else:
        discrete.bernoulli_(stream_of(generator), made, float(p))
    if out is not None:
        return deliver(made, out, None)
    row = _coins if p is None else _alike_coins
    return apply_n(row.op, [input, finish(made, False)])


@composite("", method=True)
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *,
                generator: Generator | None = None,
                out: Tensor | None = None) -> Tensor:  # fmt: skip
    """Indices drawn by weight, from each row.

    Raises:
        RuntimeError: for weights that are negative or all zero, or more samples than there are.
    """
    weights = input._raw
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if weights.dtype.kind not in "fV":
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            + D.scalar_name(T.from_raw(weights.dtype))
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if weights.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if out is not None and out.dtype is not D.int64:
        raise RuntimeError("multinomial expects Long tensor out, got: " + D.scalar_name(out.dtype))
    if not bool(((weights >= 0) & (weights < float("inf"))).all()):
        raise RuntimeError(discrete.tell_bad_weight(weights, replacement))
    if not bool((weights.sum(-1) > 0).all()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    return deliver(
        discrete.multinomial(stream_of(generator), weights, num_samples, replacement), out, False
    )


# ---- in place ---------------------------------------------------------------------------------


@composite("private", method=True)
def uniform_(self: Tensor, from_: float = 0.0, to: float = 1.0, *,
             generator: Generator | None = None, **kwargs: Any) -> Tensor:  # fmt: skip
    """Fills with uniform numbers in [from, to).

    Raises:
        RuntimeError: where `from` is above `to`.
    """
    low, high = float(kwargs.pop("from", from_)), float(to)
    if refill_at_once(self, generator, "u", low, high):
        return self
    refuse_leaf(self)
    _refuse_integers("check_uniform_bounds", self._raw)
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    return refill(
        self,
        "UniformBackward0",
        lambda a: distributions.uniform_(stream_of(generator), a, low, high),
    )


@composite("private", method=True)
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fills with normal numbers.

    Raises:
        RuntimeError: for a negative standard deviation.
    """
    if refill_at_once(self, generator, "n", float(mean), float(std)):
        return self
    refuse_leaf(self)
    _check_std(std)
    _refuse_integers("normal_kernel_cpu", self._raw)
    return refill(
        self,
        "NormalBackward0",
        lambda a: distributions.normal_(stream_of(generator), a, float(mean), float(std)),
    )


@composite("private", method=True)
def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *,
               generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fills with ones with probability `p` (a number, or a tensor that broadcasts), else zeros.

    Raises:
        RuntimeError: for a probability outside [0, 1].
    """
    refuse_leaf(self)
    if isinstance(p, TensorBase):
        return refill(
            self,
            "BernoulliBackward1",
            lambda a, chances: discrete.bernoulli_tensor_(stream_of(generator), a, chances),
            p,
            edges=2,
        )
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={float(p):g}")
    return refill(
        self, "BernoulliBackward2", lambda a: discrete.bernoulli_(stream_of(generator), a, float(p))
    )


@composite("private", method=True)
def random_(
    self: Tensor, *args: object, generator: Generator | None = None, **kwargs: Any
) -> Tensor:
    """Fills with whole numbers of the type's range, below `to`, or from `from` to below `to`.

    Raises:
        RuntimeError: where `from` isn't below `to`.
    """
    bounded = len(args) + len(kwargs) == 2
    low = kwargs.get("from", args[0] if bounded and args else 0)
    high = kwargs.get("to", args[-1] if args else None)
    if refill_between(self, generator, low, high):
        return self
    refuse_leaf(self)
    if not args and not kwargs:
        return refill(self, "RandomBackward2", lambda a: discrete.random_(stream_of(generator), a))
    if high is not None and low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    name = "RandomBackward0" if bounded else "RandomBackward1"
    return refill(self, name, lambda a: discrete.random_from_(stream_of(generator), a, low, high))


@composite("private", method=True)
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fills with exponentially distributed numbers of the given rate.

    Raises:
        RuntimeError: for a rate that isn't positive.
    """
    refuse_leaf(self)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={float(lambd):g}")
    return refill(
        self,
        "ExponentialBackward0",
        lambda a: distributions.exponential_(stream_of(generator), a, float(lambd)),
    )


@composite("private", method=True)
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *,
            generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fills with Cauchy-distributed numbers.

    Raises:
        RuntimeError: for a scale that isn't positive, and for what holds no floats.
    """
    refuse_leaf(self)
    distributions.check_cauchy(self._raw, float(sigma))
    return refill(
        self,
        "CauchyBackward0",
        lambda a: distributions.cauchy_(stream_of(generator), a, float(median), float(sigma)),
    )


@composite("private", method=True)
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *,
                generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fills with numbers whose logarithms are normal.

    Raises:
        RuntimeError: for a standard deviation that isn't positive.
    """
    refuse_leaf(self)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={float(std):g}")
    return refill(
        self,
        "LogNormalBackward0",
        lambda a: distributions.log_normal_(stream_of(generator), a, float(mean), float(std)),
    )


@composite("private", method=True)
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fills with numbers of trials up to the first success.

    Raises:
        RuntimeError: for a probability outside (0, 1).
    """
    refuse_leaf(self)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={float(p):g}")
    return refill(
        self, "GeometricBackward0", lambda a: discrete.geometric_(stream_of(generator), a, float(p))
    )
