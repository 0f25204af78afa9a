"""Powers of zero."""

from __future__ import annotations

import rushlight as torch


def test_complex_powers_of_zero() -> None:
    """They are zero, infinite or no number by the sign of the exponent's real part."""
    exponent = torch.tensor([1 + 2j, -1 + 2j, 2j, 0j])
    for found in (torch.zeros(4, dtype=torch.complex64) ** exponent, False**exponent):
        assert found[0].item() == 0
        assert str(found[1].item()) == "(inf+nanj)"
        assert str(found[2].item()) == str(found[3].item()) == "(nan+nanj)"
    assert (torch.tensor([0j, 2j]) ** 0).tolist() == [1, 1]
