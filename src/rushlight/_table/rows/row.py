"""Rows: how an operation is declared, and what is derived from its declaration.

    mul = elementwise(
        "mul.Tensor(Tensor self, Tensor other) -> Tensor", raw.multiply,
        self=lambda g, other: g * other,
        other=lambda g, self: g * self,
        doc="Multiplies `input` by `other`, elementwise, with broadcasting.",
    )

A formula's parameter names say what it reads: `g` (the gradient of the output; `g0`, `g1`… by
output, `gs` for all, None where undefined), `xp` (the namespace), any schema argument (a tensor:
saved), `out` (or the output's name in the schema), `<arg>_shape`, `<arg>_dtype`, and `need` in
joint formulas. Formulas are linear in `g`, use operators, Python numbers and `xp` only, and run on
arrays and on Tensors alike.

A `formula(...)` is one in the vocabulary of `_formula.words`: a raw forward, or a gradient, that is
told for arrays, Tensors, kernels and compiled steps at once. `formula=` beside a raw forward tells
what it computes to all but arrays. A gradient that arrays compute by a kernel of their own is
`record_gradient(...)`, or a call of the row that computes it: see `gradient_kernels`.

The kind says the rest:
    elementwise   out[i] depends on operands' [i] only: broadcasting, conjugation, promotion, jvp,
                  vmap
    linear        linear in its tensor arguments: its jvp is the operation itself
    multilinear   linear in each tensor argument
    selection     every element of the output is an element of an argument
    general       anything else
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..._base.lazy import LOCK, Function, Pending
from ..._base.schema import Schema, parse
from ..._core.apply import apply_n
from ..._core.node import GENERAL, Node
from ..._core.op import (
    PROMOTE_FLOAT,
    PROMOTE_NONE,
    PROMOTE_SAME,
    SHARED_FIRST,
    SHARED_LAST,
    SHARED_NEVER,
    SHARED_PARTLY,
    Op,
)
from ..._core.storage import TensorBase
from . import node_classes as _nodes, return_type_classes as _return_types, small_arrays
from .formulas import check_formulas, generate_functions, lay_out
from .out_rules import AS_MOST, OutRules

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments, Keywords
    from ..._tensor.tensor import Tensor

PROMOTIONS: Final = {"none": PROMOTE_NONE, "same": PROMOTE_SAME, "float": PROMOTE_FLOAT}
SHARED: Final = {"partly": SHARED_PARTLY, "never": SHARED_NEVER, "first": SHARED_FIRST,
                 "last": SHARED_LAST}  # fmt: skip

#: What `ordered` may be, see `Op.ordered`.
_ORDERED: Final = {"first": 1, "last": -1, "": 0}


class Row:
    """One declared overload of an operation. See Note [Rows settle late]."""

    __slots__ = (
        "text", "name", "overload", "node", "raw", "declared", "overloads",
        "kind", "doc", "samples", "formula", "formulas", "joint", "jvp", "batch", "ref",
        "namespace", "inplace", "method", "public", "dtypes", "numbers", "shaped_by_values",
        "wide", "copies", "shared", "expanded", "into", "names_c_type", "gives_bool", "real_only",
        "by_element", "vmap_write", "refuses_values", "lowering", "unit", "given_numbers",
        "explain", "out_rules", "delivers", "without_data", "beside_data", "narrow", "kernel",
        "schema", "op", "simple_op", "simple_defaults", "out",
    )  # fmt: skip

    text: str
    name: str
    overload: str
    node: str  # the name of its node class
    raw: Any
    declared: Any  # what settles the row; None once it is settled
    overloads: list[Row]  # all rows of the name, this one included
    kind: str
    doc: str
    samples: Any
    formula: Any  # what the raw forward computes, in the vocabulary
    formulas: dict[str, Any]
    joint: Any
    jvp: Any
    batch: Any
    ref: Any
    namespace: tuple[str, ...]
    inplace: bool
    method: bool
    public: bool
    dtypes: str
    numbers: bool | str  # takes Python numbers for its later tensors ("first": for all)
    shaped_by_values: Callable[[list[Any]], bool]  # of arguments, see `declare`
    wide: bool  # these five: see `declare`, and `Op`
    copies: bool
    shared: int
    expanded: Any
    into: Any
    names_c_type: bool
    gives_bool: bool
    real_only: bool | str
    by_element: bool
    vmap_write: str
    refuses_values: str
    lowering: str
    unit: str
    given_numbers: bool
    out_rules: OutRules
    delivers: tuple[str, ...]
    without_data: str
    beside_data: str  # these two: see `meta`
    explain: Callable[[Arguments, bool], Exception | None] | None
    narrow: str | Callable[[Any], str]  # these two, in a name's first row, see `narrow_types`
    kernel: str | Callable[[Any], str]
    # What settling finds:
    schema: Schema
    op: Op
    simple_op: Op | None
    simple_defaults: tuple[Any, ...]
    out: bool

    def __repr__(self) -> str:
        return f"<row {self.schema.text}>"

    def __call__(self, *args: object) -> Any:
        """The operation on positional arguments; missing ones get their defaults."""
        op = self.op
        return apply_n(op, [*args, *op.defaults[len(args) :]])


# Note [Rows settle late]
# A program calls a few dozen of the table's hundreds of operations. So `declare` keeps what it is
# given and does no more than others need to know of a row that isn't used: its name, its overload,
# the name of its node class (they are numbered in order of declaration). A row begins as an
# `Unsettled` one, whose other attributes aren't set; whoever asks for one of these runs
# `__getattr__`, which settles all overloads of the name, with their public function, and turns them
# into plain `Row`s. From then on they have no `__getattr__` any more, which costs every look at an
# attribute, found or not.
_LATE: Final = ("schema", "simple_defaults", "out", "simple_op", "op")  # `op` is shown last


class Unsettled(Row):
    """A row that nobody has asked for its operation."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Schema | Op | None:
        if name not in _LATE:
            raise AttributeError(f"'Row' object has no attribute {name!r}")
        with LOCK:
            if type(self) is Unsettled and type(self.declared) is Declared:
                settle(self)
            # Making the public function of the name asks rows that aren't shown as settled yet.
            return getattr(self.declared if type(self) is Unsettled else self, name)


