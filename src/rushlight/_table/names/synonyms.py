"""Second names of operations, and the in-place ones that are functions too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..._base.own_packages import package_name
from ..calls.argument_parser import is_number
from ..elementwise.arithmetic import sub_number
from ..rows.composite import composite
from ..rows.tensor_namespace import table

if TYPE_CHECKING:
    from ..._base.annotations import AnyCallable
    from ..._tensor.tensor import Tensor

#: name -> the operation it is another name of
SYNONYMS: Final[dict[str, str]] = {
    "absolute": "abs", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div",
    "negative": "neg", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "arctan2": "atan2", "clip": "clamp", "fix": "trunc",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
}  # fmt: skip
SPECIAL: Final[dict[str, str]] = {
    "expit": "sigmoid", "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma",
    "multigammaln": "mvlgamma", "psi": "digamma",
}  # fmt: skip
#: in-place methods that PyTorch has as functions
FUNCTIONS: Final = (
    "abs_ acos_ acosh_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ "
    "atanh_ ceil_ "
    "clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ erf_ erfc_ exp2_ exp_ "
    "expm1_ "
    "fix_ floor_ frac_ gcd_ i0_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ "
    "negative_ "
    "rad2deg_ reciprocal_ relu_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ "
    "trunc_ "
    "xlogy_"
)


def _second(name: str, target: str) -> AnyCallable:
    def function(*args: object, **kwargs: object) -> Any:
        return table(target)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Another name of `{target}`."
    function.__module__ = package_name()
    return function


def _function(name: str) -> AnyCallable:
    def function(input: Tensor, *args: object, **kwargs: object) -> Any:
        return getattr(input, name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Calls `Tensor.{name}`."
    function.__module__ = package_name()
    return function


def _with_alpha(name: str, target: str) -> AnyCallable:
    """The same, where a third argument is `alpha`: this name has no old order of arguments."""
    second = _second(name, target)

    def function(*args: object, **kwargs: object) -> Any:
        if len(args) == 3 and not kwargs and is_number(args[1]):
            return (table("_sub_") if name[-1] == "_" else sub_number)(*args)
        if len(args) == 3:
            return second(*args[:2], alpha=args[2], **kwargs)
        return second(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = second.__doc__, second.__module__
    return function


for _name, _target in SYNONYMS.items():
    _make = _with_alpha if _name == "subtract" else _second
    composite("", method=True, name=_name)(_make(_name, _target))
    composite("private", method=True, name=_name + "_")(_make(_name + "_", _target + "_"))
for _name, _target in SPECIAL.items():
    composite("special", name=_name)(_second(_name, _target))
for _name in FUNCTIONS.split():
    composite("", name=_name)(_function(_name))
