"""What takes the usual calls of functions in C: what it passes on, to whom, and what of errors."""

import copy
import functools
import gc
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight._native.cpython import unbound as binding
from rushlight._table import PUBLIC, ROWS
from rushlight._table.calls import dispatch, entries
from rushlight._table.rows.composite import ENTRIES
from rushlight._tensor import public_functions
from tests.native.loops import module

Entry = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def entry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Entry]:
    found = module("calls", tmp_path_factory.mktemp("calls")).Entry
    with pytest.MonkeyPatch.context() as patch:
        for place in (entries, public_functions, binding):
            patch.setattr(place, "ENTRY", found)
        yield found


class Told:
    """A plan of any kind."""

    def __init__(self, quick: object) -> None:
        self.quick = quick


def note(*args: object, **words: object) -> tuple[object, ...]:
    return ("passed on", *args, *words.items())


def run(op: object, *args: object) -> tuple[object, ...]:
    return ("ran", op, *args)


class Kind:
    pass


class Special(Kind):
    pass


def test_tensors_alone_go_to_what_runs_and_all_else_is_passed_on(entry: Entry) -> None:
    a, b, other = Kind(), Special(), object()
    one = entry(note, note, "one", (Kind, run, "op"))
    two = entry(note, note, "two", (Kind, run, "op"))
    assert one(a) == ("ran", "op", a) and one(b) == ("ran", "op", b)
    assert two(a, b) == ("ran", "op", a, b) and two(a, a) == ("ran", "op", a, a)
    assert one() == ("passed on",) and one(other) == ("passed on", other)
    assert one(a, b) == ("passed on", a, b) and one(a, k=b) == ("passed on", a, ("k", b))
    assert one(k=a) == ("passed on", ("k", a))
    assert two(a) == ("passed on", a) and two(a, other) == ("passed on", a, other)
    assert two(other, a) == ("passed on", other, a) and two(a, b, a) == ("passed on", a, b, a)
    assert two(a, k=b) == ("passed on", a, ("k", b)) and two() == ("passed on",)
    assert one.function is note


def test_plans_are_found_by_types_and_names(entry: Entry) -> None:
    plans: dict[Any, Any] = {
        (int,): Told((run, "op", (3,), (), -1, ())),
        (int, int, int): Told((run, "op", (3,), (), 1, ())),
        (str,): Told(None),
        ((int,), ("k", "l"), (str, int)): Told((run, "op", (0, 0), (), -1, ((1, "l"), (2, "k")))),
    }
    called = entry(note, note, "plan", (plans, (TypeError,)), None)
    assert called(1) == ("ran", "op", [1, 3]) and called(1, 2, 3) == ("ran", "op", [1, (2, 3), 3])
    assert called(1, k="a", l=5) == ("ran", "op", [1, 5, "a"])
    assert called("a") == ("passed on", "a") and called() == ("passed on",)
    assert called(1, l=5, k="a") == ("passed on", 1, ("l", 5), ("k", "a"))
    words = {f"k{i}": i for i in range(50)}
    assert called(*range(50), **words) == ("passed on", *range(50), *words.items())


def test_whole_functions_run_where_nobody_is_on_and_the_types_are_settled(entry: Entry) -> None:
    on: list[object] = []
    settled: dict[object, object] = {(int,): ()}

    def body(*args: object) -> tuple[object, ...]:
        return ("body", *args)

    def named(*args: object, **words: object) -> tuple[object, ...]:
        return ("named", *args, *words.items())

    some, any_ = [
        entry(note, note, "whole", (on, s, body, s, named), None) for s in (settled, None)
    ]
    assert some(1) == any_(1) == ("body", 1) and any_() == ("body",)
    assert some(1.0) == ("passed on", 1.0) and any_(1.0) == ("body", 1.0)
    assert some(1, k=2) == ("passed on", 1, ("k", 2)) and any_(1, k=2) == ("named", 1, ("k", 2))
    settled[(float,)] = settled[((int,), ("k",), (int,))] = ()
    assert some(1.0) == ("body", 1.0)
    assert some(1, k=2) == ("named", 1, ("k", 2))
    for other in ({"k": 2.0}, {"l": 2}, {"k": 2, "l": 3}):
        assert some(1, **other) == ("passed on", 1, *other.items())
    answers = [False, True]
    on.append(lambda: answers.pop(0))
    assert some(1) == ("body", 1) and some(1) == ("passed on", 1)
    answers += [False, True]
    assert any_(1, k=2) == ("named", 1, ("k", 2))
    assert any_(1, k=2) == ("passed on", 1, ("k", 2))
    with pytest.raises(IndexError):  # of who says whether somebody is on
        some(1)