def settle(row: Row) -> None:
    """Lays out a row's operation; the first time, with all overloads and the public function.

    Raises:
        ValueError: for a schema that is none, a formula of an unknown argument, or one that asks
            for an unknown name.
    """
    with LOCK:
        rows = [r for r in row.overloads if type(r.declared) is Declared]
        rows = rows if TABLE.function_of is not None else [row]
        found = [_make_twin(r) for r in rows]
        try:
            for r, twin in zip(rows, found):
                r.declared = twin
            known = [r.op.function for r in row.overloads if r not in rows]
            for twin in found:
                twin.op.function = known[0] if known else None
            if not known and TABLE.function_of is not None:
                TABLE.function_of(row.name, row.overloads)
        except BaseException:
            for r, twin in zip(rows, found):
                r.declared = twin.declared
            raise
        for r, twin in zip(rows, found):
            for then in twin.declared.then:
                then(twin)
            for name in _LATE:
                setattr(r, name, getattr(twin, name))
            r.__class__ = Row
            r.declared = None


def when_settled(row: Row, then: Callable[[Row], None]) -> None:
    """Calls `then(row)` as soon as the row is settled, before anybody else sees its operation.

    For the module that declares the row: nobody else has it yet. See Note [Rows are loaded late].
    """
    if type(row) is Row:
        then(row)
    else:
        row.declared.then.append(then)


def set_write_node(row: Row, by_tensor: Row | None, by_number: Row | None = None) -> None:
    """Says which row's node a write in place of `row` leaves, where it isn't the row's own.

    `by_number` is for a second operand that is no tensor. Without any, a write is no matter of
    gradients: it leaves no node, and leaves may be written.
    """

    def choose(args: list[Tensor]) -> Op | None:
        if by_tensor is None:
            return None
        if by_number is not None and not isinstance(args[1], TensorBase):
            return by_number.op
        return by_tensor.op

    def note(settled: Row) -> None:
        settled.op.written = choose
        if settled.simple_op is not None:
            settled.simple_op.written = choose

    when_settled(row, note)


class Table:
    """What settles the public side of a name: `ops/__init__` sets it once the table is whole."""

    __slots__ = ("function_of",)

    def __init__(self) -> None:
        self.function_of: Callable[[str, list[Row]], Any] | None = None


TABLE: Final = Table()
DECLARED: Final[dict[str, list[Row]]] = {}  # by operation name, overloads in order of declaration
ROWS: Final[Pending[str]] = Pending()  # the same of all modules, which it loads


