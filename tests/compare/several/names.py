"""The names of all programs, read from their files: importing them is for their processes."""

import re
from pathlib import Path

#: By how many ranks the programs of a file are run: an uneven number cuts into pieces of several
#: lengths.
SIZES = {"programs": (2, 3), "compiled_steps": (2, 3), "dtensors": (2, 3, 4), "fsdp": (2, 3, 4),
         "made_in_place": (2, 3, 4), "sharding": (2, 3, 4)}  # fmt: skip
OTHERS = (2, 4)

CASES = [
    (size, name)
    for path in sorted(Path(__file__).parent.glob("*.py"))
    for name in re.findall(r"@program\ndef (\w+)", path.read_text(encoding="utf-8"))
    for size in SIZES.get(path.stem, OTHERS)
]


def names_for(size: int) -> list[str]:
    """The programs that are run by so many ranks."""
    return [name for one, name in CASES if one == size]
