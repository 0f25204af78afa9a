"""A small compiler: functions emitted as LLVM's text, compiled by llvmlite where it is installed.

    from rushlight._native.llvm import emit, loader as engine, target
    if target.available():
        lanes = target.lanes(emit.F32)
        module = emit.Module("example")
        params = [("x", emit.PTR), ("y", emit.PTR), ("a", emit.F32), ("n", emit.I64)]
        f = module.function("axpy", params)
        x, y, a, n = f.params
        whole = n - n % lanes
        wide = emit.F32.vector(lanes)
        with f.loop(0, whole, lanes) as loop:
            there = f.at(y, loop.index, emit.F32)
            here = f.load(f.at(x, loop.index, emit.F32), wide)
            f.store(there, f.fma(here, a, f.load(there, wide)))
        rest = f.mask(n - whole, lanes)
        there = f.at(y, whole, emit.F32)
        tail = f.load_masked(f.at(x, whole, emit.F32), wide, rest)
        f.store_masked(there, f.fma(tail, a, f.load_masked(there, wide, rest)), rest)
        f.ret()
        address = engine.load(module)["axpy"]  # then ctypes.CFUNCTYPE(...)(address)

`llvm` writes functions as text, compiles, keeps and loads them; `math` has exp, log, tanh and
others inlined, `emitted` kernels written by hand, `fusion` kernels from formulas, `threads` a pool,
`cpython` all that reads the objects of Python and NumPy, `collector` what garbage collection sees
of graphs. Importing this package imports no array library and not llvmlite: the first use does.
"""
