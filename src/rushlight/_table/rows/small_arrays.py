"""Which functions of a row have a short way for small arrays: forwards and gradients by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..._array import types
from ..._array.shape import as_strided, views
from ..._base.annotations import AnyCallable
from ..._core.op import CALL_G, CALL_G_SAVED, Op
from ..._native import ufunc_loops
from .formulas import parameters_of

if TYPE_CHECKING:
    from ..._base.schema import Schema

#: Types of arguments that are numbers.
_NUMBERS: Final = ("Scalar", "float", "int")
_BOOLS: Final = ("condition", "mask")
_MOST: Final = 8  # arguments
#: Gradients of sums, which `chains.c` knows: the kinds of arguments, and the step.
OF_SUMS: Final[dict[AnyCallable, tuple[str, str]]] = {}
#: Reductions and scans, which `reductions.c` knows, by module and name of the forward, and their
#: letters there.
REDUCTIONS: Final[dict[tuple[str, str], str]] = {
    (module, name): letter
    for module, letters in {
        "reduce.reduce": {
            "sum_all": "S", "sum": "S", "mean_all": "M", "mean": "M", "prod_all": "P",
            "prod": "P", "all": "A", "any": "O", "count_nonzero": "Z", "nansum": "s",
        },
        "reduce.extreme": {
            "largest": "T", "amax": "T", "argmax": "t", "smallest": "B", "amin": "B",
            "argmin": "b", "aminmax": "a",
        },
        "reduce.variance": {"var": "V", "std": "W", "var_and_mean": "U", "std_and_mean": "Q"},
        "reduce.norm": {"vector_norm": "N"},
        "reduce.scan": {"cumsum": "C", "cumprod": "D", "logcumsumexp": "G"},
        "shape.rearrange": {"trace": "E"}, "": {"logsumexp": "L"},
    }.items()
    for name, letter in letters.items()
}  # fmt: skip
#: The letters of their arguments, by name.
_OF_REDUCTIONS: Final = {
    "dim": "d", "keepdim": "k", "correction": "c", "ord": "2", "p": "2", "dtype": "n",
}  # fmt: skip
#: Views that `views.c` knows, with a letter for each argument.
VIEWS: Final[dict[AnyCallable, str]] = {
    views.view: "Vs", views.expand: "Es-", views.unsqueeze: "Ud", views.transpose: "Tdd",
    views.permute: "Ps", views.slice_: "Ldnnn", views.select: "Idk",
    views.alias: "A", views.part: "Bk", as_strided.diagonal: "Dkdd",
}  # fmt: skip
#: The same of pieces, by module and name of the forward.
PIECES: Final = {
    ("shape.concatenate", "split"): "Ssd", ("shape.concatenate", "unbind"): "Nd",
}  # fmt: skip
#: Functions that `products.c` knows, by module and name of the forward (generated ones have no
#: module): their kind, and the letters of the forward and of its gradients. See `short`.
KNOWN: Final[dict[tuple[str, str], tuple[str, tuple[str, ...]]]] = {
    ("linalg.matmul", "linear"): ("Product", ("aBc", "-ab", "-Ab", "-gs")),
    ("linalg.matmul", "mm"): ("Product", ("ab", "-aB", "-bA")),
    ("linalg.matmul", "addmm"): ("Product", ("cab11",)),
    ("linalg.matmul", "mv"): ("Product", ("av",)),
    ("linalg.matmul", "bmm"): ("Product", ("pq", "-pQ", "-qP")),
    ("linalg.matmul", "baddbmm"): ("Product", ("cpq11",)),
    ("nn.class_losses", "cross_entropy"): ("Entropy", ("xtri", "-gxtri")),
    ("", "softmax"): ("Softmax", ("sdn", "Sod")),
    ("", "log_softmax"): ("Softmax", ("ldn", "Lod")),
}
#: The same of look-ups by indices, which `places.c` knows, with a letter for each argument.
PLACES: Final = {
    ("shape.scatter", "gather"): "Gdif", ("shape.scatter", "index_select"): "Idi",
    ("shape.scatter", "scatter_add"): "Sdis", ("shape.scatter", "scatter"): "Tdis",
    ("shape.scatter", "index_add"): "Adis1",
    ("shape.gather", "one_hot"): "Hn", ("nn.embedding", "embedding"): "Wi---",
    ("shape.indexing", "nonzero"): "Z", ("shape.indexing", "index"): "Xi",
    ("nn.class_losses", "nll_loss"): "Ntnri",
}  # fmt: skip
#: The same of what order decides, which `orders.c` knows.
ORDERS: Final = {
    ("reduce.sort", "sort"): "sdf", ("reduce.sort", "sort_stable"): "s-df",
    ("reduce.sort", "argsort"): "adf", ("reduce.sort", "topk"): "kkdf-",
    ("reduce.sort", "kthvalue"): "qkdf", ("reduce.sort", "median_along"): "mdf",
    ("reduce.sort", "median"): "w",
    ("reduce.extreme", "max_along"): "Mdf", ("reduce.extreme", "min_along"): "Ndf",
    ("reduce.scan", "cummax"): "Cd", ("reduce.scan", "cummin"): "Dd",
    ("_table.reduce.sort", "_distinct"): "u-ff",
}  # fmt: skip
#: The same of copies, which `copies.c` knows.
COPIES: Final = {
    ("shape.rearrange", "flip"): "Fd", ("shape.rearrange", "rot90"): "Rkd",
    ("shape.rearrange", "roll"): "Msd", ("shape.rearrange", "tril"): "Lk",
    ("shape.rearrange", "triu"): "Uk", ("shape.rearrange", "repeat"): "Pr",
    ("shape.views", "clone"): "C", ("shape.views", "contiguous_copy"): "O",
    ("shape.concatenate", "cat"): "Jd", ("shape.concatenate", "stack"): "Sd",
    ("shape.rearrange", "constant_pad"): "Bpv", ("types", "convert_array"): "Vt",
    **{
        ("_table.nn.interpolation", f"{kind}{dims}d"): "Es" + "f" * dims
        for kind in ("upsample_nearest", "_upsample_nearest_exact")
        for dims in (1, 2, 3)
    },
}  # fmt: skip
#: The same of pooling, which `windows.c` knows; its functions are those of the table.
WINDOWS: Final = {
    ("_table.nn.pool", "avg_pool2d"): "Akspcid", ("_table.nn.pool", "max_pool2d"): "Xkspdc",
    ("_table.nn.conv", "_convolution"): "Cwbspdteg",
}  # fmt: skip
#: The same of norms, which `norms.c` knows.
NORMS: Final = {
    ("", "native_layer_norm"): "Lswbe", ("_table.nn.normalization", "_group_norm"): "Gwbge",
    ("_table.nn.normalization", "_batch_norm"): "Bwbmvtme",
    ("linalg.vector_products", "cdist"): "Dyp",
}  # fmt: skip
#: The same of factors, which `factors.c` knows.
FACTORS: Final = {
    ("linalg.linalg", "cholesky_ex"): "Cuc", ("_table.linalg.decompose", "_qr_checked"): "Qm",
    ("linalg.fft", "r2c"): "Fdno",
}  # fmt: skip
if ufunc_loops.COPIES is not None:
    ufunc_loops.COPIES.set_types(types._TO_RAW)
_ARRAYS: Final = views.__name__.partition(".shape")[0]


def add_chains(op: Op, schema: Schema, kind: str) -> None:
    """Puts a short way for small arrays in front of an operation's functions on arrays."""
    op.small, op.small_formulas = op.raw, op.formulas
    if op.is_view:
        letters = VIEWS.get(op.raw) or PIECES.get(_key_of(op.raw))
        if letters is not None:
            op.small = ufunc_loops.view(op.raw, letters)
        return
    if ufunc_loops.PRODUCTS is not None and _add_known(op):
        return
    for known, front in (
        (PLACES, ufunc_loops.places), (ORDERS, ufunc_loops.order), (COPIES, ufunc_loops.copy),
        (WINDOWS, ufunc_loops.pool), (NORMS, ufunc_loops.norm),
        (FACTORS, ufunc_loops.factor),
    ):  # fmt: skip
        letters = known.get(_key_of(op.raw), "")
        if letters:
            op.small = front(op.raw, letters)
            return
    letters = letters_of_reduction(op.raw, schema)
    if letters:
        op.small = ufunc_loops.reduction(op.raw, letters)
    if op.n_out != 1:
        return
    if ufunc_loops.FUNCTION is None:
        return
    if kind != "elementwise" and not op.broadcasts:
        op.small_formulas = tuple([_of_sum(formula) for formula in op.formulas])
        return
    kinds = "".join(_letter(p.name, schema) for p in schema.params)
    defaults = tuple(p.default for p in schema.params)
    op.small = _chain(op.raw, lambda: op.formula, kinds, defaults)
    found: list[AnyCallable] = list(op.formulas)
    for k, (formula, form) in enumerate(zip(op.formulas, op.forms, strict=True)):
        names = parameters_of(formula) if formula is not None else ("gs",)
        if form in (CALL_G, CALL_G_SAVED) or names[:1] in (("g",), ("xp",)):
            kinds = "".join(_letter(name, schema) for name in names)
            found[k] = _chain(formula, lambda f=formula: f, kinds)
    op.small_formulas = tuple(found)


