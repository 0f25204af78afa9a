"""What stays different from PyTorch, by operator and check, each with its reason.

Strict: `python -m tests.compare.operators` ends with an error where something else differs, and
where something that is listed here has become equal. The reasons stand at more length in
docs/notes/differences.md, under "Operator by operator".
"""

from __future__ import annotations

_TIES = "Which of equal elements: PyTorch's partial sorts leave equal ones in an order of their own"
_STEPS = "Half precision is rounded at other steps"
_SLOPE = "PyTorch's gradient doesn't agree with differences of the values"
_NUMBERS = "A special method called by its name with two numbers: a check would cost every `2 + x`"
_META = "There is no device meta"
_SAMPLE = "PyTorch's gradient of the sample's window is None, of a copy of the window it isn't"
_UNWRITTEN = "PyTorch leaves `out=` unwritten"
_DIGITS = "PyTorch's value is the less accurate one (about six digits)"
_MEMORY = "`out=` that shares memory and is too small: another of two refusals comes first"

KNOWN: dict[tuple[str, str], str] = {
    ("matrix_exp", "forward"): "PyTorch's result in bfloat16 overflows to nan",
    ("matrix_exp", "method"): "The last digits: another order of rounding",
    ("nn.functional.conv_transpose2d", "forward"): _STEPS,
    ("nn.functional.conv_transpose3d", "forward"): _STEPS,
    ("nn.functional.bilinear", "forward"): _STEPS,
    ("special.bessel_j0", "forward"): _DIGITS,
    ("special.bessel_y1", "forward"): _DIGITS,
    ("cholesky_inverse", "forward_mode"): "Five digits: the samples are almost singular",
    ("logcumsumexp", "forward_mode"): "Six digits: PyTorch subtracts nearly equal numbers",
    ("istft", "gradient"): _SAMPLE,
    ("istft", "second"): _SAMPLE,
    ("as_strided_scatter", "gradient"): _SLOPE,
    ("as_strided_scatter", "second"): _SLOPE,
    ("nn.functional.linear_cross_entropy:chunked", "second"): (
        "PyTorch's second gradient is zero: the first is computed ahead, as a constant"
    ),
    ("fft.ihfft2", "out"): _UNWRITTEN,
    ("fft.ihfftn", "out"): _UNWRITTEN,
    ("gradient", "error_text"): _META,
    ("cat", "error_text"): _MEMORY,
    **{(name, check): _TIES for name in ("kthvalue", "topk", "mode", "sort")
       for check in ("forward", "method", "out")},
    **{("argsort", check): _TIES for check in ("forward", "method")},
    **{(f"__{name}__", check): _NUMBERS for name in ("radd", "rmul", "rdiv")
       for check in ("error_class", "error_text")},
    **{(f"__{name}__", "error_text"): _NUMBERS for name in ("rand", "ror", "rxor")},
}  # fmt: skip
