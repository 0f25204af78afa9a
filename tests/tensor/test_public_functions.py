"""Functions that users call are the same before and after somebody wants to be asked about them."""

import copy
import inspect
import pickle
import subprocess
import sys
from typing import Any

import pytest

import rushlight as torch
from rushlight._native.ufunc_loops import ENTRY
from rushlight.nn import functional as F

EARLY = """
import inspect, pickle, sys
import rushlight as torch
from rushlight import add, cat, full_like, stack, tensor, unbind, zeros
from rushlight.nn import functional as F
from rushlight.nn.functional import cross_entropy, linear, relu

FUNCTIONS = {"cat": cat, "stack": stack, "add": add, "zeros": zeros, "full_like": full_like,
             "tensor": tensor, "unbind": unbind}
METHODS = {name: getattr(torch.Tensor, name) for name in
           ("reshape", "contiguous", "float", "detach", "item", "backward", "add", "__getitem__")}
assert "rushlight.overrides" not in sys.modules
assert "rushlight._tensor.dispatch_modes" not in sys.modules
"""
LOAD = """
import rushlight.overrides
from rushlight.utils._python_dispatch import TorchDispatchMode
with torch.autocast("cpu"):
    pass
torch.compile(lambda x: x + 1)(torch.ones(2))
"""
USES = {
    "mode": """
class Log(torch.overrides.TorchFunctionMode):
    def __init__(self): self.seen = []
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func)
        return func(*args, **(kwargs or {}))
x = torch.ones(2, 2, requires_grad=True)
with Log() as log:
    cat([x, x]); stack([x, x]); add(x, x); zeros(2); full_like(x, 1); tensor([1.0]); unbind(x)
    linear(x, x); cross_entropy(x, torch.tensor([0, 1])); relu(x)
    x.reshape(4); x.contiguous(); x.float(); x.detach(); x.sum().item(); x.sum().backward(); x[0]
print([f.__name__ for f in log.seen])
print(all(any(f is g for g in log.seen) for f in (*FUNCTIONS.values(), linear, cross_entropy)))
""",
    "subclass": """
class Mine(torch.Tensor):
    seen = []
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func)
        return super().__torch_function__(func, types, args, kwargs or {})
m = torch.ones(2, 2).as_subclass(Mine)
Mine.seen.clear()
cat([m, m]); stack([m, m]); add(m, m); full_like(m, 1); unbind(m); linear(m, m)
m.reshape(4); m.contiguous(); m.float(); m.detach(); m.sum().item(); m[0]
print([f.__name__ for f in Mine.seen])
print(all(any(f is g for g in Mine.seen) for f in (cat, stack, full_like, unbind, linear)))
""",
    "another class": """
HANDLED = {cat: "cat", stack: "stack", linear: "linear", full_like: "like", relu: "relu"}
class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return HANDLED[func]
d = Duck()
print(cat([d]), stack([torch.ones(1), d]), linear(d, d), full_like(d, 1), relu(d), relu(d))
""",
    "dispatch": """
from rushlight.utils._python_dispatch import TorchDispatchMode
class Log(TorchDispatchMode):
    seen = []
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))
with Log():
    x = zeros(2); full_like(x, 1); tensor([1.0]); x.detach(); x.sum().item()
    torch.nn.Linear(2, 2)
print(Log.seen)
""",
    "autocast": """
with torch.autocast("cpu"):
    print(cross_entropy(torch.ones(2, 2).bfloat16(), torch.tensor([0, 1])).dtype,
          F.l1_loss(torch.ones(2).half(), torch.ones(2).half()).dtype)
""",
    "pickle": """
print([pickle.loads(pickle.dumps(f)) is f is getattr(torch, f.__name__)
       for f in FUNCTIONS.values()])
print([pickle.loads(pickle.dumps(f)) is f is getattr(F, f.__name__)
       for f in (linear, relu, cross_entropy)])
print([getattr(torch.Tensor, name) is f for name, f in METHODS.items()])
""",
    "signature": """
print([str(inspect.signature(f)) for f in (relu, *METHODS.values())])
print([f.__module__ for f in (*FUNCTIONS.values(), linear, relu)])
""",
}


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.parametrize("use", USES)
def test_what_was_imported_early_behaves_as_what_was_imported_late(use: str) -> None:
    early = run(EARLY + LOAD + USES[use])
    late = run(
        "import rushlight as torch\n" + LOAD + EARLY.split("assert", maxsplit=1)[0] + USES[use]
    )
    assert early == late
    assert "False" not in early or use == "signature"


@pytest.mark.parametrize("use", ["another class", "dispatch", "autocast", "subclass"])
def test_nothing_need_be_loaded_for_it(use: str) -> None:
    assert run(EARLY + USES[use]) == run(EARLY + LOAD + USES[use])


def test_a_function_of_operations_shows_the_signature_that_it_has() -> None:
    assert list(inspect.signature(F.embedding).parameters)[:2] == ["input", "weight"]


@pytest.mark.parametrize("function", [torch.cat, torch.zeros, torch.tensor, F.relu, F.linear])
def test_a_pickle_finds_the_function(function: Any) -> None:
    assert pickle.loads(pickle.dumps(function)) is function


@pytest.mark.parametrize("function", [torch.zeros, torch.cat, F.linear, torch.Tensor.reshape])
def test_misuse_is_the_same_error_as_ever(function: Any) -> None:
    with pytest.raises(TypeError):
        function("text", "text")


