"""The packages' own tests, from their source archives, on PyTorch and on Rushlight.

`make gallery-tests`, or `python examples/gallery/suites.py [NAME …]`: fetches each archive into
`.gallery/sources` with pip, runs its tests on both systems and tells which tests pass on PyTorch
and not on Rushlight; those that `named.py` gives a reason for are counted apart. Results are kept
in `.gallery/results`, a line for each test: a second run asks PyTorch for nothing. Nothing of an
archive is stored here. Where an archive has no folder of tests, the examples in its docstrings are
run, as the package itself does, or `--checkout NAME=FOLDER` says where a checkout of it lies.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import tarfile
import time
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from named import reason
from packages import PACKAGES, STORE, Unfetched, fetch
from process import environment, starter

SOURCES = STORE / "sources"
PLUGINS = Path(__file__).resolve().parent / "plugins"
#: Seconds for a suite on PyTorch, and for what pip fetches.
TIMEOUT = 900.0


#: The examples in docstrings, compared as packages ask for.
DOCTESTS = (
    "--doctest-modules",
    "-o",
    "doctest_optionflags=NORMALIZE_WHITESPACE ELLIPSIS NUMBER",
)
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
    #: How many cases of each parametrized test are run, spread over all; 0 for all.
    most: int = 0
    #: Seconds for a test, and for all, on PyTorch; on Rushlight three times that.
    each: float = 30.0
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
    ),
    Suite(
        "opacus==1.6.0",
        ("opacus/tests",),
        needs=("opt_einsum==3.4.0", "hypothesis==6.170.15", "sortedcontainers==2.4.0", *VISION),
    ),
    Suite("skorch==1.4.0", ("skorch/tests",), needs=(*SKLEARN, "tabulate==0.10.0", "tqdm==4.70.1")),
    Suite("torchopt==0.7.3", ("tests",), needs=("optree==0.20.0", "graphviz==0.21"), most=12),
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
        most=2,
    ),
    # Later archives have no tests.
    Suite("captum==0.3.1", ("tests",), needs=("tqdm==4.70.1",)),
    Suite(
        "pytorch-ignite==0.6.0.dev20261027",
        ("tests/ignite/metrics", "tests/ignite/engine", "tests/ignite/handlers"),
        needs=("filelock==4.2.11", "tqdm==4.70.1", *SKLEARN),
        # Those of several processes wait for each other, on two cores for long.
        options=("-k", "not distrib and not multinode"),
        most=2,
    ),
    Suite(
        "pyro-ppl==1.9.2",
        ("pyro", "tests"),
        needs=("pyro-api==0.1.2", "opt_einsum==3.4.0", "tqdm==4.70.1"),
        # The examples are programs, run one by one in processes of their own.
        options=(*DOCTESTS, "--ignore=tests/test_examples.py"),
    ),
    Suite(
        "torchmetrics==1.9.0",
        ("src/torchmetrics",),
        source="src",
        needs=("lightning_utilities==0.15.3", *VISION, *SKLEARN),
        options=DOCTESTS,
    ),
    Suite("kornia==0.9.0", ("kornia",), needs=("kornia_rs==0.2.0",), options=DOCTESTS),
    # Later archives have no tests.
    Suite("kornia==0.6.7", ("test",), options=("-p", "cpu_fixtures"), most=4),
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
        command += ["--no-binary", suite.name, "--dest", str(SOURCES), suite.archive]
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


def told(path: Path) -> dict[str, str]:
    """What became of each test that a file of the plugin's tells of; one that only began failed."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *rest = json.loads(line)
        if name:
            found[name] = rest[0] if rest else "failed"
    return found


