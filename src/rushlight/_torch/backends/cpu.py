"""`torch.backends.cpu`: what the processor can do."""

from __future__ import annotations

from .. import cpu as _cpu


def get_cpu_capability() -> str:
    """The widest vectors that the processor has, by PyTorch's names."""
    flags = _cpu.get_capabilities()
    if "avx512f" in flags and "avx512bw" in flags and "fma" in flags:
        return "AVX512"
    return "AVX2" if "avx2" in flags and "fma" in flags else "DEFAULT"
