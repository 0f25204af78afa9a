"""Public functions from rows: overloads, argument conversion, and errors in PyTorch's words.

Note [Plans]
Which overload a call means, and where each argument goes, depends almost always on nothing but the
types of the positional arguments and the names of the keywords. So a resolved call is remembered as
a `Plan` under that key; the next call like it costs two dictionary look-ups. Only misses look at
schemas. For the rest see Note [Converters check what types don't say] in `_accepts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..._array import types as T
from ..._base import errors
from ..._base.own_packages import package_name
from ..._base.schema import REQUIRED, Parameter
from ..._core.apply import apply1, apply2, apply_n, runner
from ..._core.inplace import apply_inplace
from ..._core.interposers import NOT_HANDLED, call_whole, misfit
from ..._core.mode import ALERTED
from ..._core.op import Op
from ..._core.storage import TensorBase
from ..._native.ufunc_loops import run_plan, types_of
from ..rows.out_argument import apply_out
from ..rows.row import Row
from .argument_parser import NUMBERS_TOO, complaint, is_index
from .call_errors import explain_rows
from .conversions import Unfit, accepts, as_lone_tensor, by_value, integers
from .deprecated_orders import old_order
from .entries import MISFITS, enter_row
from .long_integers import refuse_long
from .overload_texts import signatures
from .signature_kinds import ASKED, kind_of
from .view_calls import view_function

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable, Arguments, Keywords, Positional

_NUMPY_NAMES: Final = {"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input",
                       "x2": "other", "a": "input", "self": "input"}  # fmt: skip


#: Products that have a form with `out_dtype`, for accelerators only.
_WITHOUT_KERNEL: Final = ("addmm", "baddbmm", "bmm", "mm")


class Plan:
    """A resolved call: the row, and for each parameter where its value comes from."""

    __slots__ = (
        "row", "op", "run", "sources", "convert", "direct", "quick", "ordered", "tail",
        "named", "lasting",
    )  # fmt: skip

    def __init__(self, row: Row, sources: list[Any], convert: list[tuple[int, Any]]) -> None:
        self.row = row
        self.op = row.op
        # What `apply_n` would come to; signatures of functions have a body instead.
        self.run: Any = runner(row.op) if isinstance(row.op, Op) else run_body
        self.sources = sources  # an int (positional), a str (keyword), or a _Default
        self.convert = convert
        given = sum(1 for s in sources if isinstance(s, int))
        rest = sources[given:]
        # Ordered: the positional arguments, then defaults and keywords. Direct: nothing but
        # defaults, and nothing to convert. Quick: the same with what is to be converted or packed,
        # and with keywords; what runs, its operation, the defaults, the conversions, from where on
        # arguments are packed, and the places of keywords, for `run_plan`.
        self.ordered = not any(isinstance(s, _Packed) for s in sources)
        self.tail = [s.value if isinstance(s, _Default) else None for s in rest]
        self.direct = not convert and all(isinstance(s, _Default) for s in rest)
        self.quick: tuple[object, ...] | None = None
        packed = next((s.start for s in rest[:1] if isinstance(s, _Packed)), -1)
        rest = rest[packed >= 0 :]
        self.named = [(i, s) for i, s in enumerate(sources) if isinstance(s, str)]
        apt = (_Default, str) if packed < 0 else _Default
        if all(isinstance(s, apt) for s in rest):
            tail = tuple([s.value if isinstance(s, _Default) else None for s in rest])
            what = self.op if isinstance(self.op, Op) else getattr(row, "body", None)
            self.quick = self.run, what, tail, tuple(convert), packed, tuple(self.named)
        self.lasting = True  # whether it serves all calls of the same types

    def write(self) -> None:
        """Has the call write into its first argument."""
        self.run = apply_inplace
        if self.quick is not None:
            self.quick = self.run, *self.quick[1:]


def run_body(body: AnyCallable, values: Arguments) -> object:
    """What the function behind a signature gives."""
    return body(*values)


class _Default:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Packed:
    """Positional arguments from `start` on, taken as one list: `x.view(2, 3)`."""

    __slots__ = ("start",)

    def __init__(self, start: int) -> None:
        self.start = start


class Dispatcher:
    """The public function of one operation name, over all its overloads."""

    def __init__(self, name: str, rows: list[Row], inplace: bool = False, kind: str = "") -> None:
        self.name = name + ("_" if inplace else "")
        self.short = self.name.rpartition(".")[2]
        self.rows = rows
        self.inplace = inplace
        if not kind and any(getattr(row, "public", True) for row in rows):
            kind = kind_of(rows[0].namespace[0], self.short)
        self.kind = kind  # whose signatures are asked, see `_parse.py`
        if self.kind in ("linalg", "torch", "method"):
            self.short = self.short.removeprefix("linalg_")
        self.plans: dict[Any, Plan] = {}
        self.outs: set[Any] = set()  # with what types of `out` they have been asked
        self.function: Any = None  # what the user calls

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        given = kwargs
        out = None
        if kwargs and "out" in kwargs:
            kwargs = kwargs.copy()
            out = kwargs.pop("out")
        key = call_key(args, kwargs)
        plan = self.plans.get(key)
        if plan is None or (kwargs is not given and (key, type(out)) not in self.outs):
            try:
                plan = self.resolve(args, kwargs, given)
            except (TypeError, ValueError):
                if self.function is None:  # a part of a function that asks by itself
                    raise
                handled = misfit(self.function, args, given)
                if handled is NOT_HANDLED:
                    raise
                return handled
            if plan.lasting:
                if self.inplace:
                    plan.write()
                self.plans[key] = plan
                if kwargs is not given and (out is None or isinstance(out, TensorBase)):
                    self.outs.add((key, type(out)))
        row = plan.row
        if plan.direct and not kwargs:
            values = [*args, *plan.tail]
        else:
            try:
                values = self.gather(plan, args, kwargs)
            except Unfit:
                return self.anew(args, given)
        if self.inplace:
            return apply_inplace(row.op, values)
        if out is not None:
            if ALERTED and self.function is not None:  # the class of `out` is asked, too
                handled = call_whole(self.function, args, given)
                if handled is not NOT_HANDLED:
                    return handled
            return apply_out(row, values, out)
        try:
            return apply_n(row.op, values)
        except Exception:
            refuse_long(self.kind, self.short, args, given)
            raise

    def anew(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """The result of a call that the plan for its types doesn't fit."""
        plain = {k: v for k, v in kwargs.items() if k != "out"}
        self.plans.pop(call_key(args, plain), None)
        return self(*args, **kwargs)

    def gather(self, plan: Plan, args: Positional, kwargs: Keywords) -> list[Any]:
        """The values of all parameters, in schema order."""
        values: list[Any] = []
        for source in plan.sources:
            if isinstance(source, int):
                values.append(args[source])
            elif isinstance(source, str):
                values.append(kwargs[source])
            elif isinstance(source, _Packed):
                values.append(tuple(args[source.start :]))
            else:
                values.append(source.value)
        try:
            for position, convert in plan.convert:
                values[position] = convert(values[position])
        except (TypeError, ValueError):
            raise self.complaint(args, kwargs) from None
        return values

    def complaint(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Exception:
        """What is wrong with values that are of the right types."""
        own = args[1:] if self.kind == "method" else args
        problem = complaint(self.kind, self.short, own, kwargs)
        return problem or TypeError(f"{self.short}(): arguments don't fit")

    def resolve(
        self,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        given: Keywords | None = None,
    ) -> Plan:
        """The plan for a call like this one; `given` are the keywords with `out`.

        Raises:
            TypeError: where no overload takes these arguments.
            ValueError: for an integer of more than 64 bits.
        """
        own = args[1:] if self.kind == "method" else args
        problem = complaint(self.kind, self.short, own, kwargs if given is None else given)
        if problem is not None:
            raise problem
        old = old_order(self.kind, self.short, args, kwargs)
        if old is not None:
            return reorder(self.rows[0], *old, args, kwargs)
        packs = self.kind in ("method", "")
        lasting = True
        for row in self.rows:
            plan = match(row, args, kwargs, packs)
            if isinstance(plan, Plan):
                plan.lasting = lasting
                return plan
            lasting = lasting and not plan
        for row in self.rows if kwargs else ():
            names = row_names(self.kind, self.short, row)
            plan = match(row, args, kwargs, packs, names)
            if isinstance(plan, Plan):
                plan.lasting = lasting
                return plan
        if self.short in NUMBERS_TOO:
            alone = of_numbers(self.rows, args, kwargs)
            if alone is not None:
                return alone
        if self.kind == "python" and self.short in ASKED:
            getattr(args[0] if args else kwargs["input"], ASKED[self.short])
        if self.short in _WITHOUT_KERNEL:
            form = "dtype_out" if given and "out" in given else "dtype"
            raise NotImplementedError(errors.no_kernel(f"{self.short}.{form}"))
        raise explain_rows(self.short, self.rows, args, kwargs)


def of_numbers(
    rows: list[Row], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> Plan | None:
    """The plan of a call with numbers for all tensors, as of `mul(5, 3)`: one becomes a tensor."""
    first = args[0] if args else kwargs.get("input")
    others = (*args, *kwargs.values())
    if not T.is_number(first) or any(isinstance(a, TensorBase) for a in others):
        return None
    stand_in = as_lone_tensor(first)
    args, kwargs = (stand_in, *args[1:]) if args else args, dict(kwargs)
    if not args:
        kwargs["input"] = stand_in
    for row in rows:
        plan = match(row, args, kwargs)
        if isinstance(plan, Plan):
            plan.convert.insert(0, (0, as_lone_tensor))
            plan.direct, plan.quick = False, None
            return plan
    return None


def reorder(
    row: Row,
    places: dict[str, int | str],
    said: Callable[[Any], Any],
    args: Positional,
    kwargs: Mapping[str, object],
) -> Plan:
    """The plan of a call in an order of old, where each argument has its own place.

    At last it passes the first argument through `said`, which warns.
    """
    sources: list[Any] = []
    convert: list[tuple[int, Any]] = []
    for i, p in enumerate(row.schema.params):
        source = places.get(p.name)
        if source is None:
            sources.append(_Default(p.default))
            continue
        sources.append(source)
        found = args[source] if isinstance(source, int) else kwargs[source]
        converter = accepts(p, found, row, i)[1]
        if converter is not None:
            convert.append((i, converter))
    convert.append((0, said))
    plan = Plan(row, sources, convert)
    plan.direct, plan.quick, plan.ordered = False, None, False
    return plan


def call_key(args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
    """What a plan depends on: the types of the arguments, and the names of the keywords."""
    if kwargs:
        return types_of(args), tuple(kwargs), types_of((*kwargs.values(),))
    return types_of(args)


def row_names(kind: str, name: str, row: Row) -> list[str]:
    """What PyTorch calls the positional parameters of a row, one after the other."""
    first = ["input"] if kind == "method" else []
    for signature in signatures(kind, name):
        names = first + [p.name for p in signature.params if not p.kw_only]
        if len(names) == sum(not p.kw_only for p in row.schema.params):
            return names
    return []


def match(
    row: Row,
    args: Positional,
    kwargs: Keywords,
    packs: bool = True,
    names: list[str] | None = None,
) -> Plan | bool:
    """How this call fits the row's signature; if it doesn't, whether other values might.

    With `packs` integers one by one may stand for a list of them, as in `x.view(2, 3)`. `names`
    are other ones for the positional parameters.
    """
    params = row.schema.params
    positional = [p for p in params if not p.kw_only]
    sources: list[Any] = []
    convert: list[tuple[int, Any]] = []
    left = dict(kwargs)
    packed = _pack_from(positional, args) if packs else None
    if packed is None and len(args) > len(positional):
        # Other tensors might be sizes, where the row takes sizes one by one.
        sizes = packs and any(p.is_list and p.type == "int" for p in positional)
        return sizes and any(isinstance(a, TensorBase) for a in args[1:])
    for i, p in enumerate(params):
        if packed is not None and i == packed:
            sources.append(_Packed(i))
            if any(type(a) is not int for a in args[i:]):
                convert.append((i, integers))
            continue
        if not p.kw_only and i < len(args) and (packed is None or i < packed):
            found, source = args[i], i
        else:
            name = _keyword(p, left)
            if name is None and names and i < len(names) and names[i] in left:
                name = names[i]
            if name is None:
                if p.default is REQUIRED:
                    return False
                sources.append(_Default(p.default))
                continue
            found, source = left.pop(name), name  # type: ignore[assignment]
        fits, converter = accepts(p, found, row, i)
        if not fits:
            return by_value(p, found)
        if converter is not None:
            convert.append((i, converter))
        sources.append(source)
    if left or not _some_tensor(row, args, kwargs):
        return False
    return Plan(row, sources, convert)


def _some_tensor(row: Row, args: tuple[object, ...], kwargs: Mapping[str, object]) -> bool:
    """Whether a call with numbers for its tensors has at least one tensor."""
    if not row.numbers or any(p.is_list and p.type == "Tensor" for p in row.schema.params):
        return True
    return any(isinstance(a, TensorBase) for a in (*args, *kwargs.values()))


def _pack_from(positional: list[Parameter], args: tuple[object, ...]) -> int | None:
    for i, p in enumerate(positional):
        if (
            p.is_list
            and p.type == "int"
            and i < len(args)
            and is_index(args[i])
            and all(type(a) is bool or is_index(a) for a in args[i + 1 :])
            and (p.list_size is None or (len(args) - i > 1 and i == len(positional) - 1))
        ):
            return i
        if p.is_list:
            return None
    return None


def _keyword(p: Parameter, kwargs: Mapping[str, object]) -> str | None:
    public = "input" if p.name == "self" else p.name
    if public in kwargs:
        return public
    if p.name in kwargs:
        return p.name
    for name in kwargs:
        if _NUMPY_NAMES.get(name) == public:
            return name
    return None


def public_function(name: str, rows: list[Row]) -> AnyCallable:
    """The function a user calls for the rows of one name: a direct one for the simple cases."""
    made = variant(name, rows, "")
    for row in rows:
        row.op.function = made
        if row.simple_op is not None:
            row.simple_op.function = made
    return made


def variant(name: str, rows: list[Row], kind: str) -> AnyCallable:
    """The function for the rows of one name that says what functions or methods of a kind say."""
    general = Dispatcher(name, rows, kind=kind)
    first = rows[0]
    short = first.simple_op
    made: Callable[..., Any]
    others = by_plans(general, _plan(general))
    if first.op.is_view and first.op.n_out == 1:
        made = view_function(first, rows[1:], others, packs=general.kind == "method")
    elif short is not None and len(short.tensors) == 1 and len(rows) == 1:
        made = _unary(short, general)
    elif short is not None and len(short.tensors) == 2:
        made = _binary(short, general)
    else:
        made = others
    made.__name__ = name.rpartition(".")[2]
    made.__qualname__ = made.__name__
    made.__doc__ = rows[0].doc
    # Where a pickle finds it.
    made.__module__ = package_name()
    where = rows[0].namespace
    if "nn.functional" in where and "" not in ([where] if isinstance(where, str) else where):
        made.__module__ = f"{package_name()}.nn.functional"
    general.function = made
    if made is others or not first.op.is_view:
        count = 0 if short is None else len(short.tensors)
        apt = count == 2 or (count == 1 and len(rows) == 1)
        enter_row(made, short if apt else None, general, _plan(general))
    return made


def _unary(op: Op, general: Dispatcher) -> AnyCallable:
    def function(*args: object, **kwargs: object) -> Any:
        if kwargs or len(args) != 1 or not isinstance(args[0], TensorBase):
            return general(*args, **kwargs)
        return apply1(op, args[0])

    return function


def _binary(op: Op, general: Dispatcher) -> AnyCallable:
    others = by_plans(general, _plan(general))

    def function(*args: object, **kwargs: object) -> Any:
        if (kwargs or len(args) != 2 or not isinstance(args[1], TensorBase)
                or not isinstance(args[0], TensorBase)):  # fmt: skip
            return others(*args, **kwargs)
        return apply2(op, args[0], args[1])

    return function


def by_plans(general: Dispatcher, others: AnyCallable) -> AnyCallable:
    """What has calls run by the dispatcher's plans in C, and leaves to `others` what has none."""
    if run_plan is None:
        return others
    plans, run = general.plans, run_plan

    def function(*args: object, **kwargs: object) -> object:
        try:
            found = run(plans, args, MISFITS, kwargs) if kwargs else run(plans, args, MISFITS)
        except Exception:
            refuse_long(general.kind, general.short, args, kwargs)
            raise
        return others(*args, **kwargs) if found is plans else found

    return function


def _plan(general: Dispatcher) -> AnyCallable:
    plans = general.plans

    def function(*args: object, **kwargs: object) -> object:
        if not kwargs:
            plan = plans.get(types_of(args))
            if plan is not None and plan.direct:
                try:
                    return plan.run(plan.op, [*args, *plan.tail])
                except Exception:
                    refuse_long(general.kind, general.short, args, kwargs)
                    raise
        else:  # as `call_key`
            key = types_of(args), tuple(kwargs), types_of((*kwargs.values(),))
            plan = plans.get(key)
        if plan is None or not plan.ordered:
            return general(*args, **kwargs)
        values = [*args, *plan.tail]
        for position, name in plan.named:
            values[position] = kwargs[name]
        try:
            for position, convert in plan.convert:
                values[position] = convert(values[position])
        except Unfit:
            return general.anew(args, kwargs)
        except (TypeError, ValueError):
            return general(*args, **kwargs)  # says why
        try:
            return plan.run(plan.op, values)
        except Exception:
            refuse_long(general.kind, general.short, args, kwargs)
            raise

    return function


def inplace_function(name: str, rows: list[Row], kind: str) -> AnyCallable:
    """The in-place method (`add_`) of the rows of one name, or the function (kind "torch")."""
    general = Dispatcher(name, rows, inplace=True, kind=kind)
    others = by_plans(general, _plan(general))
    short: Any = rows[0].simple_op
    numbers = len(rows) == 1 and rows[0].numbers

    def on_two(*args: object, **kwargs: object) -> object:
        if (
            not kwargs
            and len(args) == 2
            and isinstance(args[0], TensorBase)
            and (isinstance(args[1], TensorBase) or (numbers and type(args[1]) is float))
        ):
            return apply_inplace(short, [*args])
        return others(*args, **kwargs)

    function = others if short is None or len(short.tensors) != 2 else on_two
    function.__name__ = function.__qualname__ = general.name
    function.__doc__ = (
        f"In-place version of `{name}`: writes the result into the tensor, returns it."
    )
    function.__module__ = package_name()
    return function
