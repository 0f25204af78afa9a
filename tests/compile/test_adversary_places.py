"""Places outside of itself that a step can read: each is changed between two calls.

A case is the code that prepares it, the step as an expression of its argument `x`, and the changes.
After each of them eager and compiled agree: the place is watched, or the step isn't compiled.
"""

import builtins
import itertools
import math
import os
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, optim
from rushlight.nn import functional as F
from tests.attack.written import PRELUDE

Case = tuple[str, str, list[str]]

CONTAINERS: dict[str, Case] = {
    "a mapping behind a proxy": (
        "d = {'a': 2.0}; m = types.MappingProxyType(d)", "x * m['a'] * len(m)",
        ["d['a'] = 3.0", "d['b'] = 1"]),
    "a view of a dictionary": (
        "d = {'a': 2.0}; v = d.values(); k = d.keys()", "x * sum(v) * len(k)",
        ["d['b'] = 3.0", "d['b'] = 4.0"]),
    "a view of memory": ("b = bytearray(b'abc'); m = memoryview(b)", "x * m[0]", ["b[0] = 3"]),
    "bytes": ("b = bytearray(b'abc')", "x * b[0] * len(b)", ["b[0] = 3", "b.append(3)"]),
    "bytes of a subclass": (
        "class B(bytearray): pass\nb = B(b'abc')", "x * b[0]", ["b[0] = 3"]),
    "an array of Python's": ("a = array.array('d', [1.0, 2.0])", "x * a[0]", ["a[0] = 5.0"]),
    "a queue with two ends": (
        "d = collections.deque([2.0])", "x * d[0] * len(d)", ["d[0] = 3.0", "d.append(4)"]),
    "an order": (
        "d = collections.OrderedDict(a=2.0, b=3.0)", "x * list(d.values())[0]",
        ["d.move_to_end('a')"]),
    "a factory": (
        "d = collections.defaultdict(lambda: 2.0); d['a'] = 1.0",
        "x * d['a'] * (2 if d.default_factory is None else 1)", ["d.default_factory = None"]),
    "a chain": (
        "a = {'k': 2.0}; b = {'k': 5.0, 'l': 3.0}; c = collections.ChainMap(a, b)",
        "x * c['k'] * c['l']",
        ["a['k'] = 3.0", "a['l'] = 3.5", "c.maps.insert(0, {'k': 8.0})"]),
    "counts": (
        "c = collections.Counter('aab')", "x * c['a'] * (1 + c['z'])",
        ["c['a'] += 1", "c['z'] += 1"]),
    "the order of a set": (
        "s = {8, 16}", "x * list(s)[0]",
        ["s.clear(); s.add(16); s.add(8)", "s.clear(); s.update([24, 0])"]),
    "numbers in a set": (
        "s = {1}", "torch.ones(2, dtype=torch.int64) * list(s)[0]", ["s.clear(); s.add(1.0)"]),
    "the only key": (
        "d = {1: 2.0}", "torch.ones(2, dtype=torch.int64) * list(d)[0]",
        ["d.clear(); d[1.0] = 2.0"]),
    "the first key": (
        "d = {1: 2.0, 2: 3.0}", "torch.ones(2, dtype=torch.int64) * list(d)[0]",
        ["d.clear(); d[1.0] = 2.0; d[2] = 3.0"]),
    "a frozen set": (
        "h = thing(s=frozenset([1]))", "x * (2 if 3 in h.s else 1)", ["h.s = frozenset([1, 3])"]),
    "a method of a list": ("l = [1.0, 2.0]; c = l.count", "x * (1 + c(1.0))", ["l.append(1.0)"]),
    "a method of a dictionary": (
        "d = {'a': 2.0}; g = d.get", "x * g('a', 1.0) * g('b', 1.0)", ["d['b'] = 3.0"]),
    "weak keys": (
        "d = weakref.WeakKeyDictionary(); k = Thing(); d[k] = 2.0", "x * d[k]", ["d[k] = 3.0"]),
    "a weak set": (
        "d = weakref.WeakSet(); k = Thing(); l = Thing(); d.add(k)", "x * len(d)", ["d.add(l)"]),
    "a queue": ("q = queue.Queue(); q.put(1)", "x * q.qsize()", ["q.put(2)"]),
    "a simple queue": ("q = queue.SimpleQueue(); q.put(1)", "x * q.qsize()", ["q.put(2)"]),
    "a number of C's": ("a = ctypes.c_double(2.0)", "x * a.value", ["a.value = 5.0"]),
    "a structure of C's": (
        "class P(ctypes.Structure): _fields_ = [('a', ctypes.c_double)]\na = P(2.0)", "x * a.a",
        ["a.a = 5.0"]),
    "an array of C's": ("a = (ctypes.c_double * 2)(2.0, 3.0)", "x * a[0]", ["a[0] = 5.0"]),
    "an array": ("a = np.ones(3, dtype=np.float32)", "x * float(a[0])", ["a[0] = 4"]),
    "a large array": ("a = np.ones(30000, dtype=np.float32)", "x * float(a[0])", ["a[0] = 4"]),
    "an array of objects": (
        "h = thing(k=2.0); a = np.array([[1.0]], dtype=object); a[0, 0] = h", "x * a[0, 0].k",
        ["h.k = 4.0"]),
    "strides of an array": (
        "a = np.arange(4.0, dtype=np.float32).reshape(2, 2)", "x * a.strides[0]",
        ["a = a.T"]),
    "an attribute of an array": (
        "class A(np.ndarray): pass\na = np.ones(2).view(A); a.k = 2.0", "x * a.k", ["a.k = 3.0"]),
    "a number of NumPy's": ("h = thing(k=np.float64(2))", "x * h.k", ["h.k = np.float64(3)"]),
}  # fmt: skip
CLASSES: dict[str, Case] = {
    "a base": (
        "class A: k = 2.0\nclass B: k = 3.0\nclass C(A): pass", "x * C.__bases__[0].k",
        ["C.__bases__ = (B,)"]),
    "the order of bases": (
        "class A: k = 2.0\nclass B: k = 3.0\nclass C(A): pass", "x * C.__mro__[1].k * C.k",
        ["C.__bases__ = (B,)"]),
    "the subclasses": (
        "class A: pass", "x * (1 + len(A.__subclasses__()))", ["class B(A): pass"]),
    "the name of a class": (
        "class A: pass\na = A()", "x * len(type(a).__name__)", ["A.__name__ = 'abcdef'"]),
    "the text of a class": (
        "class A: pass", "x * (2 if A.__doc__ else 1)", ["A.__doc__ = 'abc'"]),
    "the qualified name of a class": (
        "class A: pass\na = A()", "x * (2 if type(a).__qualname__ == 'Z' else 1)",
        ["A.__qualname__ = 'Z'"]),
    "a class registered": (
        "class I(abc.ABC): pass\na = Thing()", "x * (2 if isinstance(a, I) else 1)",
        ["I.register(Thing)"]),
    "a class registered as a mapping": (
        "a = Thing()", "x * (2 if isinstance(a, collections.abc.Mapping) else 1)",
        ["collections.abc.Mapping.register(Thing)"]),
    "a class registered, by a pattern": (
        "class I(abc.ABC): pass\na = Thing()\n"
        "def step(x):\n    match a:\n        case I(): return x * 2\n    return x", "step(x)",
        ["I.register(Thing)"]),
    "a check of kinds": (
        "class M(type): pass\nclass I(metaclass=M): pass\na = Thing()",
        "x * (2 if isinstance(a, I) else 1)", ["M.__instancecheck__ = lambda c, o: True"]),
    "truth": ("a = Thing()", "x * (2 if a else 1)", ["Thing.__bool__ = lambda s: False"]),
    "equality": (
        "a = Thing(); b = Thing()", "x * (2 if a == b else 1)",
        ["Thing.__eq__ = lambda s, o: True"]),
    "a length": (
        "a = Thing()\ndef step(x):\n    try: return x * len(a)\n    except TypeError: return x",
        "step(x)", ["Thing.__len__ = lambda s: 4"]),
    "a descriptor": (
        "class D:\n    k = 2.0\n    def __get__(self, o, c): return self.k\n"
        "d = D()\nclass A: v = d\na = A()", "x * a.v", ["d.k = 3.0"]),
    "a property of a metaclass": (
        "class M(type):\n    @property\n    def v(c): return c.k\n"
        "class A(metaclass=M): k = 2.0", "x * A.v", ["A.k = 3.0"]),
    "an object of a class": (
        "class A: h = thing(k=2.0)", "x * A.h.k", ["A.h.k = 3.0"]),
    "a member of an enumeration": (
        "class E(enum.Enum): A = 2.0", "x * E.A.value", ["E.A._value_ = 3.0"]),
    "equal records": (
        "D = dataclasses.make_dataclass('D', [('a', float, 2.0)]); d = D(); e = D()",
        "x * (2 if d == e else 1)", ["d.a = 3.0"]),
    "records as dictionaries": (
        "D = dataclasses.make_dataclass('D', [('a', float, 2.0)]); d = D()",
        "x * dataclasses.asdict(d)['a']", ["d.a = 3.0"]),
    "a property that is kept": (
        "class A:\n    k = 2.0\n    @functools.cached_property\n    def v(self): return self.k\n"
        "a = A()", "x * a.v", ["A.k = 3.0", "del a.__dict__['v']"]),
    "what an error has": (
        "e = ValueError(1.0); e.k = 2.0", "x * e.args[0] * e.k * (2 if e.__cause__ else 1)",
        ["e.args = (3.0,)", "e.k = 5.0", "e.__cause__ = KeyError()"]),
}  # fmt: skip
FUNCTIONS: dict[str, Case] = {
    "keyword defaults": (
        "def f(x, *, k=2.0): return x * k", "f(x)",
        ["f.__kwdefaults__['k'] = 3.0", "f.__kwdefaults__ = {'k': 4.0}"]),
    "a default": (
        "def f(x, k=[2.0]): return x * k[0]", "f(x)",
        ["f.__defaults__[0][0] = 3.0", "f.__defaults__ = ([4.0],)"]),
    "code": (
        "def f(x): return x * 2\ndef g(x): return x * 3", "f(x)", ["f.__code__ = g.__code__"]),
    "an attribute of a function": (
        "def f(x): return x * getattr(f, 'k', 1.0)", "f(x)", ["f.k = 3.0", "del f.k"]),
    "the name of a function": (
        "def f(x): return x", "x * len(f.__name__)", ["f.__name__ = 'abcdef'"]),
    "the text of a function": (
        "def f(x): return x", "x * (2 if f.__doc__ else 1)", ["f.__doc__ = 'abc'"]),
    "annotations": (
        "def f(x): return x", "x * (1 + len(f.__annotations__))", ["f.__annotations__['a'] = 1"]),
    "a partial's keywords": (
        "def f(x, k): return x * k\np = functools.partial(f, k=2.0)", "p(x)",
        ["p.keywords['k'] = 3.0", "p.__setstate__((f, (), {'k': 4.0}, {}))"]),
    "a cache": (
        "k = [2.0]\n@functools.lru_cache\ndef f(): return k[0]", "x * f()",
        ["k[0] = 3.0", "f.cache_clear()"]),
    "a global that hides a builtin": (
        "l = [1, 2]", "x * len(l)", ["len = lambda a: 5", "del len"]),
    "a global that wasn't there": (
        "def step(x):\n    try: return x * later\n    except NameError: return x", "step(x)",
        ["later = 5.0", "del later"]),
    "all globals": ("", "x * (2 if 'later' in globals() else 1)", ["later = 1"]),
    "a module": (
        "m = types.ModuleType('m'); m.scale = 2.0; sys.modules['made_up'] = m",
        "x * sys.modules['made_up'].scale", ["m.scale = 3.0"]),
    "a module that is imported": (
        "m = types.ModuleType('m'); m.scale = 2.0; sys.modules['made_up'] = m\n"
        "def step(x):\n    import made_up\n    return x * made_up.scale", "step(x)",
        ["m.scale = 3.0",
         "n = types.ModuleType('n'); n.scale = 5.0; sys.modules['made_up'] = n"]),
    "a name that is imported": (
        "m = types.ModuleType('m'); m.scale = 2.0; sys.modules['made_up'] = m\n"
        "def step(x):\n    from made_up import scale\n    return x * scale", "step(x)",
        ["m.scale = 3.0"]),
    "an import that fails": (
        "def step(x):\n    try: import made_up\n    except ImportError: return x\n    return x * 2",
        "step(x)", ["sys.modules['made_up'] = types.ModuleType('m')"]),
    "a module that answers": (
        "m = types.ModuleType('m')", "x * getattr(m, 'scale', 1.0)",
        ["m.__getattr__ = lambda n: 5.0"]),
    "a thread's own": ("t = threading.local(); t.k = 2.0", "x * t.k", ["t.k = 3.0"]),
    "a thread's own, of a subclass": (
        "class T(threading.local): k = 1.0\nt = T()", "x * t.k", ["t.k = 3.0"]),
    "a context variable of two names": (
        "v = contextvars.ContextVar('v', default=1.0); h = thing(a=v, b=v)", "x * h.b.get()",
        ["v.set(3.0)"]),
    "an event": (
        "e = threading.Event()", "x * (2 if e.is_set() else 1)", ["e.set()"]),
    "a lock": ("l = threading.Lock()", "x * (2 if l.locked() else 1)", ["l.acquire()"]),
    "the environment": (
        "from os import environ as e", "x * float(e.get('MADE_UP', '1'))",
        ["os.environ['MADE_UP'] = '5'"]),
    "the environment by a function": (
        "g = os.getenv", "x * float(g('MADE_UP', '1'))", ["os.environ['MADE_UP'] = '5'"]),
    "the position of a file": (
        "f = io.BytesIO(b'abc')", "x * (1 + f.tell())", ["f.read(1)"]),
    "a text in memory": (
        "f = io.StringIO('abc')", "x * len(f.getvalue())", ["f.write('abcdef')"]),
    "the command line": ("", "x * len(sys.argv)", ["sys.argv.append('a')"]),
    "warnings that are shown": (
        "", "x * len(warnings.filters)", ["warnings.simplefilter('ignore', ResourceWarning)"]),
    "through a weak reference": (
        "o = thing(k=2.0); r = weakref.ref(o)", "x * r().k", ["o.k = 3.0"]),
    "through a weak proxy": (
        "o = thing(k=2.0); r = [weakref.proxy(o)]", "x * r[0].k", ["o.k = 3.0"]),
    "a reference that dies": (
        "o = [Thing()]; r = weakref.ref(o[0])", "x * 2 if r() is None else x * 3", ["o.clear()"]),
}  # fmt: skip
TENSORS: dict[str, Case] = {
    "a version": ("p = torch.ones(3)", "x * (p._version + 1)", ["p.add_(1)", "p.mul_(1)"]),
    "the version of an argument": ("", "x * (x._version + 1)", ["X.mul_(1)"]),
    "a storage": ("p = torch.ones(3)", "x * p.untyped_storage()[3]", ["p[0] = 7.0"]),
    "where it begins": (
        "b = torch.ones(10); X = b[2:5]", "x * (1 + x.storage_offset())", ["X = b[3:6]"]),
    "whether it is a view": (
        "", "x * (2 if x._is_view() else 1)", ["X = torch.ones(6)[1:4]"]),
    "its base": ("", "x * (2 if x._base is None else 1)", ["X = torch.ones(6)[1:4]"]),
    "whether it is a leaf": (
        "w = torch.ones(3, requires_grad=True); X = torch.ones(3, requires_grad=True)",
        "x * (2 if x.is_leaf else 1) * w", ["X = torch.ones(3, requires_grad=True) * 1"]),
    "its history": (
        "w = torch.ones(3, requires_grad=True); X = torch.ones(3, requires_grad=True)",
        "x * (2 if x.grad_fn is None else 1) * w", ["X = torch.ones(3, requires_grad=True) * 1"]),
    "whether another is a leaf": (
        "h = thing(w=torch.ones(3))", "x * (2 if h.w.is_leaf else 1)",
        ["h.w = torch.ones(3, requires_grad=True) * 1"]),
    "the gradient of an argument": (
        "X = torch.ones(3, requires_grad=True)", "x.detach() * (2 if x.grad is None else 1)",
        ["X.grad = torch.ones(3)"]),
    "a gradient": (
        "w = torch.ones(3, requires_grad=True)",
        "x * (2 if w.grad is None else w.grad)", ["w.grad = torch.ones(3) * 4", "w.grad = None"]),
    "whether it wants one": (
        "w = torch.ones(3)", "x * (2 if w.requires_grad else 1)", ["w.requires_grad_(True)"]),
    "its hooks": (
        "w = torch.ones(3, requires_grad=True)", "x * (2 if w._backward_hooks else 1)",
        ["w.register_hook(lambda g: g)"]),
    "its class": (
        "class K(torch.Tensor): pass\nw = torch.ones(3)",
        "x * (2 if type(w) is torch.Tensor else 1)", ["w.__class__ = K"]),
    "an attribute of an argument": (
        "", "x * getattr(x, 'k', 1.0)", ["X = torch.ones(3); X.k = 5.0", "X.k = 6.0", "del X.k"]),
    "an attribute that an argument has": (
        "X = torch.ones(3); X.k = 5.0", "x * x.k", ["X = torch.ones(3); X.k = 6.0", "X.k = 7.0"]),
    "a method of an argument's own": (
        "", "x.relu() * 1", ["X = torch.ones(3); X.relu = lambda: torch.zeros(3)"]),
    "inference": (
        "", "x * (2 if x.is_inference() else 1) * (2 if torch.is_inference(x) else 1)",
        ["X = torch.inference_mode()(torch.ones)(3)"]),
    "its address": (
        "", "x * (2 if x.data_ptr() % 64 else 1)", ["X = torch.ones(9)[3:6]"]),
    "which one it is": ("k = X", "x * (2 if id(x) == id(k) else 1)", ["X = torch.ones(3)"]),
    "its hash": (
        "d = {X: 2.0}", "x * d.get(x, 1.0)", ["X = torch.ones(3)"]),
    "that it is the last one": (
        "h = thing(last=X)", "x * (2 if x is h.last else 1)", ["X = torch.ones(3)"]),
    "that it isn't another one": (
        "h = thing(last=torch.ones(3))", "x * (2 if x is h.last else 1)", ["X = h.last"]),
    "that it is in a list": (
        "l = [torch.ones(3)]", "x * (2 if any(x is y for y in l) else 1)", ["X = l[0]"]),
    "the state of an optimizer": (
        "p = nn.Parameter(torch.ones(3)); o = optim.SGD([p], lr=0.1, momentum=0.9)",
        "x * (2 if p in o.state else 1) * (1 + len(o.state))",
        ["p.grad = torch.ones(3); o.step()"]),
    "defaults of an optimizer": (
        "o = optim.SGD([nn.Parameter(torch.ones(3))], lr=0.1)", "x * o.defaults['lr']",
        ["o.defaults['lr'] = 0.5"]),
    "options that aren't there": (
        "o = optim.SGD([nn.Parameter(torch.ones(3))], lr=0.1)",
        "x * o.param_groups[0].get('made_up', 1.0) * len(o.param_groups[0])",
        ["o.param_groups[0]['made_up'] = 3.0"]),
    "layers": (
        "m = nn.Sequential(nn.ReLU())", "x * len(list(m.children()))", ["m.append(nn.ReLU())"]),
    "hooks of a layer": (
        "m = nn.ReLU()", "x * (1 + len(m._forward_hooks))",
        ["m.register_forward_hook(lambda *a: None)"]),
    "hooks that a forward has no use for": (
        "m = nn.ReLU()", "x * (1 + len(m._state_dict_hooks))", ["m._state_dict_hooks[1] = 3"]),
}  # fmt: skip
LIBRARY: dict[str, Case] = {
    "an operator": ("", "x * 2", ["torch.Tensor.__mul__ = lambda a, b: torch.zeros(3)"]),
    "an operator of the other side": (
        "", "2 * x", ["torch.Tensor.__rmul__ = lambda a, b: torch.zeros(3)"]),
    "an index": ("", "x[0]", ["torch.Tensor.__getitem__ = lambda a, k: torch.zeros(3)"]),
    "a number of rows": ("", "x * len(x)", ["torch.Tensor.__len__ = lambda a: 11"]),
    "a method": ("", "x.sum() * 2", ["torch.Tensor.sum = lambda a: a * 9"]),
    "a function": ("", "torch.relu(x)", ["torch.relu = lambda a: a * 9"]),
    "a function on a longer way": (
        "", "torch.nn.functional.relu6(x)", ["F.relu6 = lambda a: a * 9"]),
    "a function of a part": ("", "x * torch.linalg.norm(x)", ["torch.linalg.norm = lambda a: 5.0"]),
    "what a layer calls": (
        "m = nn.ReLU()", "m(x - 2)", ["F.relu = lambda a, *k, **kw: a * 5"]),
    "what another layer calls": (
        "m = nn.Linear(3, 2).requires_grad_(False)", "m(x)", ["F.linear = lambda *a: a[0] * 5"]),
    "the call of all layers": ("m = nn.ReLU()", "m(x)",
                               ["nn.Module.__call__ = lambda s, x: x * 4"]),
    "the call of a layer": ("m = nn.ReLU()", "m(x)", ["nn.ReLU.__call__ = lambda s, x: x * 4"]),
    "the forward of a layer": ("m = nn.ReLU()", "m(x)", ["nn.ReLU.forward = lambda s, x: x * 4"]),
    "a step of all such optimizers": (
        "p = nn.Parameter(torch.ones(3)); o = optim.SGD([p], lr=0.0)\n"
        "def step(x):\n    o.zero_grad()\n    (p * x).sum().backward()\n    o.step()\n"
        "    return x * (1 if p.grad is None else 2)", "step(x)",
        ["optim.SGD.step = lambda s, closure=None: s.zero_grad()"]),
    "a builtin": ("", "x * abs(-2)", ["builtins.abs = lambda a: 11"]),
    "a constant of Python's": ("", "x * math.pi", ["math.pi = 3.0"]),
    "a function of Python's": ("", "x * math.sqrt(4)", ["math.sqrt = lambda v: 7.0"]),
}  # fmt: skip
SETTINGS: dict[str, Case] = {
    f"the setting {read}": ("", f"x * (1 + float({read}))", [change])
    for read, change in [
        ("torch.are_deterministic_algorithms_enabled()",
         "torch.use_deterministic_algorithms(True)"),
        ("torch.is_deterministic_algorithms_warn_only_enabled()",
         "torch.use_deterministic_algorithms(True, warn_only=True)"),
        ("torch.get_deterministic_debug_mode()", "torch.set_deterministic_debug_mode(1)"),
        ("torch.is_warn_always_enabled()", "torch.set_warn_always(True)"),
        ("len(torch.get_float32_matmul_precision())",
         "torch.set_float32_matmul_precision('medium')"),
        ("torch.get_default_dtype().itemsize", "torch.set_default_dtype(torch.float64)"),
        ("torch.get_num_threads()", "torch.set_num_threads(torch.get_num_threads() + 1)"),
        ("torch.is_grad_enabled()", "torch.set_grad_enabled(False)"),
        ("torch.is_anomaly_enabled()", "torch.autograd.set_detect_anomaly(True)"),
        ("torch.initial_seed()", "torch.manual_seed(5)"),
        ("len(str(torch.get_default_device()))", "torch.set_default_device('meta')"),
        ("torch.ones(3).is_meta", "torch.set_default_device('meta')"),
        ("torch.backends.cudnn.deterministic", "torch.backends.cudnn.deterministic = True"),
        ("torch._tensor_str.get_printoptions()['precision']",
         "torch.set_printoptions(precision=6)"),
    ]
}  # fmt: skip
CASES = CONTAINERS | CLASSES | FUNCTIONS | TENSORS | LIBRARY | SETTINGS


