"""Functions that PyTorch computes in steps show the same steps: versions, views and nodes.

A result that is written in place has a version above 0; one that is cut from a hidden tensor is
no view; the nodes are those of the steps.
"""

from __future__ import annotations

from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")

PLAIN = """
torch.isclose(m, m)
torch.isclose(m, m, equal_nan=True)
torch.isclose(i, i, equal_nan=True)
torch.isclose(m, m, rtol=0, atol=0)
torch.isclose(m * 1j, m * 1j, equal_nan=True)
torch.linalg.matrix_rank(s)
torch.linalg.matrix_rank(b, tol=0.1)
torch.linalg.cond(s)
torch.linalg.cond(s, 1)
torch.linalg.cond(b, 'fro')
torch.linalg.cond(b[:0], 2)
torch.quantile(m, 0.3)
torch.quantile(m, torch.tensor(0.3), dim=0, keepdim=True)
torch.quantile(m, v / 4, dim=1)
torch.quantile(m, v / 4, dim=-2, keepdim=True)
torch.quantile(m, 0.3, interpolation='lower')
torch.quantile(m, 0.3, keepdim=True, interpolation='midpoint')
torch.quantile(torch.tensor(2.0), 0.5, dim=0)
torch.nanquantile(m, v / 4)
torch.nanquantile(torch.tensor([[1.0, float('nan'), 3.0], [float('nan')] * 3]), 0.5, dim=1)
torch.vander(v)
torch.vander(v, increasing=True)
torch.vander(i, 4, increasing=True)
torch.vander(v, 0)
torch.vander(v, 1)
torch.vander(v, 1, increasing=True)
torch.svd(s, compute_uv=False)[0]
torch.svd(s, compute_uv=False)[2]
torch.max_pool1d(m, 2)
torch.max_pool1d(m[None], 2)
torch.trapezoid(m[:, :0])
torch.hann_window(4)
torch.hamming_window(5, periodic=False)
torch.bartlett_window(4)
torch.blackman_window(4)
torch.kaiser_window(4)
torch.hann_window(1)
torch.nn.functional.local_response_norm(b, 2)
torch.nn.functional.local_response_norm(b[None], 3)
torch.nn.functional.local_response_norm(b[None, None], 3, k=2.0)
torch.nn.functional.local_response_norm(b.long() + 3, 2)
torch.cov(m)
torch.cov(m, correction=0)
torch.complex(m.t(), m.t()).angle()
torch.complex(b, b).permute(2, 0, 1).angle()
torch.repeat_interleave(torch.tensor(2.0), 3)
torch.diff(m, 0, dim=7)
"""
RECORDED = """
torch.quantile(m, 0.3)
torch.quantile(m, 0.3, dim=0)
torch.quantile(m, 0.3, dim=1, keepdim=True)
torch.quantile(m, v.detach() / 4, dim=0)
torch.quantile(v, 0.5, interpolation='nearest')
torch.nanquantile(m, 0.3)
torch.linalg.cond(s)
torch.linalg.cond(s, -2)
torch.linalg.multi_dot([s, s, v])
torch.linalg.multi_dot([v, s, s])
torch.linalg.multi_dot([v, s, v])
torch.cov(m)
torch.corrcoef(m)
torch.nn.functional.local_response_norm(b, 2)
torch.nn.functional.local_response_norm(b[None], 3)
torch.norm_except_dim(s)
torch.norm_except_dim(b, 1, 1)
torch.norm_except_dim(b, 3, 2)
torch.frobenius_norm(s, 1)
torch.frobenius_norm(s, (0, 1), True)
torch.max_pool1d(m, 2)
"""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def operands(module: Any, requires_grad: bool) -> dict[str, Any]:
    made = {
        "m": module.tensor([[0.5, 2.0, 1.0], [3.0, 0.25, 0.75]]),
        "s": module.tensor([[2.0, 0.5, 0.1], [0.25, 1.0, 0.5], [0.0, 0.5, 3.0]]),
        "v": module.tensor([1.0, 3.0, 2.0]),
        "b": module.arange(18.0).reshape(2, 3, 3).sin() + module.eye(3),
    }
    if requires_grad:
        made = {name: t.requires_grad_() for name, t in made.items()}
    return {**made, "i": module.arange(3), "torch": module}


def steps(node: Any) -> Any:
    """The names of a graph's nodes; leaves and what isn't recorded are nothing."""
    return node and (node.name(), [steps(n) for n, _ in node.next_functions])


def shown(module: Any, expression: str, requires_grad: bool) -> tuple[Any, ...]:
    given = operands(module, requires_grad)
    result = eval(expression, given)
    seen = [result._version, result._is_view(), tuple(result.shape), result.stride()]
    graph = steps(result.grad_fn)
    if graph:
        result.sum().backward()
    grads = [given[n].grad.flatten().tolist() for n in "msvb" if given[n].grad is not None]
    values = [result.detach().double().flatten().tolist(), *grads]
    return seen, graph, values


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("expression", "requires_grad"),
    [(e, False) for e in lines(PLAIN)] + [(e, True) for e in lines(RECORDED)],
)
def test_a_result_that_is_made_in_steps_shows_them(expression: str, requires_grad: bool) -> None:
    theirs = shown(torch, expression, requires_grad)
    ours = shown(rushlight, expression, requires_grad)
    assert ours[:2] == theirs[:2]
    for mine, wanted in zip(ours[2], theirs[2], strict=True):
        assert mine == pytest.approx(wanted, rel=2e-4, abs=1e-5, nan_ok=True)


def test_a_quantile_has_a_gradient_for_its_rank() -> None:
    for function in ("quantile", "nanquantile"):
        grads = []
        for module in (torch, rushlight):
            q = module.tensor([0.1, 0.6], requires_grad=True)
            rows = module.tensor([[1.0, float("nan"), 2.5, 7.0], [3.0, 9.0, 5.0, 4.0]])
            result = getattr(module, function)(rows, q, dim=1)
            result[result == result].sum().backward()
            grads.append(q.grad.tolist())
        assert grads[0] == pytest.approx(grads[1])


@pytest.mark.parametrize("count", [2, 3])
def test_a_singular_matrix_leaves_the_inverses_beside_it_alone(count: int) -> None:
    stack = rushlight.stack([rushlight.eye(count) * (k + 1) for k in range(count)])
    stack[-1] = 0
    inverse, info = rushlight.linalg.inv_ex(stack)
    assert info.tolist() == [0] * (count - 1) + [1]
    for k in range(count - 1):
        assert inverse[k].allclose(rushlight.eye(count) / (k + 1))
    assert rushlight.linalg.cond(stack, 1).tolist() == [1.0] * (count - 1) + [float("inf")]
    with pytest.raises(RuntimeError, match=rf"\(Batch element {count - 1}\)"):
        rushlight.linalg.inv(stack)


def test_results_of_inference_mode_have_no_version() -> None:
    with rushlight.inference_mode():
        given = operands(rushlight, False)
        for expression in lines(PLAIN):
            result = eval(expression, given)
            assert result.is_inference()
            with pytest.raises(RuntimeError, match="Inference tensors do not track version"):
                result._version  # noqa: B018
