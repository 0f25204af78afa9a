"""Programs get their guards in machine code at once, so that every test here meets them."""

from collections.abc import Iterator

import pytest

from rushlight._compile.runtime import tiering as warming


@pytest.fixture(autouse=True)
def programs_are_quick_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(warming, "WARM", 1)
    before = len(warming.FAILED)
    yield
    assert not warming.FAILED[before:], warming.FAILED