def at_end(path: Path) -> bool:
    """Whether the process that told came to its end, and did not crash."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return bool(lines) and json.loads(lines[-1]) == ["", "end"]


def kept(suite: Suite, system: str) -> Path:
    """Where the results of a suite on a system lie; other choices of tests lie elsewhere."""
    version = metadata.version("torch") if system == "torch" else ""
    choice = repr((suite.tests, suite.options, suite.most, version)).encode()
    name = f"{suite.archive.replace('==', '-')}.{system}.{zlib.crc32(choice):08x}.jsonl"
    return STORE / "results" / name


def settings(suite: Suite, folder: Path) -> dict[str, str]:
    """The variables that a suite runs with."""
    env = environment(1) | dict(suite.variables)
    # Packages that lie beside the suite's own bring plugins of their own.
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    paths = [env["PYTHONPATH"], str(folder / suite.source), str(PACKAGES), str(PLUGINS)]
    return env | {"PYTHONPATH": os.pathsep.join(paths)}


def run(suite: Suite, system: str, folder: Path, only: Collection[str] | None) -> dict[str, str]:
    """What becomes of the tests of a suite on a system. Raises: Failed.

    `only` are the tests to run, else the suite's choice. A process that crashes is started again
    after the test that it crashed in.
    """
    path = kept(suite, system)
    path.parent.mkdir(parents=True, exist_ok=True)
    # What PyTorch needs is no limit for an interpreter of operations.
    slower = 1.0 if system == "torch" else 3.0
    command = [*starter(system), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "vision_operators", "-p", "told"]
    # The settings of this checkout's own tests are not the package's.
    command += ["-c", os.devnull, f"--rootdir={folder}"]
    # What one system cannot import keeps the rest from nobody.
    command += ["--continue-on-collection-errors", f"--told={path}", f"--most={suite.most}"]
    command += [f"--each={suite.each * slower}", *suite.options]
    if only is not None:
        names = path.with_suffix(".only.json")
        names.write_text(json.dumps(sorted(only)))
        command.append(f"--only={names}")
    log = path.with_suffix(".txt")
    until = time.monotonic() + suite.timeout * slower
    before = -1
    with log.open("w", encoding="utf-8") as output:
        while not at_end(path):
            reached = len(told(path)) if path.exists() else 0
            left = until - time.monotonic()
            if reached == before or left < 0:
                break
            before = reached
            process = subprocess.Popen(
                [*command, f"--within={left}", *suite.tests],
                cwd=folder,
                env=settings(suite, folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                process.wait(left + 2 * suite.each * slower)
            except subprocess.TimeoutExpired:
                pass
            finally:
                # What it has started goes with it.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if not path.exists() or not told(path):
        raise Failed(f"pytest ran nothing on {system}; see {log}")
    return told(path)


def compare(theirs: dict[str, str], ours: dict[str, str]) -> list[str]:
    """The tests that pass on PyTorch and do not on Rushlight."""
    return [name for name, end in theirs.items() if end == "passed" and ours.get(name) != "passed"]


def both(suite: Suite, folder: Path, beside: bool, lost: bool) -> tuple[dict[str, str], ...]:
    """The results on PyTorch, which are kept, and on Rushlight. Raises: Failed."""
    theirs = run(suite, "torch", folder, None) if beside else {}
    path = kept(suite, "rushlight")
    if path.exists():
        known = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        passed = [line for line in known if lost and line[1:2] == ["passed"]]
        path.write_text("".join(json.dumps(line) + "\n" for line in passed), encoding="utf-8")
    passing = [name for name, end in theirs.items() if end == "passed"]
    return theirs, run(suite, "rushlight", folder, passing if beside else None)


def checkout(suite: Suite, checkouts: dict[str, str]) -> Path | None:
    """Where a suite lies: in a checkout, or in its archive if that has tests. Raises: Failed."""
    if suite.name in checkouts:
        return Path(checkouts[suite.name]).resolve()
    return unpacked(suite) if suite.archived else None


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="suites", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="packages (default: all)")
    parser.add_argument("--checkout", action="append", default=[], metavar="NAME=FOLDER",
                        help="where a package's own repository lies")  # fmt: skip
    parser.add_argument("--lost", action="store_true",
                        help="run what did not pass on Rushlight the last time")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=math.inf,
                        help="for each suite on PyTorch; thrice on Rushlight")  # fmt: skip
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Runs the suites; gives 0 when every test that passes on PyTorch passes or is named."""
    asked = arguments(given)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    checkouts = dict(x.split("=", 1) for x in asked.checkout)
    beside = importlib.util.find_spec("torch") is not None
    if not beside:
        print("PyTorch is not beside: only Rushlight's own results are told")
    print(f"{'archive':<32} {'on torch':>9} {'on rushlight':>13} {'named':>6}  lost")
    sums = [0, 0, 0, 0]
    unrun = 0
    for suite in SUITES:
        if asked.names and suite.name not in asked.names:
            continue
        suite = replace(suite, timeout=min(suite.timeout, asked.seconds))
        try:
            fetch(suite.needs, TIMEOUT)
            folder = checkout(suite, checkouts)
            if folder is None:
                print(f"{suite.archive:<32} its archive has no tests: --checkout {suite.name}=…")
                continue
            theirs, ours = both(suite, folder, beside, asked.lost)
        except (Failed, Unfetched) as failure:
            unrun += 1
            print(f"{suite.archive:<32} {failure}")
            continue
        passed = [sum(end == "passed" for end in table.values()) for table in (theirs, ours)]
        reasons = {name: reason(suite.name, name) for name in compare(theirs, ours)}
        lost = [name for name, why in reasons.items() if why is None]
        cells = [*passed, len(reasons) - len(lost), len(lost)]
        sums = [x + y for x, y in zip(sums, cells, strict=True)]
        print(line(suite.archive, cells), flush=True)
        for name in lost:
            print(f"    {name}")
    print(line("together", sums))
    return 1 if sums[3] or unrun else 0


def line(name: str, cells: Sequence[int]) -> str:
    """A row of the table."""
    return f"{name:<32} {cells[0]:>9} {cells[1]:>13} {cells[2] or '':>6}  {cells[3] or ''}"


if __name__ == "__main__":
    sys.exit(main())
