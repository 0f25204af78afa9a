"""The names of all programs, read from their files: importing them is for their processes."""

import re
from pathlib import Path

NAMES = [
    name
    for path in sorted(Path(__file__).parent.glob("*.py"))
    for name in re.findall(r"@program\ndef (\w+)", path.read_text(encoding="utf-8"))
]
