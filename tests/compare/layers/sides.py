"""One side of the comparison: what a layer does on a package, as plain data."""

from __future__ import annotations

import copy
import io
import pickle
import re
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .table import Case

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_FUNCTION = re.compile(r"<function (\w+) at 0x[0-9a-f]*>")
_SET = re.compile(r"\{('\w+'(?:, '\w+')+)\}")  # of texts: in another order in each process
# A builtin of Rushlight's is bound to the function that it calls.
_BUILTIN = re.compile(r"<built-in (?:function|method) (\w+)(?: of \w+ object at 0x\w+)?>")
_TRIGGERED = re.compile(r"\s*\(Triggered internally at [^)]*\)")
MODES = (("train", "float64"), ("train", "float32"), ("eval", "float32"))


def plain(text: str) -> str:
    """A text without what differs by nature: addresses, frames of C++, the package's name."""
    text = text.split("\nException raised from")[0]
    head, signatures, _ = text.partition("but expected one of:")
    text = head.split(" The following argument types are supported:")[0] + signatures
    text = _BUILTIN.sub(r"<function \1>", _SET.sub(_in_order, text))
    text = _FUNCTION.sub(r"<function \1>", text)
    return _TRIGGERED.sub("", _ADDRESS.sub("0x", text)).replace("rushlight", "torch").rstrip()


def _in_order(found: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(found.group(1).split(", "))) + "}"


def told(error: BaseException) -> str:
    return f"{type(error).__name__}: {plain(str(error))}"


