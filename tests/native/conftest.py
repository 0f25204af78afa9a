"""These tests need llvmlite, which is an optional package, and a machine that it supports."""

import pytest

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects of tests are kept apart from the user's."""
    monkeypatch.setenv("RUSHLIGHT_CACHE", str(tmp_path_factory.getbasetemp() / "objects"))
