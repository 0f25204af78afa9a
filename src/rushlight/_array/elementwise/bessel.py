"""Bessel functions of large float32 arrays, by polynomials in float64.

Sources: the polynomials were fitted at Chebyshev's points to what SciPy gives in float64, for this
file, with errors below 4e-9; Hankel's form of J from 8 on (Digital Library of Mathematical
Functions, 10.17).
"""

from __future__ import annotations

from math import inf, pi
from typing import TYPE_CHECKING

from ..._formula import words as W
from .in_float64 import polynomial

if TYPE_CHECKING:
    from ..._formula.ir import Symbol

# exp(-x) I0(x) √(1 + x) and exp(-x) I1(x) √(1 + x)³ / x, x >= 0, in u = (x - 5) / (x + 5): both go
# to finite limits at both ends of -1 <= u <= 1. Lowest powers first, as everywhere here.
_I0 = (
    0.449581337869, -0.104678372751, 0.116587013504, -0.139481494803, 0.163208649399,
    -0.146738405126, 0.043906824487, 0.099434075617, -0.125881905749, -0.010900937139,
    0.097320600013, 0.003015040111, -0.080143802624, -0.004565983965, 0.057081797933,
    0.005614231891, -0.031212900666, -0.002855067608, 0.010775604732, 0.000628054361,
    -0.00175207938,
)  # fmt: skip
_I1 = (
    0.481978063178, -0.147771698626, 0.098473654487, -0.019381967108, -0.083757003422,
    0.158598690566, -0.118981844404, -0.033227005481, 0.123621661082, -0.021657570482,
    -0.095638513241, 0.020974296612, 0.079865795042, -0.01064421648, -0.05974605508,
    0.00275989541, 0.033563756068, -0.000078112185, -0.011823046151, -0.000101172293,
    0.001914673537,
)  # fmt: skip
# J0(x) and J1(x) / x of x < 8, in x² / 32 - 1.
_J0 = (
    0.04582966485981432, 0.9303012472958586, -0.6484692830872256, -0.8080888076697986,
    1.038379461144761, -0.5074680458454429, 0.14598884855696365, -0.028472718621811482,
    0.00405807904527041, -0.0004435458839674056, 3.8473029320823936e-05, -2.717826026955959e-06,
    1.598592414420056e-07, -7.828258930347338e-09, 2.917356257913969e-11, -6.458816005226842e-11,
    1.707031624645699e-10, 1.2813342219872106e-11, -3.92469810717956e-11,
)  # fmt: skip
_J1 = (
    -0.05814382795599089, 0.0810586603858987, 0.15151665143805632, -0.25959486528599923,
    0.1585837643275652, -0.05474581821164238, 0.012456814388168074, -0.002029039503085772,
    0.00024949460451668314, -2.404571817902535e-05, 1.8683805010484982e-06, -1.1973123848723365e-07,
    6.5615903730071614e-09, -2.2700826782024182e-10, -1.2478502713108972e-10,
    -3.985850922508202e-11, 7.658733508513883e-11, 9.482882281461279e-12, -1.784007112184331e-11,
)  # fmt: skip
# The two factors of Hankel's form of either, the second one times x, in 128 / x² - 1.
_P0 = (
    0.999457275788, -0.000536367315, 0.000006137432, -0.000000205338, 0.000000012709,
    -0.000000000945, 0.000000000332, -0.000000000431, -0.000000000096, 0.000000000202,
)  # fmt: skip
_Q0 = (
    -0.124440911037, 0.000546651935, -0.000011817084, 0.00000056839, -0.000000045512,
    0.000000005597, -0.000000000453, -0.000000000551, -0.000000000205, 0.000000000351,
)  # fmt: skip
_P1 = (
    1.000907026279, 0.000898804935, -0.000007959721, 0.000000245474, -0.00000001455,
    0.000000000916, -0.000000000467, 0.000000000705, 0.000000000163, -0.000000000337,
)  # fmt: skip
_Q1 = (
    0.374214992221, -0.000769716719, 0.000014569562, -0.000000663148, 0.000000051676,
    -0.0000000066, 0.000000000242, 0.000000001191, 0.00000000037, -0.000000000677,
)  # fmt: skip


def _take_out(x: Symbol, coefficients: tuple[float, ...]) -> tuple[Symbol, Symbol]:
    """exp(-|x|) I(x) √(1 + |x|), and 1 + |x|."""
    size = W.absolute(x)
    return polynomial(1 - 10 / (size + 5), coefficients), size + 1


def i0e(x: Symbol) -> Symbol:
    """exp(-|x|) I0(x)."""
    value, root = _take_out(x, _I0)
    return value / W.sqrt(root)


def _i1e(x: Symbol) -> Symbol:
    value, root = _take_out(x, _I1)
    return value * (x / root) / W.sqrt(root)


def i1e(x: Symbol) -> Symbol:
    """exp(-|x|) I1(x)."""
    return W.where(W.absolute(x) == inf, 1 / x, _i1e(x))


def i0(x: Symbol) -> Symbol:
    """I0(x)."""
    return i0e(x) * W.exp(W.absolute(x))


def i1(x: Symbol) -> Symbol:
    """I1(x)."""
    return _i1e(x) * W.exp(W.absolute(x))


def _parts(x: Symbol) -> tuple[Symbol, Symbol, Symbol, Symbol, Symbol]:
    """What polynomials take below 8 and from there on, 1 / |x| there, and the sum and the
    difference of the sine and the cosine, to the size of waves."""
    size = W.absolute(x)
    near, far = W.minimum(size, 8.0), 1 / W.maximum(size, 8.0)
    sine, cosine, waves = W.sin(size), W.cos(size), W.sqrt(far * (1 / pi))
    inner, outer = near * near * (1 / 32) - 1, far * far * 128 - 1
    return inner, outer, far, (sine + cosine) * waves, (sine - cosine) * waves


def j0(x: Symbol) -> Symbol:
    """J0(x)."""
    inner, outer, far, both, gap = _parts(x)
    wave = polynomial(outer, _P0) * both - polynomial(outer, _Q0) * far * gap
    return W.where(W.absolute(x) < 8.0, polynomial(inner, _J0), wave)


def j1(x: Symbol) -> Symbol:
    """J1(x)."""
    inner, outer, far, both, gap = _parts(x)
    wave = polynomial(outer, _P1) * gap + polynomial(outer, _Q1) * far * both
    wave = W.where(x < 0.0, -wave, wave)
    return W.where(W.absolute(x) < 8.0, polynomial(inner, _J1) * x, wave)