class Inputs:
    """The names that an expression may use; remembers the leaves that require grad."""

    def __init__(self, package: ModuleType, dtype: str) -> None:
        self.package = package
        self.dtype = getattr(package, dtype)
        self.leaves: list[Any] = []
        self._random = np.random.default_rng(5)

    def _tensor(self, array: Any, grad: bool = False) -> Any:
        made = self.package.tensor(array.tolist(), dtype=self.dtype).reshape(array.shape)
        if grad:
            self.leaves.append(made.requires_grad_())
        return made

    def _whole(self, array: Any, dtype: str) -> Any:
        kind = getattr(self.package, dtype)
        return self.package.tensor(array.tolist(), dtype=kind).reshape(array.shape)

    def names(self) -> dict[str, Any]:
        package, random = self.package, self._random

        def spaced(*shape: int) -> Any:
            """Numbers that are far from each other and from what functions turn at."""
            n = int(np.prod(shape))
            values = (np.arange(n) - n // 2) * 0.37 + 0.11
            return self._tensor(random.permutation(values).reshape(shape), True)

        rnn = package.nn.utils.rnn
        return {
            "T": package,
            "nn": package.nn,
            "R": lambda *shape: self._tensor(random.standard_normal(shape), True),
            "F": lambda *shape: self._tensor(random.standard_normal(shape)),
            "U": lambda *shape: self._tensor(random.uniform(0.1, 0.9, shape), True),
            "V": lambda *shape: self._tensor(random.uniform(0.1, 0.9, shape)),
            "P": lambda *shape: self._tensor(random.uniform(0.5, 2.0, shape), True),
            "D": spaced,
            "K": lambda high, *shape: self._whole(random.integers(0, high, shape), "int64"),
            "B": lambda *shape: self._whole(random.integers(0, 2, shape), "bool"),
            "S": lambda *shape: self._tensor(random.choice([-1.0, 1.0], shape)),
            "I": lambda *values: self._whole(np.array(values), "int64"),
            "pack": rnn.pack_padded_sequence,
        }


def data(value: Any, strides: bool = True) -> Any:
    """Any value as plain data: arrays, texts, numbers, lists and dictionaries of these."""
    if hasattr(value, "materialize"):
        return f"{type(value).__name__} of {plain(str(value.dtype))}"
    if hasattr(value, "detach") and hasattr(value, "stride"):
        name = str(value.dtype).replace("rushlight", "torch")
        dense = value.detach().to_dense() if str(value.layout).endswith("coo") else value.detach()
        if name in ("torch.float16", "torch.bfloat16"):
            dense = dense.float()
        array = np.array((dense + 0 if name != "torch.bool" else dense).tolist())
        array = array.reshape(tuple(value.shape))
        found = {"values": array, "dtype": name, "grad": value.requires_grad}
        if strides and value.numel():
            sizes, steps = tuple(value.shape), value.stride()
            found["stride"] = tuple(s for s, n in zip(steps, sizes, strict=True) if n != 1)
        return found
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {str(key): data(item, strides) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [type(value).__name__, *[data(item, strides) for item in value]]
    return plain(repr(value))


def tensors(value: Any) -> list[Any]:
    """The tensors of a result that can be differentiated, in order."""
    if hasattr(value, "requires_grad"):
        return [value] if value.requires_grad else []
    if isinstance(value, dict):
        value = list(value.values())
    return [t for item in value for t in tensors(item)] if isinstance(value, list | tuple) else []


class Seen:
    """What was seen, by name; an exception is seen as its class and its text."""

    def __init__(self, package: ModuleType) -> None:
        self.package = package
        self.all: dict[str, Any] = {}

    def look(self, name: str, action: Callable[[], Any], strides: bool = True) -> Any:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                result = action()
                self.all[name] = data(result, strides)
            except Exception as error:
                result = None
                self.all[name] = told(error)
        texts = [f"{w.category.__name__}: {plain(str(w.message))}" for w in said]
        texts = [t for t in texts if "scalar will be deprecated" not in t and "__array" not in t]
        if texts:
            self.all[name + " warns"] = texts
        return result


def _state(module: Any) -> Any:
    state = module.state_dict()
    return {"values": dict(state), "metadata": repr(state._metadata)}


def _settings(module: Any) -> dict[str, str]:
    """The public attributes that are neither parameters nor modules."""
    own = {k: v for k, v in vars(module).items() if not k.startswith("_")}
    return {k: plain(repr(v)) for k, v in sorted(own.items())}


def _run(package: ModuleType, module: Any, case: Case, dtype: str) -> tuple[Any, Inputs]:
    inputs = Inputs(package, dtype)
    names = inputs.names() | {"m": module}
    package.manual_seed(3)
    return eval(f"m({case.call})", names), inputs


def _forward_backward(seen: Seen, label: str, module: Any, case: Case, dtype: str) -> None:
    package = seen.package
    kept: list[Any] = []

    def forward() -> Any:
        result, inputs = _run(package, module, case, dtype)
        kept.extend((result, inputs))
        return result

    seen.look(f"{label} output", forward)
    if kept:
        outputs = tensors(kept[0])
        if outputs:

            def backward() -> Any:
                random = np.random.default_rng(9)
                cotangents = [
                    kept[1]._tensor(random.standard_normal(tuple(t.shape))).to(t.dtype)
                    for t in outputs
                ]
                package.autograd.backward(outputs, cotangents)
                return {
                    "inputs": [leaf.grad for leaf in kept[1].leaves],
                    "parameters": {name: p.grad for name, p in module.named_parameters()},
                }

            seen.look(f"{label} gradients", backward, strides=False)
        seen.look(f"{label} buffers", lambda: dict(module.named_buffers()))


def _parts(seen: Seen, build: Callable[[], Any], case: Case) -> None:
    """What a layer is, apart from what it computes."""
    module = build()
    seen.look("repr", lambda: repr(module))
    seen.look("extra_repr", lambda: module.extra_repr())
    seen.look("state", lambda: _state(module), strides=True)
    seen.look("settings", lambda: _settings(module))
    seen.look("parameters", lambda: [n for n, _ in module.named_parameters()])
    seen.look("buffers", lambda: [n for n, _ in module.named_buffers()])
    seen.look("children", lambda: [n for n, _ in module.named_modules()])
    seen.look("copy", lambda: _state(copy.deepcopy(module)))
    seen.look("pickle", lambda: (lambda m: [repr(m), _settings(m), _state(m)])(_pickled(module)))


def _pickled(module: Any) -> Any:
    file = io.BytesIO()
    pickle.dump(module, file)
    return pickle.loads(file.getvalue())


def observed(package: ModuleType, case: Case) -> dict[str, Any]:
    """Everything that is compared of a case, on `package`."""
    seen = Seen(package)

    def build() -> Any:
        package.manual_seed(0)
        return eval(case.build, Inputs(package, "float32").names())

    seen.look("constructor", lambda: type(build()).__name__)
    if ":" in seen.all["constructor"]:
        return seen.all
    if case.wrong:
        if case.call is None:
            seen.look("repr", lambda: repr(build()))
            seen.look("settings", lambda: _settings(build()))
        else:
            seen.look("call", lambda: _run(package, build(), case, "float32")[0])
        return seen.all
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _parts(seen, build, case)
        for mode, dtype in MODES:
            module = build().to(getattr(package, dtype)).train(mode == "train")
            _forward_backward(seen, f"{mode} {dtype}", module, case, dtype)
        seen.look("half", lambda: _half(package, build(), case))
        seen.look("state after", lambda: _state(module))
        seen.look("functional_call", lambda: _functional(package, build(), case))
    return seen.all


def _half(package: ModuleType, module: Any, case: Case) -> Any:
    return _run(package, module.to(package.bfloat16).eval(), case, "bfloat16")[0]


def _functional(package: ModuleType, module: Any, case: Case) -> Any:
    """The layer with other tensors in place of its own."""
    module.eval()
    given = module.named_parameters()
    other = {k: v.detach() * 0.5 for k, v in given if not hasattr(v, "materialize")}
    names = Inputs(package, "float32").names() | {"m": module, "other": other}
    names["call"] = lambda *args, **kwargs: package.func.functional_call(
        module, other, args, kwargs
    )
    package.manual_seed(3)
    return eval(f"call({case.call})", names)
