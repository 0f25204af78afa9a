"""Launchers beside torchrun: the older one, and `elastic_launch` from inside a program."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rushlight.distributed import launch
from rushlight.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
from rushlight.distributed.launcher.api import LaunchConfig

FUNCTIONS = str(Path(__file__).parent / "several" / "launch_functions.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATH}


@pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)  # fmt: skip
def test_functions_and_commands_are_launched_from_a_program(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, FUNCTIONS, str(tmp_path)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["total"] == {"0": [7.0, 0.0, 0.0], "1": [7.0, 1.0, 1.0]}
    assert said["again"] == {"0": "1", "1": "1"}
    assert said["command"] == {"0": None, "1": None}
    assert said["failed"] == ["fail", [1]]
    assert said["refused"].startswith("rdzv_backend 'etcd' is none of those")
    logs = [log.read_text() for log in tmp_path.glob("*/attempt_0/*/stdout.log")]
    assert sorted(log for log in logs if log) == ["rank 0\n", "rank 1\n"]


@pytest.mark.parametrize(
    ("options", "said"),
    [([], ["0 --local-rank=0 --epochs 3", "1 --local-rank=1 --epochs 3"]),
     (["--use-env"], ["0 --epochs 3", "1 --epochs 3"])],
)  # fmt: skip
def test_the_older_launcher_hands_each_process_its_local_rank(
    tmp_path: Path, options: list[str], said: list[str]
) -> None:
    script = tmp_path / "say.py"
    script.write_text(
        "import os, sys\n"
        "words = ' '.join([os.environ['LOCAL_RANK'], *sys.argv[1:]])\n"
        "os.write(1, words.encode() + b'\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "rushlight.distributed.launch", "--standalone",
         "--nproc_per_node=2", *options, str(script), "--epochs", "3"],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == said
    assert "FutureWarning: The module torch.distributed.launch is deprecated" in done.stderr


def test_a_program_that_is_not_pythons_reads_the_environment() -> None:
    args = launch.parse_args(["--no-python", "true"])
    with pytest.raises(ValueError, match="you must also set the '--use-env' flag"):
        launch.launch(args)


def test_what_is_redirected_is_read_and_said(tmp_path: Path) -> None:
    each = Std.from_str("0:3,1:0")
    assert each == {0: Std.ALL, 1: Std.NONE} and Std.from_str("2") == Std.ERR
    assert DefaultLogsSpecs.words(each) == "0:3,1:0" and DefaultLogsSpecs.words(Std.OUT) == "1"
    with pytest.raises(ValueError, match="4 does not match"):
        Std.from_str("4")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"):
        DefaultLogsSpecs(str(file))


def test_a_configuration_has_its_timeouts() -> None:
    assert LaunchConfig(1, 1, 1).rdzv_configs == {"timeout": 900}
    assert LaunchConfig(1, 1, 1, rdzv_timeout=5).rdzv_configs == {"timeout": 5}
    assert LaunchConfig(1, 1, 1, rdzv_configs={"timeout": 7}).shutdown_timeout == 30
    with pytest.raises(ValueError, match="shutdown_timeout must be non-negative, got -1"):
        LaunchConfig(1, 1, 1, shutdown_timeout=-1)
