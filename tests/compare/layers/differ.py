"""In what two observations of a layer differ, line by line."""

from __future__ import annotations

from typing import Any

import numpy as np

# Relative to the largest entry of what is compared; a layer's initial values must be the same bits
# up to one rounding.
TOLERANCE = {"torch.float64": 1e-9, "torch.float32": 3e-5, "torch.bfloat16": 2e-2}
INITIAL = 2e-7
ABSENT = "nothing"


def differences(wanted: Any, got: Any, where: str = "") -> list[str]:
    """One line for each leaf that isn't the same on both."""
    if isinstance(wanted, dict) and "values" in wanted and "dtype" in wanted:
        return _tensors(wanted, got, where)
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return [f"{where}: {_brief(wanted)} INSTEAD {_brief(got)}"]
        lines = []
        for key in [*wanted, *[k for k in got if k not in wanted]]:
            below = f"{where}/{key}" if where else key
            lines += differences(wanted.get(key, ABSENT), got.get(key, ABSENT), below)
        if not lines and list(wanted) != list(got):
            lines.append(f"{where}: in the order {list(wanted)} INSTEAD {list(got)}")
        return lines
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return [f"{where}: {_brief(wanted)} INSTEAD {_brief(got)}"]
        pairs = enumerate(zip(wanted, got, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{where}[{i}]")]
    if isinstance(wanted, float) and isinstance(got, float):
        same = wanted == got or abs(wanted - got) <= 1e-9 * abs(wanted) or wanted != wanted != got
        return [] if same else [f"{where}: {wanted} INSTEAD {got}"]
    same = type(wanted) is type(got) and wanted == got
    return [] if same else [f"{where}: {_brief(wanted)} INSTEAD {_brief(got)}"]


def _tensors(wanted: dict[str, Any], got: Any, where: str) -> list[str]:
    if not isinstance(got, dict) or "dtype" not in got:
        return [f"{where}: a tensor INSTEAD {_brief(got)}"]
    lines = []
    for key in ("dtype", "grad", "stride"):
        if key in wanted and wanted[key] != got.get(key):
            lines.append(f"{where}.{key}: {wanted[key]} INSTEAD {got.get(key)}")
    a, b = wanted["values"], got["values"]
    if a.shape != b.shape:
        return [*lines, f"{where}.shape: {a.shape} INSTEAD {b.shape}"]
    if not a.size:
        return lines
    if a.dtype.kind != "f":
        if not np.array_equal(a, b):
            lines.append(f"{where}: other values {_some(a)} INSTEAD {_some(b)}")
        return lines
    initial = where.startswith(("state/", "copy", "pickle"))
    share = INITIAL if initial else TOLERANCE.get(wanted["dtype"], 1e-9)
    finite = np.abs(a[np.isfinite(a)])
    scale = max(float(finite.max()) if finite.size else 1.0, 0.0 if initial else 1e-2)
    if not np.allclose(a, b, rtol=0, atol=share * scale, equal_nan=True):
        with np.errstate(invalid="ignore"):
            off = np.nanmax(np.abs(a - b)) / (scale or 1)
        lines.append(f"{where}: off by {off:.2g} of the largest: {_some(a)} INSTEAD {_some(b)}")
    return lines


def _some(array: Any) -> str:
    return np.array2string(array.reshape(-1)[:5], precision=6)


def _brief(value: Any) -> str:
    if isinstance(value, dict | list):
        return "values"
    return str(value)[:500]
