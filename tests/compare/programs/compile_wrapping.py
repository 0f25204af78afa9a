"""`torch.compile` around functions, methods and modules, and `Module.compile()`."""

import copy
import pickle

import torch
from torch import nn

EAGER = {"backend": "eager"}


class _Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.calls = 0
        self.register_buffer("scale", torch.ones(2) * 2)

    def forward(self, x):
        return self.linear(x) * self.scale

    def extra(self):
        return "extra"


def names_of_a_compiled_module() -> None:
    wrapper = torch.compile(_Scaled(), **EAGER)
    print(type(wrapper).__name__, isinstance(wrapper, nn.Module), isinstance(wrapper, _Scaled))
    print(list(wrapper.state_dict()))
    print([n for n, _ in wrapper.named_parameters()], [n for n, _ in wrapper.named_buffers()])
    print([n for n, _ in wrapper.named_modules()], [n for n, _ in wrapper.named_children()])
    print(repr(wrapper))


def attributes_of_a_compiled_module() -> None:
    module = _Scaled()
    wrapper = torch.compile(module, **EAGER)
    print(wrapper.extra(), wrapper.calls)
    wrapper.calls = 5
    print(module.calls, "calls" in wrapper.__dict__)
    wrapper.added = nn.Linear(1, 1)
    print([n for n, _ in module.named_children()])
    print(wrapper.linear.weight is module.linear.weight, wrapper._orig_mod is module)
    print(wrapper.training, wrapper.eval() is wrapper, module.training, wrapper.train().training)
    wrapper.requires_grad_(False)
    print([p.requires_grad for p in module.parameters()])
    print(wrapper.double().linear.weight.dtype, module.scale.dtype)


def hooks_of_a_compiled_module() -> None:
    module = _Scaled()
    wrapper = torch.compile(module, **EAGER)
    wrapper.register_forward_hook(lambda m, args, out: print("hook of", type(m).__name__))
    wrapper(torch.ones(1, 2))
    module(torch.ones(1, 2))
    print(len(module._forward_hooks), len(wrapper._forward_hooks))


def copies_of_a_compiled_module() -> None:
    wrapper = torch.compile(_Scaled(), **EAGER)
    other = copy.deepcopy(wrapper)
    print(type(other).__name__, other._orig_mod is wrapper._orig_mod)
    print(other.linear.weight is wrapper.linear.weight, other(torch.ones(1, 2)).shape)


def states_go_between_wrapped_and_bare() -> None:
    wrapper = torch.compile(_Scaled(), **EAGER)
    bare = _Scaled()
    state = {k.removeprefix("_orig_mod."): v for k, v in wrapper.state_dict().items()}
    print(bare.load_state_dict(state))
    try:
        bare.load_state_dict(wrapper.state_dict())
    except RuntimeError as error:
        print(str(error).splitlines()[1].strip())


def a_module_compiled_in_place() -> None:
    module = _Scaled()
    print(module.compile(**EAGER), module._compiled_call_impl is not None)
    print(module(torch.ones(1, 2)).shape, list(module.state_dict()))
    print(copy.deepcopy(module)._compiled_call_impl)
    print(pickle.loads(pickle.dumps(module.linear))._compiled_call_impl)


def decorated_functions() -> None:
    @torch.compile(backend="eager")
    def doubled(x):
        "Twice as much."
        return x * 2

    print(doubled.__name__, doubled.__doc__, doubled(torch.ones(1)))
    plain = lambda x: x + 1  # noqa: E731
    print(torch.compile(plain, disable=True) is plain)
    print(torch.compile(disable=True)(plain) is plain)


def decorated_methods() -> None:
    class Layer:
        @torch.compile(backend="eager")
        def scaled(self, x, n=1):
            return x * n

        @staticmethod
        @torch.compile(backend="eager")
        def same(x):
            return x + 0

        @classmethod
        @torch.compile(backend="eager")
        def named(cls, x):
            return x + len(cls.__name__)

    layer = Layer()
    print(layer.scaled(torch.ones(1), n=3), Layer.same(torch.ones(1)), layer.named(torch.ones(1)))
    print(layer.scaled.__name__, layer.scaled.__self__ is layer)


def what_compile_refuses() -> None:
    plain = lambda x: x + 1  # noqa: E731
    for options in ({"mode": "nope"}, {"mode": "default", "options": {}}, {"backend": "nope"}):
        try:
            torch.compile(plain, **options)(torch.ones(1))
        except RuntimeError as error:
            print(type(error).__name__, error)
    for options in ({"dynamic": "yes"},):
        try:
            torch.compile(plain, **options)
        except AssertionError as error:
            print(error)
    try:
        torch.compile(3)
    except AssertionError as error:
        print(error)


def branches_and_numbers() -> None:
    @torch.compile(backend="eager")
    def step(x, rate, state):
        state["steps"] += 1
        if x.sum().item() > 1:
            x = x / x.norm()
        return x * rate + state["steps"]

    state = {"steps": 0}
    for k in range(12):
        print(step(torch.arange(3.0) * (k % 3), 0.1 * k, state), state)