def declare(
    kind: str,
    schema_text: str,
    raw: AnyCallable,
    *,
    doc: str = "",
    samples: AnyCallable | None = None,
    formula: AnyCallable | None = None,
    ref: object = None,
    joint: AnyCallable | None = None,
    jvp: AnyCallable | None = None,
    batch: object = None,
    promote: str | None = None,
    promote_at: tuple[str, ...] | None = None,
    broadcasts: bool | None = None,
    ordered: str = "first",
    holomorphic: bool | None = None,
    node: str | None = None,
    inplace: bool | None = None,
    method: bool | None = None,
    public: bool = True,
    namespace: tuple[str, ...] | str = ("",),
    out: bool | None = None,
    at_defaults: Keywords | None = None,
    differentiable_out: tuple[bool, ...] = (),
    saved_as: dict[str, str | None] | None = None,
    node_shows: _nodes.Shows | None = None,
    dtypes: str = "all",
    check: AnyCallable | None = None,
    numbers: bool | str = True,
    shaped_by_values: bool | Callable[[list[Any]], bool] = False,
    wide: bool = False,
    copies: bool = False,
    shared: str = "partly",
    expanded: Callable[[list[Any]], list[str]] | None = None,
    into: AnyCallable | None = None,
    names_c_type: bool = False,
    gives_bool: bool = False,
    real_only: bool | str = False,
    by_element: bool | None = None,
    vmap_write: str = "",
    refuses_values: str = "",
    lowering: str = "",
    unit: str = "",
    given_numbers: bool = False,
    out_rules: OutRules = AS_MOST,
    delivers: tuple[str, ...] = (),
    without_data: str = "",
    beside_data: str = "",
    explain: Callable[[Arguments, bool], Exception | None] | None = None,
    narrow: str | Callable[[Any], str] = "",
    kernel: str | Callable[[Any], str] = "",
    **formulas: object,
) -> Row:
    """Declares a row of the given kind; see the module's text for the words.

    `formula` says in the vocabulary what a raw forward that is written by hand computes on floats,
    of the arguments in order; a function that formulas call has its formula itself, and so have
    NumPy's (see `with_formula` and `ufuncs`). `saved_as` names what the nodes show of saved values,
    see `node_class`, and `node_shows` what they show beside. `check(args, raws)` refuses operands
    after promotion. `at_defaults` gives a faster form for when every further argument has its
    default value: a raw forward of the tensors alone, and formulas without those arguments.
    `method` says whether tensors have the operation as a method: where it isn't given, public
    ones of the top namespace have that take a tensor called `self`.
    `shaped_by_values` says that the shapes of results depend on the elements of tensors, not only
    on shapes, types and the other arguments; or is a function of these that says whether they do.
    `ordered` says which of operands that broadcast is asked first how the result lies in memory:
    the "first", the "last", or none ("": the raw forward sees to it).
    `wide` has halves beside a number computed in float32 and rounded once. `copies` says that
    PyTorch makes the result and then writes it, so that even the copy of an inference tensor is
    an ordinary one. Of writes in place: `shared` is "partly", "never", "first" or "last", for
    when operands are refused that lie in the memory that is written (in part; never; all of it,
    before or after shapes are looked at); `expanded(args)` gives the warnings of a write to
    elements that share memory, which is refused without it; `into` gives, of the
    forward's arguments, what writes in place where the forward would copy all to write little, and
    None, or an error, for what is left to the forward; `names_c_type` has refusals to cast
    a result name the type that is written as C++ does; `gives_bool` says that the result is
    bool, whatever types the operands are brought to; `real_only` that complex numbers are
    computed with, but not differentiated (a text: what the refusal calls it); `by_element` says
    that an element that is written takes only the operands' elements at its place, which the kind
    says of elementwise rows; `vmap_write` is what PyTorch calls the write where vmap refuses it for
    its tensor that has no batch dimension ("shape": it is refused for its shape).

    `refuses_values` says that the forward may raise for what elements are: "any" type's, or of
    "whole" numbers alone (a division by zero, a negative power). `lowering` names the rule in
    `_compile/lowering` that knows a native form of the row, beside the formula of an
    elementwise one. `unit` says that a one gives the other operand as it is: on the "right"
    side, or on "both". `given_numbers` says that a number among the operands may be one that a
    compiled step is given in each call. `out_rules` says how `out` is looked at, see `OutRules`.
    `delivers` names the tensors in the order in which leaves among them accumulate, if not that of
    the arguments. `without_data` and `beside_data` are for meta tensors, see `meta`.
    `explain(args, inplace)` gives the exception for operands that a raw forward has refused, where
    its words are the row's own. `narrow` and `kernel` say in the first row of a name what PyTorch
    does with types that are only stored, and what its refusals call the kernel, see
    `calls.narrow_types`. What is wrong with the rest of a declaration is said when the row settles.

    Raises: ValueError for a text without parameters, KeyError for an unknown promotion.
    """
    head, bracket, _ = schema_text.partition("(")
    if not bracket:
        parse(schema_text)  # says what is wrong with it
    name, _, overload = head.strip().rpartition(".")
    if not name:
        name, overload = overload, ""
    row = Unsettled()
    row.text = schema_text
    row.name = name
    row.overload = overload
    row.overloads = DECLARED.setdefault(name, [])
    row.overloads.append(row)
    row.node = _nodes.node_name(name, node)
    row.raw = raw
    row.kind = kind
    row.doc = doc
    row.samples = samples
    row.formula = formula
    row.ref = ref
    row.formulas = formulas
    row.joint = joint
    row.jvp = jvp
    row.batch = batch
    row.namespace = (namespace,) if isinstance(namespace, str) else namespace
    if inplace is None:
        inplace = kind == "elementwise" and "(a)" not in schema_text.rpartition("->")[2]
    row.inplace = inplace
    if method is None:
        takes_self = "Tensor self" in schema_text or "Tensor(a) self" in schema_text
        method = takes_self and public and "" in row.namespace and not name.startswith("_")
    row.method = method
    row.public = public
    row.dtypes = dtypes
    row.numbers = numbers
    row.shaped_by_values = _CONSTANT.get(shaped_by_values, shaped_by_values)
    row.wide = wide
    row.copies = copies
    row.shared = SHARED[shared]
    row.expanded = expanded
    row.into = into
    row.names_c_type = names_c_type
    row.gives_bool = gives_bool
    row.real_only = real_only
    row.by_element = kind == "elementwise" if by_element is None else by_element
    row.vmap_write = vmap_write
    row.refuses_values = refuses_values
    row.lowering = lowering
    row.unit = unit
    row.given_numbers = given_numbers
    row.out_rules = out_rules
    row.delivers = delivers
    row.without_data = without_data
    row.beside_data = beside_data
    row.explain = explain
    row.narrow = narrow
    row.kernel = kernel
    if promote is None:
        promote = "same" if kind == "elementwise" else "none"
    row.declared = Declared(
        PROMOTIONS[promote],
        promote_at,
        kind == "elementwise" if broadcasts is None else broadcasts,
        _ORDERED[ordered],
        holomorphic is not False,
        differentiable_out,
        saved_as or {},
        node_shows,
        out,
        at_defaults,
        check,
        [],
    )
    return row


