"""Function modes, and classes that answer for functions of tensors."""

import importlib
import operator

import torch
from observation import near, outcome

# By the name of the module that stands for torch: submodules are loaded once.
_overrides = importlib.import_module(f"{torch.__name__}.overrides")
BaseTorchFunctionMode = _overrides.BaseTorchFunctionMode
TorchFunctionMode = _overrides.TorchFunctionMode
get_overridable_functions = _overrides.get_overridable_functions
handle_torch_function = _overrides.handle_torch_function
has_torch_function = _overrides.has_torch_function
is_tensor_like = _overrides.is_tensor_like
resolve_name = _overrides.resolve_name
wrap_torch_function = _overrides.wrap_torch_function


class _Log(TorchFunctionMode):
    def __init__(self, name="mode"):
        super().__init__()
        self.name = name

    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(self.name, func.__name__, len(args), sorted(kwargs or {}))
        return func(*args, **(kwargs or {}))


class _Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("duck", func.__name__, [t.__name__ for t in types])
        return "handled"


def a_mode_sees_functions() -> None:
    x = torch.ones(2, 3)
    with _Log():
        torch.add(x, x)
        x + 1
        x.sum()
        torch.zeros(2)
        torch.cat([x, x])
        torch.nn.functional.linear(x, torch.ones(4, 3))
        x.clone().add_(1)


def the_inner_mode_is_asked_first() -> None:
    with _Log("outer"), _Log("inner"):
        torch.exp(torch.zeros(1).detach())


def a_mode_may_answer_with_another_function() -> None:
    class Swap(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is torch.add:
                return torch.sub(*args)
            return func(*args, **(kwargs or {}))

    with Swap():
        print(near(torch.add(torch.ones(1), torch.ones(1) * 3)))


def modes_and_subclasses() -> None:
    class Sub(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            print("subclass", func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    s = torch.ones(2).as_subclass(Sub)
    with _Log():
        print(type(torch.exp(s)).__name__)


def a_mode_that_refuses() -> None:
    class Refuse(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

        def __repr__(self):
            return "Refuse()"

    x = torch.ones(2)
    with Refuse():
        outcome(torch.exp, x)


def a_mode_that_changes_nothing() -> None:
    with BaseTorchFunctionMode():
        print(near(torch.exp(torch.zeros(2))))


def other_classes_answer_for_functions() -> None:
    d, x = _Duck(), torch.ones(2)
    print(torch.exp(d), torch.add(x, d), torch.mean(d), torch.sum(d, dim=0))
    print(torch.cat([x, d]), torch.matmul(d, x), x + d, x.add(d), torch.stack([d]))


def a_class_that_refuses() -> None:
    class Refuse:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    try:
        torch.exp(Refuse())
    except TypeError as error:
        print(str(error).splitlines()[0])


def own_functions_can_ask() -> None:
    def mine(a, b=1):
        if has_torch_function((a,)):
            return handle_torch_function(mine, (a,), a, b=b)
        return "plain"

    print(mine(_Duck()), mine(torch.ones(1)), mine(3))

    @wrap_torch_function(lambda a: (a,))
    def wrapped(a):
        return "plain"

    print(wrapped(_Duck()), wrapped(torch.ones(1)))


def questions_about_objects() -> None:
    d, x = _Duck(), torch.ones(1)
    print(has_torch_function([d]), has_torch_function([x]), has_torch_function([x, d]))
    print(is_tensor_like(d), is_tensor_like(x), is_tensor_like(5))
    print(resolve_name(torch.add), resolve_name(torch.nn.functional.relu), resolve_name(5))
    functions = get_overridable_functions()
    print(torch.add in functions[torch], torch.zeros in functions[torch])


def _pairs(x, y):
    return [(x, y), (y, x), (x, 2), (2, x), (x, x)]


def operators_ask_with_methods() -> None:
    class Sub(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            kinds = [type(a).__name__ for a in args]
            print(func.__name__, [t.__name__ for t in types], kinds, kwargs)
            return super().__torch_function__(func, types, args, kwargs or {})

    signs = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift ne lt le gt ge"
    for sign in signs.split():
        print(sign)
        x, y = torch.ones(2, 2, dtype=torch.int64).as_subclass(Sub), torch.ones(2, 2).long()
        for left, right in _pairs(x, y)[: 5 if sign != "matmul" else 2]:
            getattr(operator, sign)(left, right)
    for sign in "iadd isub imul ifloordiv imod ipow iand ior ixor ilshift irshift".split():
        print(sign)
        x, y = torch.ones(2, 2, dtype=torch.int64).as_subclass(Sub), torch.ones(2, 2).long()
        for left, right in _pairs(x, y)[:3]:
            getattr(operator, sign)(left, right)
            x.fill_(1), y.fill_(1)
    -x, ~x, abs(x), x.sum(0, keepdim=True), x.add(y, alpha=2), x.float().exp_()


def a_mode_hears_of_operators() -> None:
    x = torch.ones(2, 2)
    with _Log():
        2 - x, 2 / x, x**2, x // 2, x @ x, x.add(1), x.mul_(2), x == x
