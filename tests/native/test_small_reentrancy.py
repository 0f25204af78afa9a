"""Small calls that call again: from conversions, from hashes of types, from the end of objects."""

import gc
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight._table.calls import dispatch
from tests.native.loops import module

Call = Callable[[Any], Any]


@pytest.fixture(scope="module", autouse=True)
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Planned calls by C; the loops are those of the package, if it has any."""
    found = module("calls", tmp_path_factory.mktemp("calls"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "run_plan", found.run_plan)
        yield


def base() -> Any:
    return torch.arange(24.0).reshape(4, 6) / 7 - 1


#: Calls with a whole number in a place where anything with `__index__` may stand.
WITH_INDEX: list[Callable[[Any, Any], Any]] = [
    lambda x, n: x.sum(n), lambda x, n: x.mean(n), lambda x, n: x.amax(n), lambda x, n: x.argmax(n),
    lambda x, n: x.cumsum(n), lambda x, n: x.var(n), lambda x, n: x.sort(n)[0],
    lambda x, n: x.topk(2, n)[0], lambda x, n: x.median(n)[0], lambda x, n: x.softmax(n),
    lambda x, n: x.roll(1, n), lambda x, n: x.unsqueeze(n), lambda x, n: x.select(n, 1),
    lambda x, n: x.select(0, n), lambda x, n: x[n], lambda x, n: x[n, 0], lambda x, n: x[:n],
    lambda x, n: x[::n], lambda x, n: x[None, n],
    lambda x, n: x.index_select(n, torch.tensor([1, 0])),
    lambda x, n: x.gather(n, torch.tensor([[1, 0]])), lambda x, n: x.tril(n),
    lambda x, n: x.flip(n),
    lambda x, n: x.diagonal(n), lambda x, n: x.transpose(n, 0), lambda x, n: torch.cat([x, x], n),
    lambda x, n: torch.stack([x, x], n), lambda x, n: x.sum(dim=n), lambda x, n: x.unbind(n)[0],
    lambda x, n: F.avg_pool2d(x[None], n), lambda x, n: F.max_pool2d(x[None], n),
    lambda x, n: F.one_hot(x.long().abs(), n + 8), lambda x, n: torch.linspace(0, 1, n + 3),
    lambda x, n: torch.full((n, n), 2.5), lambda x, n: torch.eye(n),
    lambda x, n: torch.rand(n, n) > 2,
    lambda x, n: F.group_norm(x, n, eps=1e-5), lambda x, n: F.layer_norm(x, (n + 5,)),
    lambda x, n: x.scatter_add(n, torch.tensor([[1, 0]]), x), lambda x, n: x.view(n, -1),
    lambda x, n: x.index_add(n, torch.tensor([0]), x[:, :1]), lambda x, n: x.repeat(n, 2),
]  # fmt: skip
#: Calls with a number in a place where a tensor of one element may stand.
WITH_FLOAT: list[Callable[[Any, Any], Any]] = [
    lambda x, n: x + n, lambda x, n: n * x, lambda x, n: x.clamp(n), lambda x, n: x.lerp(x, n),
    lambda x, n: torch.addcmul(x, x, x, value=n), lambda x, n: torch.add(x, x, alpha=n),
    lambda x, n: x.masked_fill(x > 0, n), lambda x, n: torch.full((2, 2), n), lambda x, n: x**n,
    lambda x, n: torch.linspace(0, n, 5), lambda x, n: F.leaky_relu(x, n), lambda x, n: x.eq(n),
    lambda x, n: F.batch_norm(x, None, None, None, None, True, n), lambda x, n: F.elu(x, n),
]  # fmt: skip


def outcome(call: Callable[[], Any]) -> Any:
    try:
        found = call()
    except Exception as error:
        return type(error), str(error).split("\n")[0]
    return found.dtype, tuple(found.shape), str(found.tolist())


@pytest.mark.parametrize("place", range(len(WITH_INDEX)))
def test_an_index_that_calls_the_same_function(place: int) -> None:
    call, depth = WITH_INDEX[place], 0
    x = base()

    class Again:
        def __index__(self) -> int:
            nonlocal depth, x
            depth += 1
            if depth < 40:
                inner = outcome(lambda: call(x, 1))
                call_again = outcome(lambda: call(x, self)) if depth < 4 else inner
                assert call_again == inner
            return 1

        def __add__(self, other: int) -> Any:
            return 1 + other

    wanted = outcome(lambda: call(base(), 1))
    found = outcome(lambda: call(x, Again()))
    if depth:  # else it takes no such object, and says so
        assert found == wanted
    assert outcome(lambda: call(x, 1)) == wanted


@pytest.mark.parametrize("place", range(len(WITH_INDEX)))
def test_an_index_that_frees_what_is_used(place: int) -> None:
    call = WITH_INDEX[place]
    held = [base()]

    class Freeing:
        def __index__(self) -> int:
            if held:
                held.pop().set_()  # its memory is given back, but for what the call holds
            gc.collect()
            return 1

        def __add__(self, other: int) -> Any:
            return 1 + other

    found = outcome(lambda: call(held[0], Freeing()))
    assert isinstance(found[0], type) or found[1] is not None
    assert outcome(lambda: call(base(), 1)) == outcome(lambda: call(base(), 1))


@pytest.mark.parametrize("place", range(len(WITH_FLOAT)))
def test_numbers_of_classes_that_call_again(place: int) -> None:
    call, depth = WITH_FLOAT[place], 0
    x = base()

    class Again(float):
        def __float__(self) -> float:
            return again()

        def __mul__(self, other: object) -> Any:
            again()
            return NotImplemented

        __rmul__ = __add__ = __radd__ = __lt__ = __eq__ = __pow__ = __mul__  # type: ignore[assignment]
        __hash__ = float.__hash__

    def again() -> float:
        nonlocal depth
        depth += 1
        if depth < 30:
            outcome(lambda: call(x, Again(0.5)))
        return 0.5

    wanted = outcome(lambda: call(base(), 0.5))
    found = outcome(lambda: call(x, Again(0.5)))
    assert found == wanted
    assert outcome(lambda: call(x, 0.5)) == wanted


@pytest.mark.parametrize("place", range(len(WITH_INDEX)))
def test_subclasses_whose_hook_calls_again(place: int) -> None:
    call, depth = WITH_INDEX[place], 0

    class Hooked(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            nonlocal depth
            depth += 1
            if depth < 6:
                outcome(lambda: call(base().as_subclass(cls), 1))
            return super().__torch_function__(function, types, args, kwargs or {})

    wanted = outcome(lambda: call(base(), 1))
    found = outcome(lambda: call(base().as_subclass(Hooked), 1))
    assert found == wanted


class Nosy(type):
    """A class whose hash is asked for by look-ups of plans, and calls."""

    calls = 0

    def __hash__(cls) -> int:
        Nosy.calls += 1
        if Nosy.calls < 50:
            torch.softmax(base(), 1), base().sum(1)
        return 1

    def __eq__(cls, other: object) -> bool:
        return cls is other


def test_types_whose_hash_calls_the_function_that_looks_them_up() -> None:
    class Number(int, metaclass=Nosy):
        pass

    for call in WITH_INDEX[:10]:
        Nosy.calls = 0
        found = outcome(lambda call=call: call(base(), Number(1)))
        assert found == outcome(lambda call=call: call(base(), 1)) or isinstance(found[0], type)


def test_conversions_that_empty_the_plans() -> None:
    run = dispatch.run_plan
    assert run is not None
    plans: dict[Any, Any] = {}

    class Told:
        def __init__(self, quick: object) -> None:
            self.quick = quick

    def forget(value: Any) -> Any:
        plans.clear()
        gc.collect()
        for one in gc.get_referrers(value):  # lists that nobody else has
            if type(one) is list and value in one:
                one.clear()
        return value

    def note(op: object, values: list[object]) -> object:
        return op, values

    for words in ({}, {"k": "cd"}):
        key: Any = ((str,), ("k",), (str,)) if words else (str,)
        named = ((1, "k"),) if words else ()
        plans[key] = Told((note, object(), (None,), ((0, forget), (1, str)), -1, named))
        with pytest.raises((ValueError, IndexError)):  # the second one has lost its place
            run(plans, ("ab" * 3,), (), words)
        assert not plans


def test_objects_that_end_and_signals_that_come_in_the_middle() -> None:
    class Ending:
        def __init__(self) -> None:
            self.me = self  # so that the collector ends it

        def __del__(self) -> None:
            results.append(work())

    def work() -> list[Any]:
        x = base()
        parts = [x.sum(1), x[None, ::2], x.softmax(1), F.layer_norm(x, (6,)), x.gather(0, at)]
        return [one.tolist() for one in parts]

    at = torch.tensor([[1, 0, 2]])
    results: list[Any] = []
    wanted = work()
    before = gc.get_threshold()
    main = threading.current_thread() is threading.main_thread()
    former = signal.signal(signal.SIGALRM, lambda *_: results.append(work())) if main else None
    try:
        gc.set_threshold(1)
        if main:
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for _ in range(300):
            Ending()
            results.append(work())
    finally:
        gc.set_threshold(*before)
        if main:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, former)
    gc.collect()
    assert len(results) > 300 and all(found == wanted for found in results)


def test_memory_that_is_resized_while_indices_are_read() -> None:
    held = [torch.arange(12.0)]

    class Shrinking:
        def __index__(self) -> int:
            held[0].resize_(2)
            return 1

    n = Shrinking()
    for call in (lambda x: x[n], lambda x: x[n:], lambda x: x.roll(n, 0), lambda x: x.select(0, n)):
        held[0] = torch.arange(12.0)
        found = outcome(lambda call=call: call(held[0]))
        whole = "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]"
        numbers = set(found[2].strip("[]").split(", ")) if len(found) == 3 else set()
        assert numbers <= set(whole.strip("[]").split(", "))


def test_numbers_that_a_recorded_step_has_read_are_followed() -> None:
    for call in (lambda x, n: x.lerp(x + 1, n), lambda x, n: F.leaky_relu(x, n)):

        def step(x: Any, s: Any, call: Any = call) -> Any:
            return call(x * 2, s.item() * 0.5)

        compiled = torch.compile(step)
        for value in (0.25, 0.5, 0.75, 0.125, 0.25):
            s = torch.tensor(value)
            assert torch.equal(compiled(base(), s), step(base(), s)), value


def test_numbers_of_derived_classes_keep_the_type_of_tensors() -> None:
    class Share(float):
        pass

    class Count(int):
        pass

    x = base()
    for number in (Share(0.5), Share(-0.0), Count(2)):
        plain = float(number) if isinstance(number, float) else int(number)
        for call in WITH_FLOAT:
            assert outcome(lambda call=call, n=number: call(x, n)) == outcome(
                lambda call=call, n=plain: call(x, n)
            )
