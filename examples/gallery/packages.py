"""Fetches the packages of the drivers into `.gallery/packages`; nothing of them is stored here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORE = ROOT / ".gallery"
PACKAGES = STORE / "packages"

#: Folders that packages put beside themselves by mistake, which hide those of other archives.
STRAY = ("test", "tests")

#: What the environment decides: a driver that named one of these would replace what is measured.
NEVER = {"torch", "rushlight", "numpy", "scipy"}

_LEARNING = ("joblib==1.6.0", "threadpoolctl==3.8.0", "narwhals==2.29.0")
#: What a package needs in turn, for those that many drivers ask for.
BROUGHT = {
    "captum==0.9.0": ("matplotlib==3.11.2",),
    "UMNN==1.71": ("matplotlib==3.11.2",),
    "plum-dispatch==2.10.1": (
        "rich==15.0.0", "markdown-it-py==4.3.0", "mdurl==0.1.2", "Pygments==2.21.0",
    ),
    "scikit-learn": _LEARNING,
    "scikit-learn==1.9.1": _LEARNING,
    "matplotlib==3.11.2": (
        "contourpy==1.3.3", "cycler==0.12.1", "fonttools==4.68.0", "kiwisolver==1.5.1",
        "packaging==26.3", "pillow==13.0.0", "pyparsing==3.3.3", "python-dateutil==4.0.0",
        "six==1.17.0",
    ),
    "huggingface_hub==2.4.0": (
        "httpx2==2.16.2", "truststore==0.10.5", "httpcore2==2.16.2", "h11==0.16.0",
        "anyio==4.16.0", "idna==3.13", "certifi==2026.5.20", "pyyaml==6.0.3", "tqdm==4.70.1",
        "filelock==4.2.11", "fsspec==2026.9.0", "packaging==26.3", "typer==0.29.2",
        "hf-xet==1.8.0", "typing_extensions==4.16.0",
    ),
    "transformers==5.23.0": (
        "huggingface_hub==2.4.0", "tokenizers==0.23.3", "regex==2026.5.9", "safetensors==0.8.0",
        "requests==2.34.2",
    ),
}  # fmt: skip


class Unfetched(Exception):
    """pip could not fetch what a driver needs; the message is pip's last line."""


def canonical(name: str) -> str:
    """The name as the index knows it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> dict[str, str]:
    """The versions of what lies in the folder of packages."""
    found = distributions(path=[str(PACKAGES)])
    return {canonical(each.metadata["Name"]): each.version for each in found}


def present(name: str) -> bool:
    """Whether the environment itself has a distribution of that name."""
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


def brought(needs: Iterable[str]) -> list[str]:
    """The requirements, each followed by what it needs in turn."""
    found: dict[str, None] = {}
    for need in needs:
        found.update(dict.fromkeys((need, *brought(BROUGHT.get(need, ())))))
    return list(found)


def missing(needs: Iterable[str]) -> list[str]:
    """Those of the requirements that are not met.

    `name==version` is met by the folder alone; a name without a version, of something whose numbers
    do not depend on it, by what the environment has too.
    """
    have = installed()
    lacking = []
    for need in brought(needs):
        name, _, version = need.partition("==")
        if canonical(name) in NEVER:
            raise Unfetched(f"a driver may not ask for {name}: the environment has it")
        if not version and (canonical(name) in have or present(name)):
            continue
        if not version or have.get(canonical(name)) != version:
            lacking.append(need)
    return lacking


def fetch(needs: Iterable[str], timeout: float) -> None:
    """Puts what is missing into the folder, without the dependencies that it declares.

    Raises: Unfetched.
    """
    lacking = missing(needs)
    if not lacking:
        return
    PACKAGES.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--upgrade", "--target", str(PACKAGES), *lacking]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise Unfetched(f"pip took longer than {timeout:.0f} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line]
        raise Unfetched(lines[-1] if lines else "pip failed")
    for name in STRAY:
        shutil.rmtree(PACKAGES / name, ignore_errors=True)
