"""The grid of optimizers: every option with every other, on every kind of parameters.

A cell is an optimizer, one option or two, and a kind of parameters. `run_cell` runs one for twenty
steps on a fixed sequence of gradients and gives all that can be seen of it.
"""

import itertools
import re
import warnings
from collections.abc import Iterator
from typing import Any

STEPS = 20
SHAPES = [(3, 4), (5,), (), (2, 1, 3)]
_ADDRESS = re.compile(r"0x[0-9a-f]+")

# Options as expressions, since tensors are of one package or the other (`T`).
FOREACH = ["foreach=True", "foreach=False"]
COMMON = [*FOREACH, "maximize=True", "differentiable=True"]
LR = ["lr=0.1", "lr=T.tensor(0.1)", "lr=0", "lr=T.tensor([0.1], dtype=T.float64)"]
DECAY = ["weight_decay=0.1"]
BETAS = ["betas=(0.4, 0.8)", "betas=(0, 0.99)"]
EPS = ["eps=0.1", "eps=0"]
CAPTURABLE = ["capturable=True"]
DECOUPLED = ["decoupled_weight_decay=True"]

ADAM = [*LR, *BETAS, *EPS, *DECAY, "amsgrad=True", *COMMON, *CAPTURABLE, "fused=True",
        "fused=False", "betas=(T.tensor(0.4), T.tensor(0.8))"]  # fmt: skip
OPTIONS: dict[str, list[str]] = {
    "SGD": [*LR, "momentum=0.9", "momentum=0.5", "dampening=0.3", *DECAY, "nesterov=True", *COMMON,
            "fused=True", "fused=False", "weight_decay=T.tensor(0.1)"],
    "Adam": [*ADAM, *DECOUPLED],
    "AdamW": [*ADAM, "weight_decay=0"],
    "NAdam": [*LR, *BETAS, *EPS, *DECAY, *DECOUPLED, "momentum_decay=0.1", *COMMON, *CAPTURABLE],
    "RAdam": [*LR, *BETAS, "betas=(0.5, 0.9)", *EPS, *DECAY, *DECOUPLED, *COMMON, *CAPTURABLE],
    "Adamax": [*LR, *BETAS, *EPS, *DECAY, *COMMON, *CAPTURABLE],
    "Adagrad": [*LR, "lr_decay=0.1", *EPS, *DECAY, "initial_accumulator_value=0.3", *COMMON,
                "fused=True", "fused=False"],
    "Adadelta": [*LR, "rho=0.5", *EPS, *DECAY, *COMMON, *CAPTURABLE],
    "RMSprop": [*LR, "alpha=0.4", *EPS, *DECAY, "momentum=0.9", "centered=True", *COMMON,
                *CAPTURABLE],
    "Rprop": [*LR, "etas=(0.3, 1.5)", "step_sizes=(1e-3, 0.2)", *COMMON, *CAPTURABLE],
    "ASGD": [*LR, "lambd=0.1", "alpha=0.5", "t0=5", *DECAY, *COMMON, *CAPTURABLE],
    "Adafactor": [*LR, "beta2_decay=-0.3", "eps=(1e-3, 0.1)", "eps=(None, 0.5)", "d=2.0", *DECAY,
                  *FOREACH, "maximize=True"],
    "Muon": [*LR[:3], *DECAY, "weight_decay=0", "momentum=0.5", "nesterov=False", "ns_steps=2",
             "ns_coefficients=(2.0, -1.5, 0.5)", "eps=0.1", "adjust_lr_fn='match_rms_adamw'",
             "adjust_lr_fn='original'"],
    "SparseAdam": [*LR, *BETAS, *EPS, "maximize=True"],
}  # fmt: skip

KINDS = ["float32", "float64", "complex64", "bfloat16", "groups", "pauses", "strided"]


# torch's own implementation fails with an error that means something else.
TORCH_FAILS = [
    (r"^SGD\(.*momentum=0\.[59].*fused=True|^SGD\(.*fused=True.*momentum=", "pauses"),
]


def fails_in_torch(call: str, kind: str) -> bool:
    """Whether a cell is one that torch itself can't run."""
    return any(kind == where and re.search(what, call) for what, where in TORCH_FAILS)


def cells(name: str) -> Iterator[str]:
    """The calls for an optimizer: no option, one, and two of different names."""
    options = OPTIONS[name]
    yield f"{name}(params)"
    for one in options:
        yield f"{name}(params, {one})"
    for one, two in itertools.combinations(options, 2):
        if one.split("=")[0] != two.split("=")[0]:
            yield f"{name}(params, {one}, {two})"


def plain(value: Any) -> Any:
    """Tensors as their dtype, shape and numbers; other things as they are."""
    if hasattr(value, "detach"):
        raw = value.detach()
        dtype = str(raw.dtype).rpartition(".")[2]
        wide = "complex128" if dtype.startswith("complex") else "float64"
        numbers = raw.cpu().reshape(-1).to(getattr(_home(raw), wide)).tolist()
        return ("tensor", dtype, tuple(raw.shape), numbers, bool(value.requires_grad))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value)
    return value


def _home(tensor: Any) -> Any:
    import sys

    return sys.modules[type(tensor).__module__.partition(".")[0]]


