"""Functions on small arrays by the inner loops of NumPy's ufuncs, where a C compiler built them.

    f = function(plain, maker, "ff")      # `plain` itself where there is nothing that was compiled
    f(x, y)                               # the digits of `plain(x, y)`

A call of a ufunc takes 0.2 to 0.5 µs before its inner loop begins, and the loop over 16 elements a
few nanoseconds. `chains.c` calls the loops themselves: it looks at the operands, makes the result,
and goes through the steps of a formula, block by block, with temporaries on the stack. NumPy's
interface for C has all of that, so nothing is taken for granted that isn't documented. What isn't
a matter of small arrays of float32 or float64 (another class, type or order, memory that is not
aligned) goes to `plain`. One ufunc of two arrays that broadcast is done block by block, whatever
their sizes (`blocks.h`), and large ones by several threads.

`erf` and `erfc` are steps of the C library's, for as few elements as the plain functions have it.

`reductions.c` does the same for sums and the like over dimensions that lie side by side, and for
running sums, in the order in which `ufunc.reduce` adds up; what has more elements, and integers, it
folds by loops of its own, of `folds.h`.

`products.c` does it for products of small matrices by the loop of `matmul`, which calls
NumPy's BLAS, for the sums that are gradients of biases, and for the cross-entropy of few rows;
`sweeps.c` for updates of many arrays in place, as optimizers have them.

`lanes.c` reduces and scans along one dimension of dense arrays of any size, several lanes at once,
and finds ranks.

`calls.c` has what calls are looked up by, which takes longer than the loops otherwise, and what
stands before the functions that users call.

`places.c` copies the elements and the parts that indices name, of arrays of any numbers.

`orders.c` sorts short lanes, stably, with NaN last, and finds what order decides.

`copies.c` turns, rolls, repeats and joins arrays of any numbers.

`windows.c` pools windows of small planes; `norms.c` normalises by rows, groups and channels, with
sums by the loops of `matmul` and `vecdot`.

`factors.c` has factors of small matrices by the loops of NumPy's linear algebra.

`fresh.c` makes arrays of numbers, and counts and compares small ones; `draws.c` fills arrays with
random numbers.

`views.c` makes views of arrays of any size, which take nothing but arithmetic on strides.

`fields.c` says what tensors are asked about their arrays: shapes, whether they lie in order, and
where in whose memory (`_array.memory.places`).

Nobody looks at the processor's flags after the loops, so there are no warnings: see decision 23.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._base.lazy import load
from .. import prebuilt

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..._base.annotations import AnyCallable


def _module(name: str) -> ModuleType | None:
    """An extension module; None where the package was built without it, or for another NumPy."""
    if prebuilt.is_turned_off():
        return None
    try:
        return load(f"_native.ufunc_loops.{name}")
    except ImportError:
        return None


_chains: Final = _module("chains")
#: The class of functions with loops; None where there is none.
FUNCTION: Final[type | None] = None if _chains is None else _chains.Function
#: The extension module of products and losses, or None.
PRODUCTS: Final = _module("products")
#: The extension module of reductions, or None.
REDUCTIONS: Final = _module("reductions")
#: The extension module of views, or None.
VIEWS: Final = _module("views")
#: The extension module of what indices name, or None.
PLACES: Final = _module("places")
#: The extension module of what order decides, or None.
ORDERS: Final = _module("orders")
#: The extension module of copies, or None.
COPIES: Final = _module("copies")
#: The extension module of pooling, or None.
WINDOWS: Final = _module("windows")
#: The extension module of norms, or None.
NORMS: Final = _module("norms")
#: The extension module of factors of matrices, or None.
FACTORS: Final = _module("factors")
#: The extension module of small new arrays and of questions about them, or None.
FRESH: Final = _module("fresh")
#: The extension module of random numbers, or None.
DRAWS: Final = _module("draws")
#: The extension module of what tensors are asked, or None.
FIELDS: Final = _module("fields")
#: The extension module of updates in place, or None.
SWEEPS: Final = _module("sweeps")
#: Elements up to which the loops are called directly.
MOST: Final = 2048
#: Calls with small arrays before a function's steps are asked for, which takes what 100 calls save.
_WAITS: Final = 16


def function(
    plain: AnyCallable, maker: Callable[[], object], kinds: str, most: int = MOST
) -> AnyCallable:
    """`plain`, with small arrays taken by ufuncs' loops once it has been called a few times.

    `kinds` has a letter for each argument: "f" for arrays of floats, or numbers instead, "b" for
    arrays of bools, "s" for numbers, "o" for a number or None, "<>" for two bounds of which one may
    be None, "n" for None, "t" for tuples, "-" for what isn't looked at. `maker` gives the kinds
    anew and the steps, in the form that `read_chain` reads, or None. `most` is the elements that no
    chain goes beyond.
    """
    if FUNCTION is None:
        return plain
    made: AnyCallable = FUNCTION(plain, maker, kinds, _WAITS, most)
    return made


def set_pool(ask: Callable[[], tuple[int, int, int] | None]) -> None:
    """Sets who says, by addresses, what runs chunks, a state of its threads, and how many sleep."""
    if _chains is not None:
        _chains.set_pool(ask)


def _put_before(plain: AnyCallable, letters: str, module: object, kind: str) -> AnyCallable:
    """`plain`, with what a class of an extension module takes in front; itself without that."""
    if module is None:
        return plain
    made: AnyCallable = getattr(module, kind)(plain, letters)
    return made


def short(kind: str, plain: AnyCallable, letters: str) -> AnyCallable:
    """`plain`, with what `products.c` knows of small arrays in front; itself without that.

    Of each kind the letters say what the arguments are.

    - `"Product"`: "a" and "b" for the operands, "p" and "q" for stacks of matrices, in capitals
      where they stand transposed, "v" for a vector, "c" for a bias or None, "1" for numbers that
      must be one, "g" and "s" for an array whose columns are summed and the shape of the result,
      "-" for what isn't read.
    - `"Entropy"`: "xtri" for logits, targets, the reduction and the ignored class, "gxtri" for the
      gradient, maybe behind "-".
    - `"Softmax"`: "sdn" for softmax, "ldn" for its logarithm: an array, the dimension and None;
      "Sod" and "Lod" for their gradients: a gradient, the result, the dimension.
    """
    return _put_before(plain, letters, PRODUCTS, kind)


def reduction(plain: AnyCallable, letters: str) -> AnyCallable:
    """A reduction or a scan, with dense arrays of a few thousand elements done in C; see
    `reduce_array`."""
    return _put_before(plain, letters, REDUCTIONS, "Reduction")


def view(plain: AnyCallable, letters: str) -> AnyCallable:
    """A function that gives views, with those of numbers made in C; see `take_view`."""
    return _put_before(plain, letters, VIEWS, "View")


def places(plain: AnyCallable, letters: str) -> AnyCallable:
    """A look-up by indices, with small ones made in C; see `take_places`."""
    return _put_before(plain, letters, PLACES, "Places")


def order(plain: AnyCallable, letters: str) -> AnyCallable:
    """What order decides, with small dense arrays sorted in C; see `order_array`."""
    return _put_before(plain, letters, ORDERS, "Order")


def copy(plain: AnyCallable, letters: str) -> AnyCallable:
    """A copy in another arrangement, with small ones made in C; see `copy_array`."""
    return _put_before(plain, letters, COPIES, "Copy")


def pool(plain: AnyCallable, letters: str) -> AnyCallable:
    """Pooling, with small dense planes done in C; see `pool` there."""
    return _put_before(plain, letters, WINDOWS, "Pool")


def norm(plain: AnyCallable, letters: str) -> AnyCallable:
    """A normalisation, with small dense arrays done in C; see `normalise` there."""
    return _put_before(plain, letters, NORMS, "Norm")


def factor(plain: AnyCallable, letters: str) -> AnyCallable:
    """A factorisation, with small matrices done in C; see `take_factor` there."""
    return _put_before(plain, letters, FACTORS, "Factor")


def _in_order(t: object) -> bool:
    array = getattr(t, "_raw")  # noqa: B009
    return bool(array.flags.c_contiguous)


#: `in_order(tensor)`: whether a tensor's elements lie in order, without gaps.
in_order: Final[Callable[[object], bool]] = (
    _in_order if FIELDS is None else FIELDS.Field(_in_order, "C")
)


def set_bounds(least: float, most: float, sure: float) -> None:
    """Sets the least that the total of a row of exponentials may be, the most of all of them, and
    the least loss of a row in the mean. Nothing but products is taken before."""
    if PRODUCTS is not None:
        PRODUCTS.set_bounds(least, most, sure)


def _types_of(args: tuple[object, ...]) -> tuple[type, ...]:
    """The types of the items of a tuple."""
    return tuple(map(type, args))


def _sizes_of(given: tuple[object, ...]) -> tuple[int, ...] | None:
    """The sizes that arguments give one by one or as one sequence; None unless all are ints."""
    args: Any = given
    if not args:
        return None
    packed = len(args) == 1 and isinstance(args[0], (tuple, list))
    sizes: tuple[Any, ...] = tuple(args[0]) if packed else args
    for size in sizes:
        if type(size) is not int:
            return None
    return sizes


def _basic_key(items: tuple[object, ...]) -> tuple[object, ...] | None:
    """Ints, slices that go on, None and once `...` as a key, which ends with `...` where it has
    none; None where there are other items."""
    dots = False
    for item in items:
        if type(item) is slice:
            ends = item.start, item.stop, item.step
            if any(end is not None and type(end) is not int for end in ends):
                return None
            if item.step is not None and not 1 <= item.step < 1 << 63:
                return None
        elif item is Ellipsis and not dots:
            dots = True
        elif item is not None and type(item) is not int:
            return None
    return items if dots else (*items, ...)


basic_key: Final[Callable[[tuple[Any, ...]], tuple[Any, ...] | None]] = (
    _basic_key if VIEWS is None else VIEWS.basic_key
)


def _cannot_say(array: object, size: tuple[int, ...]) -> bool:
    return False


#: `has_shape(array, size)`: whether an array has another shape over the same memory, for sure.
has_shape: Final[Callable[[object, tuple[int, ...]], bool]] = (
    _cannot_say if VIEWS is None else VIEWS.has_shape
)
_CALLS: Final = _module("calls")
_LANES: Final = _module("lanes")
types_of: Final[Callable[[tuple[object, ...]], tuple[type, ...]]] = (
    _types_of if _CALLS is None else _CALLS.types_of
)
sizes_of: Final[Callable[[tuple[Any, ...]], tuple[int, ...] | None]] = (
    _sizes_of if _CALLS is None else _CALLS.sizes_of
)
#: `run_plan(plans, args, misfits)`: runs a call whose plan has all it takes by the types of the
#: arguments; `plans` itself where there is none. None without the extension module.
run_plan: Final[AnyCallable | None] = None if _CALLS is None else _CALLS.run_plan
#: The class of what takes a function's usual calls, see Note [Entries]; None where there is none.
ENTRY: Final[Any] = None if _CALLS is None else _CALLS.Entry


def _along(kind: str, x: object, dim: object, other: object = None) -> None:
    return None


#: `along(kind, array, dimension)`: what `lanes.c` has of that kind for a dense array of float32,
#: float64 or int64; None for what it leaves to others.
along: Final[AnyCallable] = _along if _LANES is None else _LANES.along


def _first_along(x: object, dim: object, count: object, largest: object) -> None:
    return None


#: `first_along(array, dimension, count, largest)`: the largest or smallest elements, in order, and
#: where they are, of equal ones the first; None for what it leaves to others.
first_along: Final[AnyCallable] = _first_along if _LANES is None else _LANES.first_along


def _rank_along(x: object, dim: object, rank: object, way: object) -> None:
    return None


#: `rank_along(array, dimension, rank, way)`: elements of a rank, and where a stable sort has them,
#: without the dimension. `way`: "l" for NaN last, "f" for the first NaN in its place, "i" for the
#: middle one of the others. None for what is left to others.
rank_along: Final[AnyCallable] = _rank_along if _LANES is None else _LANES.rank_along


def _change_nothing(out: object, dim: object, index: object, source: object) -> bool:
    return False


#: `add_at(out, dimension, index, source)`: adds parts at places in place; whether it did.
add_at: Final[Callable[[object, object, object, object], bool]] = (
    _change_nothing if PLACES is None else PLACES.add_at
)
#: `put_at(out, dimension, index, source)`: writes them, of which the last stays, or a number.
put_at: Final[Callable[[object, object, object, object], bool]] = (
    _change_nothing if PLACES is None else PLACES.put_at
)
#: `put_along(out, dimension, index, source)`: writes elements, or a number, where an index for each
#: names places, in place; whether it did.
put_along: Final[Callable[[object, object, object, object], bool]] = (
    _change_nothing if PLACES is None else PLACES.put_along
)


def _add_along(array: object, dim: object, index: object, source: object) -> None:
    return None


#: `add_along(array, dimension, index, source)`: a copy with elements added where an index for each
#: names places; None for what is left to others.
add_along: Final[AnyCallable] = _add_along if PLACES is None else PLACES.add_along