def test_lists_in_settled_calls_are_looked_into(entry: Entry) -> None:
    settled = {
        (list, int): (0,), (tuple,): (0,), (str,): (0,), (float,): (1,), (bool,): [0],
        ((int,), ("k", "l"), (str, tuple)): (2,), (bytes,): ("a",),
    }  # fmt: skip
    body = functools.partial(note, "body")
    call = entry(note, note, "whole", ([], settled, body, settled, body), None)
    for fine in ([[1, 2], 3], [[], 3], [(1,)], [()]):
        assert call(*fine) == ("passed on", "body", *fine)
    for other in ([[1, True], 3], [[1, 2.0], 3], [[None], 3], [("a",)], [((1,),)], ["ab"], [1.0]):
        assert call(*other) == ("passed on", *other)
    assert call(1, k="a", l=(1,)) == ("passed on", "body", 1, ("k", "a"), ("l", (1,)))
    assert call(1, k="a", l=(1.0,)) == ("passed on", 1, ("k", "a"), ("l", (1.0,)))
    assert call(True) == ("passed on", True)
    with pytest.raises(TypeError):
        call(b"a")


def test_views_by_integers_run_the_operation_for_so_many_and_say_why_not_elsewhere(
    entry: Entry,
) -> None:
    def view(op: object, x: object, places: tuple[int, ...]) -> tuple[object, ...]:
        if 7 in places:
            raise IndexError
        return ("view", op, x, places)

    a = Special()
    called = entry(note, note, "view", (Kind, view, ("none", None, "two")))
    assert called(a) == ("view", "none", a, ()) and called(a, 1, 2) == ("view", "two", a, (1, 2))
    assert called(a, 1, 7) == ("passed on", a, 1, 7)
    for given in ((), (a, 1), (a, 1, 2, 3), (a, 1, True), (a, 1.0, 2), (object(),), (1, 2, 3)):
        assert called(*given) == ("passed on", *given)
    assert called(a, k=1) == ("passed on", a, ("k", 1))

    def stop(*args: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        entry(note, note, "view", (Kind, stop, ("x",)))(a)


def test_an_entry_in_a_class_is_a_method_whose_function_is_what_is_found(entry: Entry) -> None:
    on: list[object] = []

    def method(self: object, *args: object, **words: object) -> tuple[object, ...]:
        """What it does."""
        return ("method", self, *args, *words.items())

    class Asked:
        act = entry(method, method, "method", (on, run))

    class Below(Asked):
        def both(self) -> tuple[object, ...]:
            return super().act(1)

    x, y = Asked(), Below()
    assert Asked.act is method and Below.act is method and x.act.__func__ is method
    assert x.act.__self__ is x and x.act.__doc__ == "What it does."
    # Until the interpreter knows this call; pytest takes those in assertions apart.
    called = [x.act(1, 2) for _ in range(200)] + [y.act(1, 2), y.both()]
    assert called[:200] == [("ran", x, 1, 2)] * 200 and called[200] == ("ran", y, 1, 2)
    assert called[201][0] in ("ran", "method") and called[201][1:] == (y, 1)
    bound = x.act
    assert bound(3) == ("method", x, 3) and Asked.act(x, k=1) == ("method", x, ("k", 1))
    on.append(lambda: True)
    assert [x.act(1, 2) for _ in range(200)] == [("method", x, 1, 2)] * 200
    on.clear()
    x.act = note  # type: ignore[method-assign]
    assert x.act(5) == ("passed on", 5)
    Below.act = note  # type: ignore[assignment]
    assert y.act(5) == ("passed on", y, 5)


def test_parts_that_no_kind_has_are_refused(entry: Entry) -> None:
    for kind, parts in (
        ("method", (1, run)), ("method", ([],)), ("view", (Kind, run, [])), ("view", (1, run, ())),
        ("views", (Kind, run, ())),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="no such kind"):
            entry(note, note, kind, parts)


def test_errors_go_to_whom_it_may_concern_and_others_end_the_program(entry: Entry) -> None:
    seen: list[object] = []

    def fail(error: BaseException) -> Callable[..., object]:
        def raiser(*args: object, **words: object) -> object:
            raise error

        return raiser

    def failed(args: object, words: object, box: list[Exception]) -> object:
        seen.append((args, words, len(box)))
        try:
            raise box.pop()
        except KeyError:
            return "handled"

    def made(error: BaseException, handler: object) -> list[Callable[..., Any]]:
        plans = {
            (int,): Told((fail(error), 0, (), (), -1, ())),
            ((int,), ("k",), (int,)): Told((fail(error), 0, (0,), (), -1, ((1, "k"),))),
        }
        return [
            entry(note, note, "whole", ([], None, fail(error), None, fail(error)), handler),
            entry(note, note, "plan", (plans, ()), handler),
        ]  # fmt: skip

    for call in made(KeyError("x"), failed):
        assert call(1) == "handled"
        assert call(1, k=2) == "handled"
    assert seen == [((1,), {}, 1), ((1,), {"k": 2}, 1)] * 2
    error = ValueError("mine")
    for call in made(error, failed) + made(error, None):
        try:
            raise LookupError
        except LookupError as before:
            with pytest.raises(ValueError, match="mine") as caught:
                call(1)
            assert caught.value is error and error.__context__ is before
    seen.clear()
    for end in (KeyboardInterrupt(), SystemExit()):
        for call in made(end, failed):
            with pytest.raises(type(end)):
                call(1)
    assert not seen
    with pytest.raises(ValueError, match="mine"):
        entry(note, fail(error), "one", (Kind, run, 0))(1)


def test_errors_keep_nothing_alive_once_they_are_forgotten(entry: Entry) -> None:
    def failed(args: object, words: object, box: list[Exception]) -> object:
        try:
            raise box.pop()
        except Exception:
            raise

    call = entry(note, note, "whole", ([], None, lambda x: x.missing, None, run), failed)
    gc.disable()
    try:
        x = Kind()
        gone = weakref.ref(x)
        try:
            call(x)
        except AttributeError as error:
            del x, error
        assert gone() is None
    finally:
        gc.enable()


def test_calls_leave_as_many_references_as_there_were(entry: Entry) -> None:
    a, word = Kind(), "k" * 3
    plans: dict[Any, Any] = {
        (Kind,): Told((run, "op", (word,), (), 0, ())),
        ((Kind,), ("k",), (str,)): Told((run, "op", (word,), (), -1, ((1, "k"),))),
    }
    calls: list[Callable[[], object]] = []
    for e in (
        entry(note, note, "one", (Kind, run, word)), entry(note, note, "two", (Kind, run, word)),
        entry(note, note, "plan", (plans, ())),
        entry(note, note, "whole", ([], {(Kind,): ()}, run, {((Kind,), ("k",), (str,)): ()}, note)),
        entry(note, note, "whole", ([], {(Kind,): (0,)}, run, None, note)),
    ):  # fmt: skip
        calls += [lambda e=e: e(a), lambda e=e: e(a, a), lambda e=e: e(a, k=word)]  # type: ignore
    for call in calls:
        call()
    before = sys.getrefcount(a), sys.getrefcount(word)
    for call in calls * 50:
        call()
    assert (sys.getrefcount(a), sys.getrefcount(word)) == before


def test_what_makes_no_entry_is_refused_and_cycles_are_collected(entry: Entry) -> None:
    for kind, parts in (
        ("one", (1, run, 0)), ("one", (Kind, run)), ("plan", ([], ())), ("plan", ({}, [])),
        ("whole", ((), None, run, None, run)), ("whole", ([], [], run, None, run)),
        ("whole", ([], None, run, [], run)), ("whole", ([], None, run)), ("other", ()), ("", ()),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            entry(note, note, kind, parts)
    with pytest.raises(TypeError):
        entry(note)

    def function() -> None: ...

    function.entry = entry(function, function, "plan", ({}, ()))  # type: ignore[attr-defined]
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None


def test_plans_that_vanish_while_arguments_are_converted_are_kept(entry: Entry) -> None:
    plans: dict[Any, Any] = {}

    def convert(value: object) -> object:
        plans.clear()
        gc.collect()
        return value

    plans[int,] = Told((run, "op", (3,), ((0, convert),), -1, ()))
    assert entry(note, note, "plan", (plans, ()))(1) == ("ran", "op", [1, 3])


@pytest.mark.parametrize("name", ["tanh", "add", "sum", "positive", "diff", "clamp", "cat"])
def test_builtins_know_the_functions_behind_them(entry: Entry, name: str) -> None:
    builtin = getattr(torch, name)
    behind = binding.function_of(builtin)
    assert behind is not builtin and behind.__name__ == builtin.__name__ == name
    assert pickle.loads(pickle.dumps(builtin)) is builtin and copy.deepcopy(builtin) is builtin

    class Holder:
        function = builtin

    assert Holder().function is builtin


def test_functions_say_the_same_by_entries_and_without(entry: Entry) -> None:
    x, y = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}), ((x,), {}), ((x, y), {}), ((x, 1), {}), ((x, 1.5), {}), ((x, "a"), {}),
        ((1, 2), {}), ((x, 1 << 70), {}), ((x, 9), {}), ((x,), {"dim": 0}), ((x,), {"dim": 9}),
        ((x,), {"dim": 1 << 70}), ((x,), {"nothing": 1}), ((), {"input": x}), ((x > 1,), {}),
        ((x,), {"out": torch.empty(0)}), ((x, y), {"out": torch.empty(0)}), ((x, y, y), {}),
        ((None,), {}), ((x, None), {}), ((x, y), {"alpha": 2}), ((x, torch.ones(4)), {}),
        (([x, y],), {}), (([x, y], 1), {}), ((x.to_sparse(),), {}),
    ]  # fmt: skip

    def outcome(function: Any, args: tuple[Any, ...], words: dict[str, Any]) -> str:
        try:
            return str(function(*args, **words))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    for name in (
        "tanh", "add", "mul", "sum", "positive", "diff", "clamp", "float_power", "diagonal",
        "unbind", "unsafe_split",
    ):  # fmt: skip
        if name in ROWS:
            plain = dispatch.variant(name, [row for row in ROWS[name] if row.public], "torch")
        else:
            plain = public_functions.make_asking_function(PUBLIC["", name], name)
        called = binding.unbound(plain, name, "", "", ENTRIES[plain])
        for _ in range(2):
            for args, words in calls:
                assert outcome(called, args, words) == outcome(plain, args, words), (name, args)