def letters_of_reduction(function: AnyCallable, schema: Schema) -> str:
    """What `ufunc_loops.reduction` is told of a function; nothing where that doesn't know it."""
    letter = REDUCTIONS.get(_key_of(function), "")
    others = [_OF_REDUCTIONS.get(p.name, "") for p in schema.params[1:]]
    return "".join([letter, *others]) if letter and all(others) else ""


def _key_of(function: AnyCallable) -> tuple[str, str]:
    """The module and the name of a forward."""
    module = getattr(function, "__module__", None) or ""
    package = _ARRAYS.removesuffix("_array")
    module = module.removeprefix(f"{_ARRAYS}.").removeprefix(package)
    return module, getattr(function, "__name__", "")


def _add_known(op: Op) -> bool:
    """Puts what `products.c` knows in front of an operation's functions; whether it knows them."""
    key = _key_of(op.raw)
    if key not in KNOWN:
        return False
    kind, letters = KNOWN[key]
    if kind != "Product":
        from ..._array.nn.small_rows import BOUNDS

        ufunc_loops.set_bounds(*BOUNDS)
    op.small = ufunc_loops.short(kind, op.raw, letters[0])
    found = list(op.formulas)
    for k, letter in enumerate(letters[1:]):
        found[k] = ufunc_loops.short(kind, found[k], letter)
    op.small_formulas = tuple(found)
    return True


def _of_sum(function: AnyCallable) -> AnyCallable:
    kinds, step = OF_SUMS.get(function, ("", ""))
    if not step:
        return function
    from ..._array.elementwise.chains import of_sum

    return ufunc_loops.function(function, lambda: of_sum(kinds, step), kinds)


def _letter(name: str, schema: Schema) -> str:
    """The kind of a parameter, see `ufunc_loops.function`; "?" for one that has none."""
    if name == "xp":
        return "-"
    if name in _BOOLS:
        return "b"
    if name in ("g", "out") or any(name == result.name for result in schema.returns):
        return "f"
    place = schema.positions.get(name)
    if place is None:
        return "?"
    p = schema.params[place]
    if p.is_tensor and not p.is_list:
        return "f"
    if p.type not in _NUMBERS or p.is_list:
        return "?"
    return "o" if p.optional else "s"


def _chain(
    raw: AnyCallable, formula: AnyCallable, kinds: str, defaults: tuple[object, ...] = ()
) -> AnyCallable:
    if "?" in kinds or "f" not in kinds or len(kinds) > _MOST:
        return raw
    from ..._array.elementwise.chains import take_chains

    return take_chains(raw, formula, kinds, defaults)
