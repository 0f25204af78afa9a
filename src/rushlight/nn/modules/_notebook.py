"""How a module shows itself in a notebook: a table of its layers and their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base.notebook_forms import preformat, table

if TYPE_CHECKING:
    from .module import Module

MOST_ROWS = 200


def in_notebook(module: Module, plain: bool) -> str:
    """The module as HTML: a table, or its text where it has no parts or a `repr` of its own."""
    shapes = [(name, tuple(p.shape), p.requires_grad) for name, p in module.named_parameters()]
    count = sum(product(shape) for _, shape, _ in shapes)
    trained = sum(product(shape) for _, shape, wanted in shapes if wanted)
    note = f"{count:,} parameters" + (f", {trained:,} of them trained" if trained != count else "")
    if not plain or not module._modules:
        return preformat(repr(module), note)
    rows = []
    for path, part in module.named_modules():
        own = [p for p in part._parameters.values() if p is not None]
        if path and (own or not part._modules):
            said = f"{part._get_name()}({part.extra_repr()})"
            held = ", ".join(str(list(p.shape)) for p in own)
            rows.append((path, said, held, f"{sum(product(p.shape) for p in own):,}"))
    if len(rows) > MOST_ROWS:
        note += f"; {len(rows) - MOST_ROWS} more layers"
    head = (module._get_name(), "layer", "shapes", "parameters")
    return table(head, rows[:MOST_ROWS], note)


def product(shape: tuple[int, ...]) -> int:
    """How many elements a shape has."""
    count = 1
    for size in shape:
        count *= size
    return count
