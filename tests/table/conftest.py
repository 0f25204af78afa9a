"""Marks the expected failures, by the test's name and the id of its case."""

from __future__ import annotations

import pytest

from tests.table._expected_failures import EXPECTED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        reason = EXPECTED.get(item.name)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
