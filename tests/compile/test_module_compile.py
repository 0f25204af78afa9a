"""`Module.compile()`, the wrapper that `compile(module)` gives, and what `compile` takes."""

import copy
import pickle
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.calls = 0
        self.register_buffer("scale", torch.ones(3) * 2)

    def forward(self, x: Any) -> Any:
        return torch.tanh(self.linear(x)) * self.scale

    def extra(self) -> str:
        return "extra"


def test_compile_of_a_module_has_its_calls_compiled() -> None:
    module, eager = Scaled(), Scaled()
    eager.load_state_dict(module.state_dict())
    assert module.compile(options={"native": False}) is None
    for _ in range(5):
        x = torch.randn(2, 3)
        for m in (module, eager):
            m.zero_grad()
            m(x).sum().backward()
        assert torch.equal(module(x), eager(x))
        for p, q in zip(module.parameters(), eager.parameters()):
            assert torch.equal(p.grad, q.grad)
    compiled: Any = module._compiled_call_impl
    assert compiled.program is not None
    assert list(module.state_dict()) == list(eager.state_dict())


def test_a_compiled_module_trains_inside_of_a_step_that_is_not() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
    eager = copy.deepcopy(module)
    module.compile(options={"native": False})
    rules = [optim.Adam(m.parameters(), lr=0.01) for m in (module, eager)]
    for _ in range(20):
        x, y = torch.randn(4, 3), torch.randn(4, 1)
        for m, rule in zip((module, eager), rules):
            rule.zero_grad()
            ((m(x) - y) ** 2).mean().backward()
            rule.step()
    for p, q in zip(module.state_dict().values(), eager.state_dict().values()):
        assert torch.equal(p, q)


def test_hooks_run_in_compiled_calls_or_keep_them_eager() -> None:
    module = Scaled()
    module.compile()
    seen: list[int] = []
    x = torch.randn(2, 3)
    for _ in range(4):
        module(x)
    handle = module.register_forward_hook(lambda m, args, out: seen.append(1))
    for _ in range(4):
        module(x)
    assert len(seen) == 4
    handle.remove()
    module(x)
    assert len(seen) == 4


def test_copies_and_pickles_of_a_compiled_module_are_not_compiled() -> None:
    module = nn.Linear(2, 2)
    module.compile()
    module(torch.ones(1, 2))
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert other._compiled_call_impl is None
        assert torch.equal(other(torch.ones(1, 2)), module(torch.ones(1, 2)))


def test_an_inner_module_may_be_compiled_on_its_own_within_a_compiled_step() -> None:
    inner = nn.Linear(2, 2)
    inner.compile(options={"native": False})
    model = nn.Sequential(inner, nn.Tanh())

    @torch.compile(options={"native": False})
    def step(x: Any) -> Any:
        return model(x).sum()

    for _ in range(5):
        x = torch.randn(3, 2)
        assert torch.equal(step(x), torch.tanh(inner(x)).sum())
    assert step.program is not None, step.explain()


def test_the_wrapper_shows_what_the_module_within_has() -> None:
    module = Scaled()
    wrapper: Any = torch.compile(module)
    assert isinstance(wrapper, nn.Module)
    assert not isinstance(wrapper, Scaled)
    assert list(wrapper.state_dict()) == [f"_orig_mod.{k}" for k in module.state_dict()]
    assert [n for n, _ in wrapper.named_modules()] == ["", "_orig_mod", "_orig_mod.linear"]
    assert wrapper.extra() == "extra"
    wrapper.calls = 5
    assert module.calls == 5
    assert "calls" not in wrapper.__dict__
    wrapper.added = nn.Linear(1, 1)
    assert [n for n, _ in module.named_children()] == ["linear", "added"]
    assert wrapper.eval() is wrapper
    assert not module.training
    wrapper.train()
    assert module.training
    wrapper.training = False
    assert not module.training
    assert wrapper.linear.weight is module.linear.weight


def test_hooks_of_the_wrapper_are_its_own() -> None:
    module = Scaled()
    wrapper: Any = torch.compile(module)
    seen: list[str] = []
    wrapper.register_forward_hook(lambda m, args, out: seen.append(type(m).__name__))
    wrapper(torch.ones(1, 3))
    module(torch.ones(1, 3))
    assert seen == ["OptimizedModule"]
    assert not module._forward_hooks


def test_a_copy_of_the_wrapper_has_parameters_of_its_own() -> None:
    wrapper: Any = torch.compile(Scaled())
    x = torch.ones(1, 3)
    for _ in range(3):
        wrapper(x)
    other = copy.deepcopy(wrapper)
    assert type(other) is type(wrapper)
    assert other.linear.weight is not wrapper.linear.weight
    with torch.no_grad():
        other.linear.weight.zero_()
    assert not torch.equal(other(x), wrapper(x))


@torch.compile
def doubled(x: Any) -> Any:
    """Twice as much."""
    return x * 2


def test_a_decorated_function_stays_itself() -> None:
    assert doubled.__name__ == "doubled"
    assert doubled.__doc__ == "Twice as much."
    assert pickle.loads(pickle.dumps(doubled)) is doubled


