"""The line that `RUSHLIGHT_AS_TORCH=1` needs is in what pip installs, editable or not."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_the_line_is_installed_beside_the_package(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="building needs setuptools in this environment")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    package = tmp_path / "src" / "rushlight"
    (package / "_base").mkdir(parents=True)
    for name in ("_rushlight_site.py", "rushlight.pth"):
        shutil.copy(ROOT / "src" / name, tmp_path / "src" / name)
    for name in ("__init__.py", "_base/version.py"):
        shutil.copy(ROOT / "src" / "rushlight" / name, package / name)
    code = f"import setuptools.build_meta as b; print(b.build_{kind}('out'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "RUSHLIGHT_PURE": "1"},
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "out").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    # `purelib` is the folder of packages, where Python looks for such lines.
    assert [n for n in names if n.endswith(".data/purelib/rushlight.pth")]
    assert ("_rushlight_site.py" in names) == (kind == "wheel")


def test_the_line_never_stops_a_start() -> None:
    line = (ROOT / "src" / "rushlight.pth").read_text()
    assert line.count("\n") == 1
    assert line.startswith("import ")
    # Without the variable it doesn't get as far as an import.
    before = os.environ.pop("RUSHLIGHT_AS_TORCH", None)
    try:
        exec(line, {"__import__": None})
    finally:
        if before is not None:
            os.environ["RUSHLIGHT_AS_TORCH"] = before
