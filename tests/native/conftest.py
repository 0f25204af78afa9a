"""These tests need llvmlite, which is an optional package, and a machine that it supports."""

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("llvmlite")

from rushlight._native import ufunc_loops
from tests.native.loops import module


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects of tests are kept apart from the user's."""
    monkeypatch.setenv("RUSHLIGHT_CACHE", str(tmp_path_factory.getbasetemp() / "objects"))


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The class of functions with loops, which `ufunc_loops.function` makes."""
    found = module("chains", tmp_path_factory.mktemp("chains")).Function
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ufunc_loops, "FUNCTION", found)
        yield found