#: What declares a row of each kind; see the module's text for the words.
elementwise: Final[Callable[..., Row]] = partial(declare, "elementwise")
linear: Final[Callable[..., Row]] = partial(declare, "linear")
multilinear: Final[Callable[..., Row]] = partial(declare, "multilinear")
selection: Final[Callable[..., Row]] = partial(declare, "selection")
general: Final[Callable[..., Row]] = partial(declare, "general")

_CONSTANT: Final[dict[Any, Any]] = {False: lambda args: False, True: lambda args: True}


class Declared(NamedTuple):
    """What settling a row needs of its declaration, beside the attributes of the row."""

    promote: int
    promote_at: tuple[str, ...] | None
    broadcasts: bool
    ordered: int
    holomorphic: bool
    differentiable_out: tuple[bool, ...]
    saved_as: dict[str, str | None]
    node_shows: _nodes.Shows | None
    out: bool | None
    at_defaults: Keywords | None
    check: object
    then: list[Callable[[Row], None]]


def _make_twin(row: Row) -> Row:
    """A row's twin that has what settling finds; its ops belong to the row itself."""
    declared = row.declared
    schema = parse(row.text)
    if type(row.raw) is Function:  # see Note [Raw modules load late]
        row.raw = row.raw.find()
    generate_functions(row, schema)
    twin = Row()
    twin.declared = declared
    twin.schema = schema
    twin.out = declared.out
    if twin.out is None:
        twin.out = not schema.is_view and len(schema.returns) == 1
    twin.simple_op = None
    twin.simple_defaults = ()
    twin.op = _op(schema, row.raw, row.formulas, row.joint, row)
    if type(row.formula) is Function:
        row.formula = row.formula.find()
    twin.op.formula = row.formula or getattr(row.raw, "formula", None)
    twin.op.node_class = _nodes.node_class(
        row.node, twin.op, schema, declared.saved_as, declared.node_shows
    )
    short = declared.at_defaults
    if short is not None:
        formulas = dict(row.formulas)
        formulas.update({k: v for k, v in short.items() if k != "raw"})
        tensors = tuple(p for p in schema.params if p.is_tensor)
        text = ", ".join(f"Tensor {p.name}" for p in tensors)
        simple = parse(f"{schema.name}.{schema.overload or 'default'}({text}) -> Tensor")
        raw = short["raw"]
        raw = raw.find() if type(raw) is Function else raw
        twin.simple_op = _op(simple, raw, formulas, None, row)
        twin.simple_op.node_class = twin.op.node_class
        twin.simple_defaults = tuple(p.default for p in schema.params[len(tensors) :])
        twin.simple_op.formula = _at_defaults(twin.op.formula, twin.simple_defaults)
    elif twin.op.simple:
        twin.simple_op = twin.op
    return twin


