"""The packages' own tests, from their source archives, on PyTorch and on Rushlight.

`make gallery-tests`, or `python examples/gallery/suites.py [NAME …]`: fetches each archive into
`.gallery/sources` with pip, runs its tests on both systems and tells which tests pass on PyTorch
and not on Rushlight. Nothing of an archive is stored here. Some packages publish archives without
tests: `--checkout NAME=FOLDER` says where a checkout of one lies, else it is passed over.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as Elements
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packages import PACKAGES, STORE, Unfetched, fetch
from process import environment, starter

SOURCES = STORE / "sources"
PLUGINS = Path(__file__).resolve().parent / "plugins"
#: A suite that hangs is ended after so many seconds.
TIMEOUT = 900.0


VISION = ("torchvision==0.28.0", "pillow")
#: What scikit-learn needs beside NumPy and SciPy.
SKLEARN = (
    "scikit-learn==1.9.1",
    "joblib==1.6.0",
    "threadpoolctl==3.8.0",
    "cloudpickle==3.1.2",
    "narwhals==2.29.0",
)


@dataclass(frozen=True)
class Suite:
    """A package whose archive carries tests: what to fetch, what to run, and with what set."""

    archive: str
    tests: tuple[str, ...]
    needs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    #: Where in the archive its package lies.
    source: str = ""
    #: Whether the archive holds the tests; else they are in a checkout.
    archived: bool = True
    timeout: float = TIMEOUT

    @property
    def name(self) -> str:
        return self.archive.partition("==")[0]


SUITES = (
    Suite(
        "einops==0.8.2",
        ("einops/tests",),
        needs=("parameterized==0.9.0",),
        variables=(("EINOPS_TEST_BACKENDS", "numpy,torch"),),
        # The notebooks want a kernel, and to be run outside of this process.
        options=("--ignore=einops/tests/test_notebooks.py",),
    ),
    Suite("entmax==1.0", ("entmax",)),
    Suite(
        "nflows==0.14",
        ("tests",),
        needs=("UMNN==1.71", "torchtestcase==2018.2"),
        options=("-o", "python_files=*_test.py"),
    ),
    Suite("zuko==1.6.0", ("tests",)),
    Suite("torch-optimizer==0.3.0", ("tests",), needs=("pytorch_ranger==0.1.1",)),
    Suite("torchquad==0.6.0", ("tests",), needs=("autoray==0.11.0", "loguru==0.7.3")),
    Suite("ema-pytorch==0.8.3", ("tests",)),
    Suite("local-attention==1.11.2", ("tests",), needs=("hyper_connections==0.4.11",)),
    Suite("normflows==1.7.3", ("normflows",), options=("-o", "python_files=*_test.py")),
    Suite("poutyne==1.19.0", ("tests",), needs=("torchmetrics==1.9.0",)),
    Suite(
        "linear_operator==0.6.1",
        ("test/functions", "test/utils", "test/operators/test_diag_linear_operator.py"),
        needs=("jaxtyping==0.3.11", "wadler_lindig==0.1.8", "mpmath==1.3.0"),
    ),
    Suite(
        "gpytorch==1.15.2",
        ("test",),
        needs=(
            "linear_operator==0.6.1",
            "jaxtyping==0.3.11",
            "wadler_lindig==0.1.8",
            "mpmath==1.3.0",
            *SKLEARN,
        ),
        timeout=3000.0,
    ),
    Suite(
        "opacus==1.6.0",
        ("opacus/tests",),
        needs=("opt_einsum==3.4.0", "hypothesis==6.170.15", "sortedcontainers==2.4.0", *VISION),
    ),
    Suite("skorch==1.4.0", ("skorch/tests",), needs=(*SKLEARN, "tabulate==0.10.0", "tqdm==4.70.1")),
    Suite(
        "torchopt==0.7.3", ("tests",), needs=("optree==0.20.0", "graphviz==0.21"), archived=False
    ),
    Suite(
        "accelerate==1.15.0",
        ("tests",),
        source="src",
        needs=(
            "psutil==7.2.2",
            "pyyaml==6.0.3",
            "huggingface_hub==2.4.0",
            "safetensors==0.8.0",
            "parameterized==0.9.0",
            "transformers==5.23.0",
        ),
    ),
    Suite(
        "backpack-for-pytorch==1.7.1",
        ("test",),
        needs=(
            "einops==0.8.2",
            "unfoldNd==0.2.3",
            "pytorch_memlab==0.3.2",
            "calmsize==0.1.3",
            "pandas==3.1.1",
            "python-dateutil",
            "tqdm==4.70.1",
            *VISION,
        ),
        timeout=3000.0,
    ),
    Suite("captum==0.9.0", ("tests",), archived=False),
    Suite("pytorch-ignite==0.5.5", ("tests/ignite",), archived=False),
    Suite("pyro-ppl==1.9.2", ("tests",), needs=("pyro-api==0.1.2",), archived=False),
    Suite("torchmetrics==1.9.0", ("tests/unittests",), archived=False),
    Suite("kornia==0.9.0", ("tests",), archived=False),
)


class Failed(Exception):
    """A suite cannot be run; the message says why."""


def unpacked(suite: Suite) -> Path:
    """The folder of a suite's archive, fetched if it is not there. Raises: Failed."""
    folder = SOURCES / suite.archive.replace("==", "-")
    if not folder.exists():
        SOURCES.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
        ]
        command += ["--no-binary", ":all:", "--dest", str(SOURCES), suite.archive]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        stem = suite.archive.replace("==", "-").replace("-", "_").lower()
        found = [
            path
            for path in SOURCES.glob("*.tar.gz")
            if path.name.lower().replace("-", "_").startswith(stem)
        ]
        if not found:
            raise Failed((done.stderr.strip().splitlines() or ["pip found no archive"])[-1])
        with tarfile.open(found[0]) as archive:
            archive.extractall(SOURCES, filter="data")
        top = SOURCES / found[0].name.removesuffix(".tar.gz")
        if top != folder:
            top.rename(folder)
    return folder


