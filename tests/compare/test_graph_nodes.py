"""Behind every public row on its samples: torch records the same nodes, edges and saved values.

A case is run with all its inputs requiring grad, and with each alone.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the comparison needs torch")

import rushlight  # noqa: E402
from rushlight._base import dtypes as D  # noqa: E402
from tests.compare.test_table import NAMED, ours, theirs, to_torch  # noqa: E402
from tests.table._samples import Case  # noqa: E402

_LINALG = "decompositions are saved in another form, or computed again from the matrix"
_READ = "nodes save what their formulas read"
_STEPS = "computed by other steps"

#: Rows behind which other nodes stand, each with the reason: strict, and only to shrink.
GRAPHS: dict[str, str] = {
    "linalg_lu_solve": _STEPS,
    "ndtr": _STEPS,
}
#: Rows whose nodes show other saved values.
SAVED: dict[str, str] = {
    "logsigmoid": _READ,
    "addcdiv": _READ,
    "lerp.Tensor": _READ,
    "index_add": _READ,
    "index_copy": _READ,
    "gather": _READ,
    "put": _READ,
    "masked_select": _READ,
    "masked_scatter": _READ,
    "binary_cross_entropy_with_logits": _READ,
    "complex": _READ,
    "linalg_solve": _LINALG,
    "linalg_solve_ex": _LINALG,
    "triangular_solve": _LINALG,
    "linalg_det": _LINALG,
    "linalg_slogdet": _LINALG,
    "slogdet": _LINALG,
    "cholesky_solve": _LINALG,
    "linalg_householder_product": _LINALG,
    "orgqr": _LINALG,
    "ormqr": _LINALG,
    "linalg_eigvalsh": _LINALG,
    "linalg_eigvals": _LINALG,
    "linalg_svd": _LINALG,
    "linalg_svdvals": _LINALG,
    "embedding": _READ,
    "addmm": _READ,
    "addbmm": _READ,
    "linalg_lu": _LINALG,
    "linalg_lu_factor_ex": _LINALG,
    "lu_unpack": _LINALG,
    "linalg_lu_solve": _LINALG,
    "native_layer_norm": _READ,
    "channel_shuffle": _READ,
    "erfinv": _READ,
    "ndtr": _READ,
    "log_ndtr": _READ,
    "xlog1py.other_scalar": _READ,
    "unbind_copy.int": _READ,
}

DEPTH = 6


def drawn(node: Any, depth: int = 0) -> str:
    """The graph behind a node as text: names, and which outputs the edges lead to."""
    if node is None:
        return "None"
    if depth == DEPTH:
        return "..."
    edges = [f"{drawn(child, depth + 1)}#{nr}" for child, nr in node.next_functions]
    return f"{type(node).__name__}({', '.join(edges)})"


def told(value: Any) -> Any:
    """A saved value as it can be compared: of tensors the type and the shape."""
    if isinstance(value, (torch.Tensor, rushlight.Tensor)):
        return ("tensor", str(value.dtype).removeprefix("torch."), tuple(value.shape))
    if isinstance(value, (torch.dtype, D.dtype)):
        return ("dtype", str(value).removeprefix("torch."))
    if isinstance(value, (tuple, list)):
        return tuple(told(v) for v in value)
    return (type(value).__name__, str(value))


def saved(node: Any) -> dict[str, Any]:
    """What a node shows under `_saved_…`."""
    return {n: told(getattr(node, n)) for n in dir(node) if n.startswith("_saved_")}


def pairs(case: Case, wants: tuple[int, ...]) -> list[tuple[Any, Any]]:
    """The last nodes of torch's results and of ours."""
    args = [to_torch(a) for a in case.args]
    for k, (position, item) in enumerate(case.places):
        if k in wants:
            (args[position] if item is None else args[position][item]).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outs = theirs(case.row, args)
        except RuntimeError as refusal:
            if "does not support automatic differentiation" in str(refusal):
                return []
            raise
        mine = ours(case.row, case.tensors(wants=wants)[0])
    return [
        (a.grad_fn, b.grad_fn)
        for a, b in zip(outs, mine)
        if isinstance(a, torch.Tensor) and a.grad_fn is not None
    ]


def requests(case: Case) -> list[tuple[int, ...]]:
    """Which inputs require grad: all of them, then each alone."""
    everything = tuple(case.everything)
    return [everything, *([(k,) for k in everything] if len(everything) > 1 else [])]


BY_ROW: dict[str, list[Case]] = {}
for _case in NAMED:
    BY_ROW.setdefault(_case.row.schema.text.partition("(")[0], []).append(_case)


def marked(known: dict[str, str]) -> list[Any]:
    """All rows as parameters, known differences marked."""
    return [
        pytest.param(
            name,
            marks=[pytest.mark.xfail(strict=True, reason=known[name])] if name in known else [],
        )
        for name in BY_ROW
    ]


@pytest.mark.parametrize("name", marked(GRAPHS))
def test_torch_records_the_same_nodes_and_edges(name: str) -> None:
    for case in BY_ROW[name]:
        for wants in requests(case):
            for theirs_, mine in pairs(case, wants):
                assert drawn(mine) == drawn(theirs_), (case.id, wants)


@pytest.mark.parametrize("name", marked(SAVED))
def test_torch_shows_the_same_saved_values(name: str) -> None:
    for case in BY_ROW[name]:
        for wants in requests(case):
            for theirs_, mine in pairs(case, wants):
                if type(mine).__name__ == type(theirs_).__name__:
                    assert saved(mine) == saved(theirs_), (case.id, wants)