def _at_defaults(formula: AnyCallable | None, defaults: tuple[object, ...]) -> AnyCallable | None:
    """A formula of the tensors alone."""
    return None if formula is None else lambda *tensors: formula(*tensors, *defaults)


def _op(
    schema: Schema,
    raw: AnyCallable,
    formulas: dict[str, object],
    joint: AnyCallable | None,
    row: Row,
) -> Op:
    declared = row.declared
    op = Op()
    op.name = schema.name
    op.kind = row.kind
    op.raw = raw
    op.row = row
    op.function = None
    op.tensors = tuple(i for i, p in enumerate(schema.params) if p.is_tensor)
    if joint is None and any(f is not None for f in formulas.values()):
        # A tensor without a formula (an index, a mask) gets no edge, as in PyTorch.
        op.tensors = tuple(
            i for i in op.tensors
            if formulas.get(schema.params[i].name) is not None or schema.params[i].name == "self"
        )  # fmt: skip
    if joint is not None:  # there `index=None` says it
        op.tensors = tuple(
            i for i in op.tensors if formulas.get(schema.params[i].name, joint) is not None
        )
    op.constants = tuple(
        i for i, p in enumerate(schema.params)
        if (p.is_tensor and i not in op.tensors) or (p.type == "Buffer" and not p.is_list)
    )  # fmt: skip
    lists = [i for i, p in enumerate(schema.params) if p.type == "Tensor" and p.is_list]
    op.lists = lists[0] if lists else -1
    op.defaults = tuple(p.default for p in schema.params)
    single = schema.returns[0] if len(schema.returns) == 1 else None
    op.n_out = -1 if single is not None and single.is_list else len(schema.returns)
    op.is_view = schema.is_view
    op.promote = declared.promote
    op.promote_at = _promoted_positions(schema, declared)
    op.broadcasts = declared.broadcasts
    op.ordered = declared.ordered if op.broadcasts else 0
    op.holomorphic = declared.holomorphic
    op.differentiable_out = declared.differentiable_out
    op.out_raw = op.runs_on_none = False
    op.lone = (
        op.tensors == (0,)
        and op.lists < 0
        and op.n_out == 1
        and not op.is_view
        and joint is None
        and declared.promote == PROMOTE_NONE
        and not any(p.type in ("Tensor", "Indices") and i for i, p in enumerate(schema.params))
    )
    op.returns = _return_types.maker(schema)
    op.check = declared.check
    op.written = None
    op.fits = None
    op.formula = None
    op.wide = row.wide
    op.copies = row.copies
    op.shared = row.shared
    op.expanded = row.expanded
    op.into = row.into
    op.names_c_type = row.names_c_type
    op.gives_bool = row.gives_bool
    op.real_only = row.real_only if isinstance(row.real_only, str) else op.name * row.real_only
    op.delivers = None
    if row.delivers:
        op.delivers = tuple(op.tensors.index(schema.positions[name]) for name in row.delivers)
        if len(op.delivers) != len(op.tensors) or op.lists >= 0:
            raise ValueError(f"{schema.text}: `delivers` doesn't name each tensor")
    check_formulas(schema, formulas)
    lay_out(op, schema, formulas, joint)
    op.direct = op.n_out == 1 and op.lists < 0 and not op.is_view and not op.broadcasts
    op.direct = op.direct and all(p.type != "Indices" for p in schema.params)  # which hold tensors
    op.diff_mask = sum(
        1 << pos
        for pos in op.tensors
        if joint is not None or formulas.get(schema.params[pos].name) is not None
    )
    small_arrays.add_chains(op, schema, row.kind)
    op.special = GENERAL if joint is not None or op.n_out != 1 or op.lists >= 0 else 0
    return op


def _promoted_positions(schema: Schema, declared: Declared) -> tuple[int, ...]:
    if declared.promote == PROMOTE_NONE:
        return ()
    if declared.promote_at is not None:
        return tuple(schema.positions[name] for name in declared.promote_at)
    return tuple(i for i, p in enumerate(schema.params) if p.type in ("Tensor", "Scalar"))


__all__ = ["ROWS", "Node", "Row", "declare", "elementwise", "general", "linear", "multilinear",
           "selection"]  # fmt: skip