def parameters(T: Any, kind: str, shapes: list[tuple[int, ...]]) -> tuple[list[Any], Any]:
    """Fresh parameters of a kind, and their dtype."""
    T.manual_seed(1)
    dtype = getattr(T, kind if kind in ("float64", "complex64", "bfloat16") else "float32")
    wide = T.complex128 if kind == "complex64" else T.float64
    made = []
    for shape in shapes:
        value = T.randn(shape, dtype=wide).to(dtype)
        if kind == "strided" and len(shape) > 1:
            value = value.transpose(0, -1).contiguous().transpose(0, -1)
        made.append(T.nn.Parameter(value))
    return made, (dtype, wide)


def run_cell(T: Any, call: str, kind: str, steps: int = STEPS) -> Any:
    """What is seen of a cell: parameters, state, groups, text; or the error, and when it came."""
    name = call.partition("(")[0]
    shapes = [s for s in [*SHAPES, (4, 2)] if len(s) == 2] if name == "Muon" else SHAPES
    params, (dtype, wide) = parameters(T, kind, shapes)
    given: Any = params
    if kind == "groups":
        given = [{"params": params[:1]}, {"params": params[1:], "lr": 0.3}]
    names = {"T": T, "params": given, **{n: getattr(T.optim, n) for n in OPTIONS}}
    step = -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            optimizer = eval(call, names)
            for step in range(steps):
                for place, p in enumerate(params):
                    pausing = kind == "pauses" and (place + step) % 4 == 0
                    grad = None if pausing else T.randn(p.shape, dtype=wide).to(dtype)
                    # Fused kernels of torch's misread gradients that lie otherwise than parameters.
                    if grad is not None and kind == "strided" and "fused=True" in call:
                        grad = T.empty_like(p).detach().copy_(grad)
                    p.grad = grad
                optimizer.step()
        except Exception as error:
            return {"error": f"{step} {type(error).__name__}: {told(error)}"}
    return seen(optimizer, params)


def told(error: Exception) -> str:
    """An error's text without addresses, C++ frames and the package's name."""
    text = str(error).split("\nException raised from")[0]
    return _ADDRESS.sub("0x", text).replace("rushlight", "torch")


def seen(optimizer: Any, params: list[Any]) -> dict[str, Any]:
    """What can be seen of an optimizer and its parameters."""
    state = optimizer.state_dict()
    return {
        "params": plain(params),
        "state": plain(state["state"]),
        "groups": plain(state["param_groups"]),
        "repr": _ADDRESS.sub("0x", repr(optimizer)).replace("rushlight", "torch"),
        "keys": [list(group) for group in state["param_groups"]],
    }


def differences(ours: Any, theirs: Any, tolerance: float, place: str = "") -> list[str]:
    """Where two results differ by more than `tolerance` of a tensor's largest number, or of 0.1."""
    if isinstance(theirs, tuple) and theirs[:1] == ("tensor",):
        if not isinstance(ours, tuple) or (ours[:3], ours[4:]) != (theirs[:3], theirs[4:]):
            return [f"{place}: {ours} instead of {theirs}"[:300]]
        finite = [abs(b) for b in theirs[3] if abs(b) < float("inf")]
        top = max(finite, default=0.0)
        for a, b in zip(ours[3], theirs[3], strict=True):
            same = a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(top, 0.1)
            if not same:
                return [f"{place}: {a!r} instead of {b!r} (of {top:.3g})"]
        return []
    if isinstance(theirs, float) and isinstance(ours, float):
        same = ours == theirs or abs(ours - theirs) <= 1e-12 * abs(theirs)
        return [] if same else [f"{place}: {ours!r} instead of {theirs!r}"]
    if type(ours) is not type(theirs):
        return [f"{place}: {ours!r} instead of {theirs!r}"[:600]]
    if isinstance(theirs, dict):
        if list(ours) != list(theirs):
            return [f"{place}: keys {list(ours)} instead of {list(theirs)}; {ours.get('error')}"]
        found = []
        for key in theirs:
            found += differences(ours[key], theirs[key], tolerance, f"{place}/{key}")
        return found
    if isinstance(theirs, (list, tuple)):
        if len(ours) != len(theirs):
            return [f"{place}: {len(ours)} entries instead of {len(theirs)}"]
        return [d for i, (a, b) in enumerate(zip(ours, theirs, strict=True))
                for d in differences(a, b, tolerance, f"{place}/{i}")]  # fmt: skip
    return [] if ours == theirs else [f"{place}: {ours!r} instead of {theirs!r}"[:900]]


def tolerance(name: str, kind: str, call: str) -> float:
    """How far a cell's numbers may differ: the roundings of twenty steps in its precision."""
    if kind == "bfloat16":
        return 0.6  # numbers as operands of halves are rounded to halves here
    if name == "Muon":
        return 1e-5  # its matrices are bfloat16
    # A rate that is a float32 tensor is computed with in float32; so are ASGD's grouped rates.
    single = "T.tensor(" in call or (name == "ASGD" and "foreach=True" in call)
    return 1e-12 if kind == "float64" and not single else 5e-8 if kind == "float64" else 5e-6