def test_modes_and_classes_are_asked_by_entries(entry: Entry) -> None:
    from rushlight.overrides import TorchFunctionMode

    seen: list[str] = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
            seen.append(function.__name__)
            return function(*args, **(kwargs or {}))

    x = torch.ones(3)
    calls = (torch.tanh, torch.positive, torch.sum, torch.diff, torch.unbind)
    for call in calls:
        call(x)
    with Mode():
        for call in calls:
            call(x)
    assert seen == ["tanh", "positive", "sum", "diff", "unbind"]

    class Named(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, function: Any, types: Any, args: Any, kwargs: Any = None
        ) -> Any:
            return function.__name__

    named = x.as_subclass(Named)
    assert [f(named) for f in calls] == seen


def test_views_by_entries_know_their_base_and_their_errors(entry: Entry) -> None:
    x = torch.arange(9.0).reshape(3, 3).requires_grad_()
    base = x * 1
    places = torch.diagonal(base, 1)
    assert places._base is base and places.grad_fn.__class__.__name__ == "DiagonalBackward0"
    assert torch.diagonal(base, offset=-1, dim1=0, dim2=1).tolist() == [3.0, 7.0]
    base.mul_(2)
    places.sum().backward()
    assert x.grad.tolist() == [[0, 2, 0], [0, 0, 2], [0, 0, 0]]
    with torch.no_grad():
        assert torch.diagonal(x)._base is x._base
    with pytest.raises(IndexError):
        torch.diagonal(x, 0, 5, 1)
    with pytest.raises(RuntimeError, match="cannot be identical"):
        torch.diagonal(x, 0, 1, -1)
    with pytest.raises(ValueError, match="Overflow when unpacking"):
        torch.diagonal(x, 1 << 70)
    pieces = torch.unbind(base)
    assert len(pieces) == 3 and all(p._base is base for p in pieces)
    with pytest.raises(RuntimeError, match="view"):
        pieces[0].add_(1)