def test_methods_class_methods_and_static_methods_are_compiled() -> None:
    class Layer:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        @torch.compile(options={"native": False})
        def forward(self, x: Any, n: int = 1) -> Any:
            return x * self.scale * n

        @staticmethod
        @torch.compile
        def twice(x: Any) -> Any:
            return x * 2

        @classmethod
        @torch.compile
        def named(cls, x: Any) -> Any:
            return x + len(cls.__name__)

    a, b = Layer(2.0), Layer(3.0)
    x = torch.ones(2)
    for _ in range(4):
        assert a.forward(x, n=2).tolist() == [4.0, 4.0]
        assert b.forward(x).tolist() == [3.0, 3.0]
        assert Layer.twice(x).tolist() == [2.0, 2.0]
        assert a.named(x).tolist() == [6.0, 6.0]
    assert a.forward.__self__ is a
    assert a.forward.__name__ == "forward"
    a.scale = 5.0
    assert a.forward(x).tolist() == [5.0, 5.0]


def test_compiled_functions_call_each_other() -> None:
    inner = torch.compile(lambda x: x.sin(), options={"native": False})

    @torch.compile(options={"native": False})
    def outer(x: Any) -> Any:
        return inner(x) + inner(x * 2)

    x = torch.randn(4)
    for _ in range(5):
        assert torch.equal(outer(x), x.sin() + (x * 2).sin())
        assert torch.equal(inner(x), x.sin())
    assert outer.program is not None, outer.explain()
    assert len(outer.variants) == 1


def test_compiling_within_a_compiled_step_works() -> None:
    @torch.compile
    def outer(x: Any) -> Any:
        return torch.compile(torch.relu)(x) + 1

    for _ in range(5):
        assert outer(torch.tensor([-1.0, 1.0])).tolist() == [1.0, 2.0]


def test_modes_backends_and_options_that_nobody_knows_are_refused() -> None:
    def f(x: Any) -> Any:
        return x + 1

    for mode in ("default", "lite", "reduce-overhead", "max-autotune"):
        assert torch.compile(f, mode=mode)(torch.ones(1)).item() == 2
    for backend in ("inductor", "eager", "aot_eager"):
        assert torch.compile(f, backend=backend)(torch.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="Unrecognized mode=nope, should be one of: default"):
        torch.compile(f, mode="nope")
    with pytest.raises(RuntimeError, match="Either mode or options can be specified"):
        torch.compile(f, mode="default", options={})
    with pytest.raises(torch._dynamo.exc.InvalidBackend, match="Invalid backend: 'nope'"):
        torch.compile(f, backend="nope")
    with pytest.raises(AssertionError, match="A callable function is expected"):
        torch.compile(3)
    assert torch.compile(f, disable=True) is f


def test_the_eager_backend_gives_an_eager_runs_digits() -> None:
    def f(x: Any) -> Any:
        return torch.softmax(torch.tanh(x) * 3 + x.exp(), -1)

    compiled = torch.compile(f, backend="eager")
    x = torch.randn(5, 33)
    for _ in range(4):
        assert torch.equal(compiled(x), f(x))
    assert compiled.program is not None
    assert "replayed by NumPy" in compiled.explain()


def test_a_stance_has_steps_run_eagerly_or_fail_where_they_would_be_recorded() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1) if torch.compiler.is_compiling() else None
        return x * 2

    def g(x: Any) -> Any:
        return x * 2

    compiled = torch.compile(g)
    for _ in range(3):
        compiled(torch.ones(2))
    assert compiled.calls["eager"] == 0
    with torch.compiler.set_stance("force_eager"):
        assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]
        assert compiled.calls["eager"] == 1
        torch.compile(f)(torch.ones(2))
        assert not calls
    with torch.compiler.set_stance("fail_on_recompile"):
        assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match="fail_on_recompile"):
            compiled(torch.ones(3))
    with torch.compiler.set_stance("eager_on_recompile"):
        assert compiled(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
        assert len(compiled.variants) == 1
    assert compiled(torch.ones(2)).tolist() == [2.0, 2.0]
    assert compiled.calls["eager"] == 2


def test_compiled_parts_of_a_step_that_stays_eager_stay_compiled() -> None:
    losses: list[float] = []
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    model.compile(options={"native": False})
    rule = optim.SGD(model.parameters(), lr=0.1)

    @torch.compile
    def update() -> None:
        rule.step()
        rule.zero_grad()

    @torch.compile
    def step(x: Any) -> Any:
        loss = model(x).pow(2).mean()
        loss.backward()
        update()
        losses.append(loss.item())
        return loss if losses else None

    for _ in range(12):
        step(torch.ones(2, 3))
    assert step.program is None
    assert "losses" in step.explain()
    assert len(losses) == 12
    assert losses[-1] < losses[0]
    compiled: Any = model._compiled_call_impl
    assert compiled.program is not None, compiled.explain()
    assert update.program is not None, update.explain()


@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
def test_a_leaf_that_refuses_its_gradient_stops_the_same_others(native: bool) -> None:
    def left(compiled: bool, first: bool) -> tuple[str, list[bool]]:
        x, y, leaf = (torch.ones(3, requires_grad=True) for _ in range(3))

        def step(x: Any, y: Any) -> Any:
            total = leaf.sum() if first else x.sum()
            return total * 2 + y.exp().sum() + (x.sum() if first else leaf.sum())

        run = torch.compile(step, options={"native": native}) if compiled else step
        for _ in range(4):
            run(x, y).backward()
        for t in (x, y):
            t.grad = None
        leaf.grad = torch.ones(3)
        leaf.data = torch.ones(5)
        for _ in range(4):
            result = run(x, y)
        with pytest.raises(RuntimeError) as caught:
            result.backward()
        return str(caught.value), [t.grad is None for t in (x, y)]

    for first in (False, True):
        assert left(True, first) == left(False, first)
