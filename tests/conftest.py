"""What holds in all tests."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def float_errors_are_silent() -> None:
    """A test whose first operation lay in `errstate` would leave NumPy's own state to others."""
    np.seterr(all="ignore")
