"""PyTorch's modules and their public names are here, but for those that a list names."""

import json
import subprocess
import sys

import pytest

from tests.compare.module_names import LISTED

pytest.importorskip("torch")

# In a process of its own: what other tests have loaded adds names on both sides.
PROGRAM = """
import json
from tests.compare.module_names import missing
print(json.dumps(missing()))
"""


def test_what_is_missing_is_what_the_list_says() -> None:
    listed = LISTED.read_text().splitlines()
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    found = json.loads(run.stdout.splitlines()[-1])
    new = sorted(set(found) - set(listed))
    mended = sorted(set(listed) - set(found))
    assert not new, "missing, and not listed: " + ", ".join(new)
    assert not mended, "listed, and no longer missing: " + ", ".join(mended)
