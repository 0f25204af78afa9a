"""What holds in all tests."""

import gc

import numpy as np
import pytest


@pytest.fixture(autouse=True, scope="module")
def what_was_there_is_frozen() -> None:
    """Sixty thousand tests are millions of objects, through which each collection would go."""
    gc.collect()  # little is left to look through, but after a test that looked at all objects
    gc.freeze()


@pytest.fixture(autouse=True)
def float_errors_are_silent() -> None:
    """A test whose first operation lay in `errstate` would leave NumPy's own state to others."""
    np.seterr(all="ignore")