def results(report: Path) -> dict[str, str]:
    """What became of each test in a report of pytest's: passed, failed or skipped."""
    found = {}
    for case in Elements.parse(report).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        name = f"{case.get('classname')}::{case.get('name')}"
        if kinds & {"failure", "error"}:
            found[name] = "failed"
        else:
            found[name] = "skipped" if "skipped" in kinds else "passed"
    return found


def run(suite: Suite, system: str, folder: Path) -> dict[str, str]:
    """What becomes of each test of a suite on a system. Raises: Failed."""
    report = STORE / "logs" / f"{suite.name}.{system}.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    env = environment(1) | dict(suite.variables)
    # Packages that lie beside the suite's own bring plugins of their own.
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    env["PYTHONPATH"] = os.pathsep.join(
        [env["PYTHONPATH"], str(folder / suite.source), str(PACKAGES), str(PLUGINS)]
    )
    command = [*starter(system), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "vision_operators"]
    # The settings of this checkout's own tests are not the package's.
    command += [
        "-c",
        os.devnull,
        f"--rootdir={folder}",
        f"--junitxml={report}",
        # What one system cannot import keeps the rest from nobody.
        "--continue-on-collection-errors",
        *suite.options,
        *suite.tests,
    ]
    log = report.with_suffix(".txt")
    with log.open("w", encoding="utf-8") as output:
        try:
            subprocess.run(
                command, cwd=folder, env=env, stdout=output, stderr=output, timeout=suite.timeout
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"not done within {suite.timeout:.0f} s on {system}") from None
    if not report.exists():
        raise Failed(f"pytest wrote no report on {system}; see {log}")
    return results(report)


def compare(theirs: dict[str, str], ours: dict[str, str]) -> list[str]:
    """The tests that pass on PyTorch and do not on Rushlight."""
    return [name for name, end in theirs.items() if end == "passed" and ours.get(name) != "passed"]


def main(given: Sequence[str] | None = None) -> int:
    """Runs the suites; gives 0 when every test that passes on PyTorch passes on Rushlight."""
    parser = argparse.ArgumentParser(prog="suites", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="packages (default: all)")
    parser.add_argument("--checkout", action="append", default=[], metavar="NAME=FOLDER",
                        help="where a package's own repository lies")  # fmt: skip
    asked = parser.parse_args(given)
    checkouts = dict(x.split("=", 1) for x in asked.checkout)
    beside = importlib.util.find_spec("torch") is not None
    if not beside:
        print("PyTorch is not beside: only Rushlight's own results are told")
    print(f"{'package':<24} {'on torch':>9} {'on rushlight':>13}  passed on torch alone")
    lost = 0
    for suite in SUITES:
        if asked.names and suite.name not in asked.names:
            continue
        if not suite.archived and suite.name not in checkouts:
            print(f"{suite.name:<24} its archive has no tests: --checkout {suite.name}=FOLDER")
            continue
        try:
            fetch(suite.needs, TIMEOUT)
            given_folder = checkouts.get(suite.name)
            folder = Path(given_folder).resolve() if given_folder else unpacked(suite)
            ours = run(suite, "rushlight", folder)
            theirs = run(suite, "torch", folder) if beside else {}
        except (Failed, Unfetched) as failure:
            lost += 1
            print(f"{suite.name:<24} {failure}")
            continue
        passed = [sum(end == "passed" for end in table.values()) for table in (theirs, ours)]
        different = compare(theirs, ours)
        lost += len(different) + (not passed[1])
        print(f"{suite.name:<24} {passed[0]:>9} {passed[1]:>13}  {len(different) or ''}")
        for name in different:
            print(f"    {name}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
