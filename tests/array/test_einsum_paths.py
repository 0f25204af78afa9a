"""The order in which `einsum` contracts operands."""

import numpy as np
import pytest

import rushlight as torch
from rushlight._array.linalg import einsum


def _made(equation: str, shapes: tuple[tuple[int, ...], ...]) -> int:
    """Elements of the largest thing that is multiplied on the way."""
    terms, output = einsum.parse(equation, [len(shape) for shape in shapes])
    size = einsum.sizes(terms, list(shapes))
    largest = 0
    work = [set(term) for term in terms]
    for i, j in einsum.path(terms, output, size):
        right, left = work.pop(max(i, j)), work.pop(min(i, j))
        largest = max(largest, int(np.prod([size[c] for c in left | right])))
        kept = set(output).union(*work)
        work.append((left | right) & kept)
    return largest


def test_factors_of_a_ring_meet_their_vectors_first() -> None:
    shapes = ((8, 16, 8),) * 3 + ((32, 16),) * 3
    assert _made("iaj,jbk,kci,na,nb,nc->n", shapes) <= 32 * 16 * 8 * 8


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("iaj,jbk,kci,na,nb,nc->n", ((2, 3, 4), (4, 5, 3), (3, 2, 2), (4, 3), (4, 5), (4, 2))),
        ("a,b,c,d->abcd", ((2,), (3,), (4,), (5,))),
        ("i,i,i,i->", ((7,),) * 4),
        ("ab,ab,ab->ab", ((3, 4),) * 3),
        ("ab,cd,ae->bde", ((3, 2), (4, 5), (3, 6))),
    ],
)
def test_products_of_many_operands_equal_numpys(
    equation: str, shapes: tuple[tuple[int, ...], ...]
) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
    found = torch.einsum(equation, *leaves)
    np.testing.assert_allclose(found.detach().numpy(), np.einsum(equation, *arrays), rtol=1e-12)
    assert torch.autograd.gradcheck(lambda *t: torch.einsum(equation, *t), leaves)
