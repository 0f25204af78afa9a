"""Functions of the emitter, run over NumPy arrays by ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from rushlight._native.llvm import loader as engine, target
from rushlight._native.llvm.emit import F32, F64, I64, PTR, Function, Module, Value

Body = Callable[..., Value]


def elementwise(
    body: Body, dtype: Any, arity: int = 1, lanes: int | None = None
) -> Callable[..., Any]:
    """`body(f, x, ...)` over arrays: whole vectors, and a masked one for what is left."""
    type = F32 if np.dtype(dtype) == np.float32 else F64
    wide = type.vector(target.lanes(type) if lanes is None else lanes)
    module = Module("elementwise")
    names = [f"x{i}" for i in range(arity)]
    params = [(name, PTR) for name in (*names, "out")] + [("n", I64)]
    f = module.function("run", params)
    *operands, out, n = f.params

    def at(index: Value) -> list[Value]:
        return [f.at(operand, index, type) for operand in (*operands, out)]

    if wide.lanes:
        rest = n % wide.lanes
        whole = n - rest
        with f.loop(0, whole, wide.lanes) as loop:
            *places, result = at(loop.index)
            f.store(result, body(f, *(f.load(place, wide) for place in places)))
        with f.when(rest > 0):
            mask = f.mask(rest, wide.lanes)
            *places, result = at(whole)
            values = [f.load_masked(place, wide, mask, 1.0) for place in places]
            f.store_masked(result, body(f, *values), mask)
    else:
        with f.loop(0, n) as loop:
            *places, result = at(loop.index)
            f.store(result, body(f, *(f.load(place, type) for place in places)))
    f.ret()
    run = function(module, "run", *[ctypes.c_void_p] * (arity + 1), ctypes.c_int64)

    def call(*arrays: Any) -> Any:
        arrays = tuple(np.ascontiguousarray(a, dtype) for a in arrays)
        result = np.empty_like(arrays[0])
        run(*(a.ctypes.data for a in arrays), result.ctypes.data, result.size)
        return result

    return call


def function(module: Module, name: str, *types: Any, returns: Any = None) -> Any:
    """A function of the module as a ctypes callable."""
    return ctypes.CFUNCTYPE(returns, *types)(engine.load(module)[name])


def scalar(body: Callable[[Function], None], params: list[Any], returns: Any) -> Module:
    """A module with one function `run`."""
    module = Module("scalar")
    body(module.function("run", params, returns))
    return module
