"""Epilogues: a bias, and zeros for negatives, that follow a product are done as it is stored.

Where the product is BLAS's, or the bias isn't a row in order, the sum is a step of its own, which
fuses with what follows.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from ..._array.memory.aliasing import UFUNC_OF
from ..ir.iteration_values import in_order
from ..ir.program import Instruction, Value
from ..lowering.gemm import Product, product_of, worth_transposing
from .fuse import has_joined

if TYPE_CHECKING:
    from ..assembly.plan import Plan


def with_product(plan: Plan, i: Instruction) -> bool:
    """Whether the instruction has become a product of the plan, its bias included."""
    product = product_of(i)
    if product is None:
        return False
    out, product.source = product.out, i
    bias = i.inputs[2] if i.rule == "linear" else None
    if bias is not None:
        if type(bias) is not Value or bias.shape != out.shape[-1:] or bias.dtype != out.dtype:
            return False
        if product.emitted and in_order(bias):
            product.bias = bias
        else:
            product.out = plan.scratch(out)
    a, b, _ = product.parts[0]
    alone = len(product.parts) == product.several == 1
    if product.emitted and alone and worth_transposing(a.rows, b):
        product.room = plan.scratch(out, (b.rows, b.columns))
    place = plan.append(product)
    plan.when[product.out.root] = place
    if product.out is not out:
        add = Instruction(
            "call", UFUNC_OF[operator.add], "add", (product.out, bias), (out,), pure=True
        )
        plan.origin[id(add)] = i
        if not has_joined(plan, add):
            plan.items.pop()
            return False
    for v in product.reads():
        plan.readers[v.root] = max(place, plan.readers.get(v.root, 0))
    return True


def with_relu(plan: Plan, i: Instruction) -> bool:
    """Whether a product before has taken over the zeros for negatives."""
    if i.rule != "relu" or len(i.inputs) != 1:
        return False
    x, out = i.inputs[0], i.outputs[0]
    if type(x) is not Value or out is None or out.view:
        return False
    place = plan.when.get(x.root, -1)
    if place < plan.first or x.view or x.root in plan.kept or plan.count.get(x.root) != 1:
        return False
    item = plan.items[place]
    if not isinstance(item, Product) or not item.emitted or item.relu or item.out is not x:
        return False
    if not in_order(out):
        return False
    item.out, item.relu = out, True
    plan.when[out.root] = place
    return True
