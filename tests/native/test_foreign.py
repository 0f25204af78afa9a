"""Code for machines that aren't at hand: it is made, and LLVM takes it; nothing is run."""

import pytest

from rushlight._native.llvm import target
from tests.native.subprocesses import run

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.skipif(not target.available(), reason="native code is turned off")

MACHINES = {
    "aarch64-unknown-linux-gnu": ("neoverse-n1", "+neon", 16, 32),
    "x86_64-pc-windows-msvc": ("x86-64-v3", "", 32, 16),
}

MODULES = """
    from rushlight._native.emitted import (
        attention, bias_gradients, convolution, depthwise, gemm, grid_sample, max_pool, scan,
        small_convolution, transpose,
    )
    from rushlight._native.llvm import loader as engine, target
    from rushlight._native.llvm.emit import F32, F64

    target.emit_for({triple!r}, {cpu!r}, {features!r}, {width}, {registers})
    for kind in (F32, F64):
        for module in (
            attention, bias_gradients, convolution, gemm, max_pool, small_convolution, transpose,
        ):
            module.load(kind)
        for product in (False, True):
            scan.load(kind, product)
        for axes in (2, 3):
            grid_sample.load(kind, axes, False, grid_sample.REFLECTION, False)
        depthwise.load(kind, (3, 3), (2, 2))
    print(engine.statistics["compiled"])
"""

FORMULAS = """
    from rushlight._array.kernels import (
        channels, cross_entropy, elementwise, launch, rows as row_kernels,
    )
    from rushlight import optim, zeros
    from rushlight._array.types import FLOAT32, FLOAT64
    from rushlight._native.llvm import loader as engine, target
    from rushlight._table import ROWS

    target.emit_for({triple!r}, {cpu!r}, {features!r}, {width}, {registers})
    launch._direct = lambda: False  # a builtin would need addresses
    kernels = [
        k for m in (channels, channels.ByColumn, channels.ByRow, cross_entropy, row_kernels)
        for k in vars(m).values()
        if isinstance(k, launch.Kernel)
    ]
    for optimizer in vars(optim).values():
        if getattr(optimizer, "_rule", None) is not None:
            mine = optimizer([zeros(1, requires_grad=True)])
            key = (1.0, 1.0) if optimizer is optim.ASGD else 1.0
            kernels.append(mine._choose(mine.param_groups[0], key).kernel)
    for rows in ROWS.values():
        for function in (rows[0].op.raw, *rows[0].op.formulas):
            form = getattr(function, "loss", None)  # of a loss by element
            if form is not None:
                given = form.required
                function = form.times(given, True) if form.key else form.sum_values(given)
            if hasattr(function, "arrays"):
                kernels.append(elementwise.kernel_of(function, False))
    for kernel in kernels:
        for dtype in (FLOAT32, FLOAT64):
            kernel.compile(dtype, 3, False)
            kernel.compile(dtype, None, not kernel.group("f32").body[-1].op.startswith("column"))
    print(engine.statistics["compiled"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("script", [MODULES, FORMULAS], ids=["modules", "formulas"])
@pytest.mark.parametrize("triple", MACHINES)
def test_llvm_takes_the_code_for_another_machine(triple: str, script: str) -> None:
    cpu, features, width, registers = MACHINES[triple]
    told = {"triple": triple, "cpu": cpu, "features": features}
    found = run(script.format(**told, width=width, registers=registers), RUSHLIGHT_CACHE="0")
    assert int(found) >= 20
