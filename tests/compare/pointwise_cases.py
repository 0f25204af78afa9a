"""The pointwise operations that are compared with torch: paths, ranges, further arguments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ANY = (-2.0, 2.0)
POSITIVE = (0.3, 3.0)
UNIT = (-0.9, 0.9)
FRACTION = (0.1, 0.9)
LARGE = (1.2, 4.0)


@dataclass(frozen=True)
class Case:
    """One way to call one operation."""

    path: str  # below torch: "exp", "nn.functional.relu"
    ranges: tuple[tuple[float, float], ...]  # one for each tensor operand
    rest: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    first: tuple[Any, ...] = ()  # what goes before the tensors
    strides: bool = True  # False: torch lays the result out in its own way

    @property
    def name(self) -> str:
        extra = [*map(str, self.first), "x" * len(self.ranges), *map(str, self.rest)]
        extra += [f"{k}={v}" for k, v in self.options.items()]
        return f"{self.path}({','.join(extra)})"


def unary(names: str, domain: tuple[float, float] = ANY) -> list[Case]:
    return [Case(name, (domain,)) for name in names.split()]


def binary(names: str, *domains: tuple[float, float]) -> list[Case]:
    return [Case(name, domains or (ANY, ANY)) for name in names.split()]


F = "nn.functional."
CASES: list[Case] = [
    *unary("abs ceil conj conj_physical cos cosh deg2rad exp exp2 expm1 floor frac isfinite isinf "
           "isnan isneginf isposinf isreal logical_not nan_to_num neg rad2deg round sgn sigmoid "
           "sign "
           "signbit sin sinc sinh square tan tanh trunc fix absolute negative bitwise_not positive "
           "relu erf erfc i0 atan asinh arctan frexp special.expit"),
    *unary("reciprocal sqrt rsqrt log log2 log10 log1p lgamma digamma special.gammaln", POSITIVE),
    *unary("asin acos atanh erfinv", UNIT),
    *unary("acosh arccosh", LARGE),
    *unary("special.i0e special.i1 special.i1e special.ndtr special.log_ndtr special.erfcx "
           "special.psi "
           "special.bessel_j0 special.bessel_j1 special.airy_ai special.spherical_bessel_j0 "
           "special.modified_bessel_i0 special.modified_bessel_i1", POSITIVE),
    *unary("special.bessel_y0 special.bessel_y1 special.modified_bessel_k0 "
           "special.modified_bessel_k1 "
           "special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1 special.entr",
           POSITIVE),
    *unary("logit special.ndtri", FRACTION),
    *unary(F + "relu relu6 leaky_relu elu selu celu gelu silu mish softplus softsign hardtanh "
           "hardsigmoid "
           "hardswish tanhshrink softshrink hardshrink".replace(" ", f" {F}")),
    Case(F + "logsigmoid", (ANY,), strides=False),
    Case("real", (ANY,), strides=False),
    Case("angle", (ANY,), strides=False),
    Case(F + "gelu", (ANY,), (), {"approximate": "tanh"}),
    Case(F + "leaky_relu", (ANY,), (1.5,)),
    Case(F + "elu", (ANY,), (0.7,)),
    Case(F + "celu", (ANY,), (0.7,)),
    Case(F + "hardtanh", (ANY,), (-0.5, 0.8)),
    Case(F + "threshold", (ANY,), (0.2, 3.0)),
    Case(F + "softplus", (ANY,), (2.0, 1.0)),
    Case(F + "prelu", (ANY, (0.1, 0.5))),
    Case("logit", (ANY,), (0.2,)),
    *[Case("round", (ANY,), (), {"decimals": n}) for n in (0, 2, -1)],
    Case("nan_to_num", (ANY,), (1.0, 2.0, -3.0)),
    *[Case("polygamma", (POSITIVE,), first=(n,)) for n in (0, 1, 2, 3)],
    *[Case("mvlgamma", (LARGE,), (p,), strides=False) for p in (1, 3)],
    *[Case("clamp", (ANY,), rest) for rest in ((-0.5, 0.5), (0,), (None, 1), (1, -1), (0.5, 2))],
    Case("clip", (ANY,), (-1, 1)),
    *[Case(f"clamp_{side}", (ANY,), (bound,)) for side in ("min", "max") for bound in (0, 0.5)],
    *[Case("pow", (POSITIVE,), (p,)) for p in (0, 1, 2, 3, 0.5, -1, -0.5, -2, 2.3, 4)],
    *[Case("pow", (ANY,), first=(base,), strides=False) for base in (2, 0.5, 1)],
    *[Case("float_power", (POSITIVE,), (p,)) for p in (2, 0.5)],
    *binary("add sub mul rsub eq ne lt le gt ge maximum minimum fmax fmin atan2 hypot copysign "
           "logaddexp "
            "logaddexp2 logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor "
            "heaviside "
            "nextafter multiply subtract greater less not_equal equal isclose ldexp"),
    *binary("div true_divide divide floor_divide remainder fmod", ANY, LARGE),
    *binary("pow float_power xlogy special.xlog1py", POSITIVE, POSITIVE),
    *binary("igamma igammac special.gammainc", POSITIVE, POSITIVE),
    *binary("special.zeta", LARGE, POSITIVE),
    *binary("gcd lcm bitwise_left_shift bitwise_right_shift", LARGE, (0.0, 9.0)),
    *[Case(name, (POSITIVE, ANY), strides=False) for name in ("complex", "polar")],
    *[Case("div", (ANY, LARGE), (), {"rounding_mode": mode}) for mode in (None, "floor", "trunc")],
    *[Case(name, (ANY,), (number,))
      for name in ("add", "sub", "mul", "rsub") for number in (2, 1.5)],
    *[Case(name, (ANY,), (number,))
      for name in ("eq", "lt", "ge", "copysign") for number in (1, 0.5)],
    *[Case(name, (ANY,), (number,)) for name in ("div", "floor_divide", "remainder", "fmod")
      for number in (2, -1.5)],
    *[Case(name, (ANY,), (3,)) for name in ("bitwise_and", "bitwise_or")],
    Case("bitwise_left_shift", (ANY,), (3,), strides=False),
    Case("add", (ANY, ANY), (), {"alpha": 2}),
    Case("sub", (ANY, ANY), (), {"alpha": 0.5}),
    Case("rsub", (ANY, ANY), (), {"alpha": 2}),
    Case("xlogy", (ANY,), (1.3,)),
    Case("xlogy", (POSITIVE,), first=(1.3,)),
    Case("special.xlog1py", (ANY,), (1.3,)),
    Case("addcmul", (ANY, ANY, ANY)),
    Case("addcmul", (ANY, ANY, ANY), (), {"value": 0.5}),
    Case("addcdiv", (ANY, ANY, LARGE), (), {"value": 2}),
    Case("lerp", (ANY, ANY), (0.3,)),
    Case("lerp", (ANY, ANY), (0.8,)),
    Case("lerp", (ANY, ANY, FRACTION)),
    Case("clamp", (ANY, UNIT, POSITIVE)),
    Case("clamp_min", (ANY, UNIT)),
    Case("special.chebyshev_polynomial_t", (UNIT,), (4,), strides=False),
    Case("special.chebyshev_polynomial_u", (UNIT,), (4,), strides=False),
    Case("special.chebyshev_polynomial_v", (UNIT,), (4,), strides=False),
    Case("special.chebyshev_polynomial_w", (UNIT,), (4,), strides=False),
    Case("special.shifted_chebyshev_polynomial_t", (UNIT,), (3,), strides=False),
    Case("special.hermite_polynomial_h", (UNIT,), (4,), strides=False),
    Case("special.hermite_polynomial_he", (UNIT,), (4,), strides=False),
    Case("special.laguerre_polynomial_l", (UNIT,), (4,), strides=False),
    Case("special.legendre_polynomial_p", (UNIT,), (4,), strides=False),
]  # fmt: skip

METHODS_IN_PLACE = [
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "neg",
    "rad2deg",
    "reciprocal",
    "relu",
    "round",
    "rsqrt",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinc",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
    "i0",
    "nan_to_num",
    "negative",
    "fix",
]
BINARY_IN_PLACE = [
    "add",
    "sub",
    "mul",
    "div",
    "floor_divide",
    "remainder",
    "fmod",
    "pow",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "atan2",
    "hypot",
    "copysign",
    "xlogy",
    "logical_and",
    "logical_or",
    "bitwise_and",
    "bitwise_xor",
    "true_divide",
    "multiply",
    "ldexp",
    "float_power",
    "clamp_min",
]
