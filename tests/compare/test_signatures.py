"""The parameters of functions and methods are those that PyTorch documents."""

import ast
import inspect
import re
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")

SPACES = ("", "linalg", "fft", "special", "nn.functional")
#: What makes a tensor has these too; first lines leave some out, or have them elsewhere.
COMMON = {"out", "pin_memory", "requires_grad", "layout", "device", "dtype", "memory_format",
          "generator", "names"}  # fmt: skip
#: Those whose first line is that of another call, or wrong.
APART: frozenset[str] = frozenset({
    "argmax", "concatenate", "cumulative_trapezoid", "einsum", "fork", "from_dlpack", "gradient",
    "hash_tensor", "histogram", "kthvalue", "load", "nan_to_num", "nansum", "save",
    "sparse_coo_tensor", "topk", "trapezoid", "trapz",
    "special.round", "nn.functional.elu_", "Tensor.arctanh_", "Tensor.argsort",
    "Tensor.atanh_", "Tensor.bernoulli", "Tensor.bitwise_and", "Tensor.bitwise_and_",
    "Tensor.bitwise_or", "Tensor.bitwise_or_", "Tensor.bitwise_xor", "Tensor.bitwise_xor_",
    "Tensor.dsplit", "Tensor.expand", "Tensor.frexp", "Tensor.gather", "Tensor.histogram",
    "Tensor.hsplit", "Tensor.kthvalue", "Tensor.logical_and", "Tensor.logical_and_",
    "Tensor.logical_or", "Tensor.logical_or_", "Tensor.logical_xor", "Tensor.logical_xor_",
    "Tensor.logit", "Tensor.logit_", "Tensor.mode", "Tensor.nan_to_num", "Tensor.nan_to_num_",
    "Tensor.new_empty", "Tensor.new_ones", "Tensor.new_zeros", "Tensor.nonzero",
    "Tensor.pinverse", "Tensor.put", "Tensor.repeat_interleave", "Tensor.reshape",
    "Tensor.roll", "Tensor.rot90", "Tensor.set_", "Tensor.size", "Tensor.sort", "Tensor.stride",
    "Tensor.take_along_dim", "Tensor.tensor_split", "Tensor.to", "Tensor.to_dense",
    "Tensor.to_sparse", "Tensor.to_sparse_bsc", "Tensor.to_sparse_bsr", "Tensor.to_sparse_csc",
    "Tensor.topk", "Tensor.view", "Tensor.vsplit",
})  # fmt: skip


def found_in(module: Any, space: str) -> Any:
    for part in space.split(".") if space else ():
        module = getattr(module, part)
    return module


def documented(function: Any, name: str) -> list[tuple[str, str]] | None:
    """The names and defaults in the first line of a docstring; None where there is no such line."""
    first = (function.__doc__ or "").strip().split("\n")[0].replace("\\", "")
    m = re.match(rf"(?:[\w.]*\.)?{name}\((.*?)\)(?:\s*->.*)?\s*$", first)
    return None if m is None else read(m[1])


def read(inside: str) -> list[tuple[str, str]] | None:
    """Names and defaults of parameters as Python writes them."""
    try:
        function: Any = ast.parse(f"def f({inside}): ...").body[0]
    except SyntaxError:
        return None
    a = function.args
    positional = [*a.posonlyargs, *a.args]
    defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults
    pairs = [*zip(positional, defaults, strict=True)]
    if a.vararg is not None:
        pairs.append((a.vararg, None))
    pairs += zip(a.kwonlyargs, a.kw_defaults, strict=True)
    return [(p.arg, "" if d is None else ast.unparse(d)) for p, d in pairs]


def names() -> list[str]:
    """All public functions and methods that PyTorch documents with their parameters."""
    found = []
    for space in SPACES:
        theirs, ours = found_in(torch, space), found_in(rushlight, space)
        for name in sorted(set(dir(theirs)) & set(dir(ours))):
            f = getattr(theirs, name)
            if name[0] != "_" and callable(f) and not isinstance(f, type):
                found.append(f"{space}.{name}".lstrip("."))
    found += [
        f"Tensor.{n}"
        for n in sorted(dir(torch.Tensor))
        if n[0] != "_" and callable(getattr(torch.Tensor, n)) and hasattr(rushlight.Tensor, n)
    ]
    return found


def value(text: str) -> object:
    """A default as a number, where it is one: `1.0 / 8`, `2.0`."""
    try:
        return eval(text, {"__builtins__": {}})
    except (NameError, SyntaxError, AttributeError):
        return text


def own(function: Any, is_method: bool) -> list[tuple[str, object]]:
    """The names and defaults of a function of ours."""
    found = [*inspect.signature(function).parameters.values()][is_method:]
    return [(p.name, "" if p.default is p.empty else p.default) for p in found
            if p.name not in COMMON]  # fmt: skip


def differs(theirs: list[tuple[str, str]], ours: list[tuple[str, object]]) -> bool:
    """Whether a name or a default isn't the documented one.

    What has no default is often documented under a name that a call can't use.
    """
    told = [(n, value(d)) for n, d in theirs if n not in COMMON]
    if len(told) != len(ours):
        return True
    return any(a != b and not (a[1] == b[1] == "") for a, b in zip(told, ours, strict=True))


@pytest.fixture(scope="module")
def public() -> list[str]:
    return names()


def function_of(package: Any, path: str) -> Any:
    space, _, name = path.rpartition(".")
    return getattr(found_in(package, space), name)


def test_the_parameters_are_those_that_pytorch_documents(public: list[str]) -> None:
    wrong = {}
    for path in public:
        told = documented(function_of(torch, path), path.rpartition(".")[2])
        if told is None:
            continue
        ours = own(function_of(rushlight, path), path.startswith("Tensor."))
        if differs(told, ours):
            wrong[path] = f"{told} {ours}"
    unexpected = {path: said for path, said in wrong.items() if path not in APART}
    assert not unexpected
    assert wrong.keys() >= APART
