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
    0.4495813378686384, -0.10467837275132713, 0.1165870135036094, -0.13948149480331196,
    0.16320864939928653, -0.1467384051255087, 0.04390682448671197, 0.09943407561699105,
    -0.12588190574921632, -0.01090093713910332, 0.0973206000126837, 0.003015040110828854,
    -0.08014380262394741, -0.0045659839646206585, 0.05708179793324059, 0.0056142318913994915,
    -0.03121290066648664, -0.0028550676075255947, 0.010775604732317751, 0.0006280543605550573,
    -0.0017520793798287567,
)  # fmt: skip
_I1 = (
    0.4819780631778734, -0.14777169862616255, 0.09847365448681197, -0.019381967107872086,
    -0.08375700342216183, 0.1585986905663301, -0.11898184440392717, -0.03322700548083533,
    0.12362166108196915, -0.021657570481932672, -0.09563851324055958, 0.020974296611585674,
    0.07986579504187327, -0.010644216480123045, -0.059746055079750095, 0.0027598954099661284,
    0.03356375606781591, -7.8112184867997e-05, -0.0118230461511032, -0.00010117229345418069,
    0.0019146735370570397,
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
    0.9994572757878561, -0.000536367315242786, 6.137431932583535e-06, -2.0533800268579532e-07,
    1.2708701889877543e-08, -9.45347753099934e-10, 3.3223869014296725e-10, -4.3132536109597167e-10,
    -9.614022084370886e-11, 2.0205682404366348e-10,
)  # fmt: skip
_Q0 = (
    -0.12444091103678034, 0.0005466519346268154, -1.181708362541803e-05, 5.683900381924765e-07,
    -4.551244679531483e-08, 5.596943910786805e-09, -4.5256622600940184e-10, -5.512407921516373e-10,
    -2.0537270148579287e-10, 3.513298194688739e-10,
)  # fmt: skip
_P1 = (
    1.000907026278744, 0.0008988049350537712, -7.959721143098475e-06, 2.4547353090269835e-07,
    -1.4549905769729408e-08, 9.156700262170656e-10, -4.67151435903991e-10, 7.046841459419025e-10,
    1.6348768256775195e-10, -3.374903579137412e-10,
)  # fmt: skip
_Q1 = (
    0.3742149922209004, -0.0007697167188359968, 1.4569562384332197e-05, -6.631476380268786e-07,
    5.16760009911581e-08, -6.5996930306730095e-09, 2.424678930093509e-10, 1.1909508446521654e-09,
    3.7015200536430285e-10, -6.774822029729682e-10,
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