@pytest.mark.parametrize("name", ["silu", "mish", "relu", "hardswish", "hardsigmoid"])
def test_a_mode_sees_an_activation_with_its_flag_and_nothing_of_its_inside(name: str) -> None:
    seen: list[Any] = []

    class Log(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append((func.__name__, kwargs))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Log():
        getattr(F, name)(x)
    assert seen == [(name, {"inplace": False})]


def test_what_asks_by_itself_is_asked_once_and_refuses_what_is_no_tensor() -> None:
    seen: list[str] = []

    class Log(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, 2)
    with Log(), Log():
        torch.reshape(x, (4,))
        x.reshape(4)
        torch.cat([x, x])
    assert seen == ["reshape"] * 4 + ["cat"] * 2
    with pytest.raises(TypeError, match=r"reshape\(\): argument 'input' \(position 1\) must be"):
        torch.reshape(5, (1,))


def test_a_class_does_not_bind_a_function_that_is_compiled_in_pytorch() -> None:
    class Ops:
        flatten, inv, gelu, relu = torch.flatten, torch.linalg.inv, F.gelu, F.relu

    x = torch.eye(2)
    assert Ops().flatten(x).shape == (4,)
    assert Ops().inv(x).tolist() == x.tolist()
    assert Ops().gelu(x).shape == (2, 2)
    assert isinstance(Ops().relu.__self__, Ops)  # Python's in PyTorch too


def test_a_function_looks_like_a_builtin_and_is_pickled_by_its_name() -> None:
    function = torch.flatten
    assert repr(function).startswith("<built-in method flatten of ")
    assert inspect.isbuiltin(function) and function.__name__ == "flatten"
    assert not hasattr(function, "__code__") and function.__doc__.startswith("The tensor with")
    assert torch.linalg.inv.__name__ == "linalg_inv"
    for f in (function, torch.linalg.inv, torch.fft.fft, torch.special.erf, F.gelu, len, [].append):
        assert pickle.loads(pickle.dumps(f)) == f or f.__self__ == []
        assert copy.deepcopy(f) is f


def test_a_builtin_is_printed_as_a_method_of_a_type_where_the_core_is_compiled() -> None:
    for function, name in (
        (torch.flatten, "flatten"),
        (torch.add, "add"),
        (torch.zeros, "zeros"),
        (torch.linalg.det, "linalg_det"),
    ):
        owner = "function" if ENTRY is None else "type"
        assert str(function).startswith(f"<built-in method {name} of {owner} object at 0x")
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function


def test_a_view_taken_where_nothing_is_recorded_warns_as_a_number() -> None:
    torch.set_warn_always(True)
    try:
        whole = torch.ones(2, requires_grad=True) * 1
        with torch.no_grad():
            part = whole[0]
        with pytest.warns(UserWarning, match="requires_grad=True to a scalar"):
            float(part)
    finally:
        torch.set_warn_always(False)


def test_a_copy_to_the_same_type_is_a_conversion() -> None:
    x = torch.ones(2, requires_grad=True)
    assert x.to(torch.float32, copy=True).grad_fn.name() == "ToCopyBackward0"


IMPORTED = """
import rushlight as torch
from rushlight._core.mode import ALERTED
import rushlight.distributed.tensor
assert not ALERTED
torch.ones(2) + 1
with torch.autocast("cpu"):
    pass
assert len(ALERTED) == 1 and not ALERTED[0]()
with torch.inference_mode():
    assert not ALERTED[0]()
with torch.autocast("cpu"):
    assert ALERTED[0]()
"""
DECLARED = """
from rushlight.utils._pytree import tree_map
class Mine(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return "mine"
assert ALERTED[0]()
"""
UNPICKLED = """
import pickle
from rushlight.distributed.tensor import DTensor
from rushlight._tensor.copies import rebuilt_over
assert not ALERTED[0]()
rebuilt_over(DTensor, torch.ones(2)._raw, False)
assert ALERTED[0]()
"""


@pytest.mark.parametrize("then", [DECLARED, UNPICKLED])
def test_who_is_not_on_any_more_or_only_imported_is_not_asked(then: str) -> None:
    run(IMPORTED + then)


def test_keywords_that_were_fine_once_are_still_looked_at() -> None:
    x = torch.randn(2, 3)
    for _ in range(3):
        assert F.softmax(x, dim=1).shape == (2, 3)
        assert torch.full((2,), 1.0, dtype=torch.float64).dtype is torch.float64
        assert torch.zeros(2, pin_memory=False).shape == (2,)
    with pytest.raises(IndexError, match="Dimension out of range"):
        F.softmax(x, dim=2)
    with pytest.raises(TypeError, match="softmax"):
        F.softmax(x, dim="1")
    with pytest.raises(TypeError, match="dims"):
        F.softmax(x, dims=1)
    with pytest.raises(TypeError, match="full"):
        torch.full((2.0,), 1.0, dtype=torch.float64)
    with pytest.raises(TypeError, match="full"):
        torch.full((x,), 1.0, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="negative dimension"):
        torch.full((-2,), 1.0, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="pin"):
        torch.zeros(2, pin_memory=True)
    out = torch.empty(3)
    assert torch.zeros(3, out=out) is out and torch.zeros(3, out=out) is out
    with pytest.raises(RuntimeError, match="out"):
        torch.zeros(3, out=torch.empty(3, requires_grad=True))

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return "mine"

    assert F.softmax(x.as_subclass(Mine), dim=1) == "mine"

    class Log(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func.__name__, kwargs["dim"]

    with Log():
        assert F.softmax(x, dim=1) == ("softmax", 1)
