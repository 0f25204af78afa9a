"""PyTorch's modules and their public names are here, but for those that a list names."""

import pytest

from tests.compare.module_names import LISTED, missing

pytest.importorskip("torch")


def test_what_is_missing_is_what_the_list_says() -> None:
    listed = LISTED.read_text().splitlines()
    found = missing()
    new = sorted(set(found) - set(listed))
    mended = sorted(set(listed) - set(found))
    assert not new, "missing, and not listed: " + ", ".join(new)
    assert not mended, "listed, and no longer missing: " + ", ".join(mended)
