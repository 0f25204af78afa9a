"""The help of public classes: modules, optimizers, distributions, data; see `help_texts`.

A class says what it is in its docstring. What its parameters mean, shapes, errors and an example
are found as those of functions are: by its whole name, as in `nn.Linear`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

from rushlight._base.own_packages import package_name
from rushlight._tensor.help_texts import RULE, ClassText
from tests.table import help_parts
from tests.table.help_parts import Own, Seen, Shown

PLACES = ("nn", "distributions", "optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data")
#: Classes whose parameters are those of another one.
AS = {"nn.RNN": "RNNBase", "nn.LSTM": "RNNBase", "nn.GRU": "RNNBase"}


def own_text(kind: type) -> str:
    """What a class itself says."""
    said = vars(kind)["__doc__"]
    return inspect.cleandoc(said.own if isinstance(said, ClassText) else said)


def shown_parameters(name: str, kind: Any) -> list[Shown]:
    """The parameters with which instances are made."""
    found = list(inspect.signature(kind).parameters.values())
    if name in AS:
        base = getattr(importlib.import_module(f"rushlight.{name.rpartition('.')[0]}"), AS[name])
        found = [*found, *list(inspect.signature(base).parameters.values())[1:]]
    shown = []
    for p in found:
        if p.kind is p.VAR_KEYWORD or p.name[0] == "_":
            continue
        plain = p.default is None or type(p.default) in (bool, int, float, str, tuple)
        default = repr(p.default) if plain else getattr(p.default, "__name__", "…")
        kind_of = inspect.formatannotation(p.annotation) if p.annotation is not p.empty else ""
        kind_of = kind_of.strip("'").replace("rushlight._tensor.tensor.", "")
        kind_of = "" if "." in kind_of or kind_of in ("Any", "object") else kind_of
        default = "" if p.default is p.empty else default
        shown.append(Shown(p.name, kind_of, default, p.kind is p.KEYWORD_ONLY))
    return shown


def attempts(name: str) -> Iterator[str]:
    """Examples that may work."""
    place, _, short = name.rpartition(".")
    if place == "nn":
        for arguments in ("", "1", "2"):
            for given in (
                "torch.tensor([-1.0, 0.5, 2.0])", "torch.tensor([[-1.0, 1.0]])",
                "torch.tensor([[1.0, 2.0]]), torch.tensor([[1.5, 2.0]])",
            ):  # fmt: skip
                yield f"nn.{short}({arguments})({given})"
    elif place == "distributions":
        yield f"torch.distributions.{short}()(torch.tensor([0.5, 1.0]))"
        for arguments in (
            "torch.tensor(0.5)", "torch.tensor(1.0), torch.tensor(2.0)",
            "torch.tensor([0.25, 0.75])", "torch.tensor(0.0), torch.tensor(1.0)",
        ):  # fmt: skip
            for value in ("torch.tensor(0.5)", "torch.tensor(1.0)", "torch.tensor([0.5, 0.5])"):
                yield f"torch.distributions.{short}({arguments}).log_prob({value})"
    elif place == "optim":
        yield (
            f"w = torch.tensor([1.0, 2.0], requires_grad=True) ;; step = torch.optim.{short}([w]) "
            ";; w.square().sum().backward() ;; step.step() ;; w"
        )
    elif place == "optim.lr_scheduler":
        for arguments in ("", ", 2", ", 0.5"):
            yield (
                "step = torch.optim.SGD([torch.ones(1)], lr=0.1) ;; "
                f"plan = torch.optim.lr_scheduler.{short}(step{arguments}) ;; "
                "for _ in range(2): step.step(); plan.step() ;; plan.get_last_lr()"
            )


def example(name: str) -> Seen | None:
    """The example of a class."""
    hand = help_parts.given_examples().get(name)
    if hand is not None:
        seen = help_parts.run(hand, "ignore")
        if seen is None:
            help_parts.BROKEN.append(f"{name}: {hand}")
        return seen
    for source in attempts(name):
        seen = help_parts.run(source)
        if seen is not None and help_parts.is_good(seen):
            return seen
    return None


def body(name: str, kind: type) -> str:
    """The text of a class."""
    own: Own = help_parts.taken_apart(own_text(kind))
    shown = shown_parameters(name, kind)
    lines = [*own.lines, *help_parts.parameters(name, shown, own)]
    shapes = own.parts.get("Shapes") or help_parts.said_in("help_shapes.txt", name)
    lines += help_parts.part("Shapes", shapes)
    errors = [*own.parts.get("Raises", []), *help_parts.said_in("help_raises.txt", name)]
    if shown:
        lines += help_parts.part("Raises", errors or ["    TypeError: for other parameters."])
    seen = example(name)
    if own.parts.get("Example"):
        lines += help_parts.part("Example", own.parts["Example"])
    elif seen is not None:
        lines += help_parts.shown_example(seen)
    return help_parts.joined(lines)


def entries() -> Iterator[tuple[str, str]]:
    """The entries of all classes."""
    seen: set[type] = set()
    for place in PLACES:
        module = importlib.import_module(f"{package_name()}.{place}")
        for short in module.__all__:
            kind = getattr(module, short)
            if isinstance(kind, type) and isinstance(vars(kind).get("__doc__"), ClassText):
                name = vars(kind)["__doc__"].name
                if kind not in seen:
                    seen.add(kind)
                    yield name, RULE + body(name, kind)
