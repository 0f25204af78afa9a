"""What holds in all tests."""

import gc

import numpy as np
import pytest


def pytest_collection_finish() -> None:
    """Sixty thousand tests are millions of objects, through which each collection would go."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def float_errors_are_silent() -> None:
    """A test whose first operation lay in `errstate` would leave NumPy's own state to others."""
    np.seterr(all="ignore")