@pytest.fixture
def everything_is_put_back(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Puts back what the cases change outside of themselves."""
    monkeypatch.delenv("MADE_UP", raising=False)
    patched = [
        (torch.Tensor, ["__mul__", "__rmul__", "__getitem__", "__len__", "sum"]),
        (torch, ["relu"]), (torch.linalg, ["norm"]), (F, ["relu6", "relu", "linear"]),
        (nn.Module, ["__call__"]), (nn.ReLU, ["forward"]), (optim.SGD, ["step"]),
        (builtins, ["abs"]), (math, ["pi", "sqrt"]), (torch.backends.cudnn, ["deterministic"]),
    ]  # fmt: skip
    before = [(owner, name, getattr(owner, name)) for owner, names in patched for name in names]
    threads, argv = torch.get_num_threads(), list(sys.argv)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
        for owner, name, value in before:
            setattr(owner, name, value)
        if "__call__" in vars(nn.ReLU):
            del nn.ReLU.__call__
        sys.argv[:] = argv
        sys.modules.pop("made_up", None)
        os.environ.pop("MADE_UP", None)
        torch.use_deterministic_algorithms(False)
        torch.set_warn_always(False)
        torch.set_float32_matmul_precision("highest")
        torch.set_default_dtype(torch.float32)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(True)
        torch.autograd.set_detect_anomaly(False)
        torch.set_default_device(None)
        torch.set_printoptions(profile="default")


def answer(step: Any, x: Any) -> Any:
    try:
        found = step(x)
        return found.detach().tolist() if not found.is_meta else "nothing"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.usefixtures("everything_is_put_back")
@pytest.mark.parametrize("native", [False, True], ids=["replayed", "native"])
@pytest.mark.parametrize("name", CASES)
def test_what_lies_outside_of_a_step_is_watched(name: str, native: bool) -> None:
    setup, text, changes = CASES[name]
    space: dict[str, Any] = {"__name__": "somewhere", "builtins": builtins}
    exec(PRELUDE, space)
    space["X"] = torch.ones(3)
    exec(setup, space)
    step = eval(f"lambda x: {text}", space)
    compiled = torch.compile(step, options={"native": native})
    for _ in range(4):
        assert answer(compiled, space["X"]) == answer(step, space["X"]), compiled.explain()
    for change in changes:
        exec(change, space)
        for _ in range(2):
            seen, expected = answer(compiled, space["X"]), answer(step, space["X"])
            assert seen == expected, (change, compiled.explain())


def test_an_iterator_with_two_names_moves_on() -> None:
    numbers = itertools.count(1)
    held = types.SimpleNamespace(a=numbers, b=numbers)
    step = torch.compile(lambda x: x * next(held.b))
    assert [step(torch.ones(1)).item() for _ in range(8)] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert "iterator" in step.explain()


def test_a_warning_of_the_step_is_given_in_each_call() -> None:
    def step(x: Any) -> Any:
        warnings.warn("said", stacklevel=1)
        return x * 2

    compiled = torch.compile(step)
    for _ in range(6):
        with pytest.warns(UserWarning, match="said"):
            compiled(torch.ones(1))


def test_a_step_without_a_file_is_watched_as_well() -> None:
    space: dict[str, Any] = {"it": itertools.count(1)}
    exec("def step(x): return x * next(it)", space)
    step = torch.compile(space["step"])
    assert [step(torch.ones(1)).item() for _ in range(6)] == [1, 2, 3, 4, 5, 6]
