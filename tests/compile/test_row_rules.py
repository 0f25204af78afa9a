"""The rules of lowering that rows name are there, and units are units."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight._compile.assembly import plan
from rushlight._compile.lowering import lowering_rules
from rushlight._compile.passes import apart
from rushlight._table import ROWS, Row
from tests.table._samples import row_name

EVERY = [row for overloads in ROWS.values() for row in overloads]
#: Rules that aren't in a table of makers: products, what follows them, sums, writes and refusals.
OTHERS = {"linear", "matmul", "relu", "channel_sums", "store", "as_strided"}


def test_each_rule_that_a_row_names_is_known() -> None:
    known = {*plan._MAKERS, *lowering_rules._MAKERS, *apart._FORMS, *OTHERS}
    assert {row.lowering for row in EVERY if row.lowering} - known == set()


@pytest.mark.parametrize("row", [row for row in EVERY if row.unit], ids=row_name)
def test_a_one_gives_the_other_operand_as_it_is(row: Row) -> None:
    x = torch.randn(3, 4)
    one = 1.0 if row.schema.params[1].type == "Scalar" else torch.ones(3, 4)
    assert torch.equal(row(x, one), x)
    if row.unit == "both" and not isinstance(one, float):
        assert torch.equal(row(one, x), x)
