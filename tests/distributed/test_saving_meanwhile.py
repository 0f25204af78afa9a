"""Checkpoints that are written while the program goes on."""

import os
import subprocess
import sys
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.distributed import checkpoint as dcp
from rushlight.distributed.checkpoint import format_utils, state_dict_saver

MEANWHILE = str(Path(__file__).parent / "several" / "save_meanwhile.py")
PATH = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


@pytest.mark.skipif(
    find_spec("mpi4py") is None, reason="several processes need the extra `mpi`"
)  # fmt: skip
def test_several_ranks_train_on_while_checkpoints_are_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rushlight.distributed.run", "--standalone",
         "--nproc-per-node", "3", MEANWHILE, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": PATH}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(
        [f"rank {rank}: done" for rank in range(3)]
        + [f"rank {rank}: [0, 1, 2]" for rank in range(3) for _ in range(2)]
    )


def test_what_changes_afterwards_is_not_saved(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    before = model.weight.detach().clone()
    nested = {"list": [torch.ones(1), {"x": [1, 2]}]}
    saving = dcp.async_save({"model": model, "n": nested}, checkpoint_id=tmp_path)
    with torch.no_grad():
        model.weight.zero_()
    nested["list"][0].zero_()
    nested["list"][1]["x"].append(3)
    assert saving.result(30) is None
    other = torch.nn.Linear(2, 2)
    read = {"model": other, "n": {"list": None}}
    dcp.load(read, checkpoint_id=tmp_path)
    assert torch.equal(other.weight, before)
    assert read["n"]["list"] == [torch.ones(1), {"x": [1, 2]}]


def test_a_stager_that_copies_in_the_background_gives_two_futures(tmp_path: Path) -> None:
    staged: Future = Future()

    class Stager:
        def stage(self, state: dict) -> Future:
            return staged

    answer = dcp.async_save({"w": 1}, checkpoint_id=tmp_path, async_stager=Stager())
    assert isinstance(answer, state_dict_saver.AsyncSaveResponse)
    assert not answer.staging_completion.done() and not answer.upload_completion.done()
    staged.set_result({"w": torch.ones(2)})
    answer.upload_completion.result(30)
    assert answer.staging_completion.result(1) is None
    read = {"w": torch.zeros(2)}
    dcp.load(read, checkpoint_id=tmp_path)
    assert read["w"].tolist() == [1, 1]


def test_a_stager_that_fails_fails_both(tmp_path: Path) -> None:
    staged: Future = Future()

    class Stager:
        def stage(self, state: dict) -> Future:
            return staged

    answer = dcp.async_save({"w": 1}, checkpoint_id=tmp_path, async_stager=Stager())
    staged.set_exception(MemoryError("full"))
    for future in (answer.staging_completion, answer.upload_completion):
        with pytest.raises(MemoryError, match="full"):
            future.result(30)
    assert not list(tmp_path.iterdir())


def test_what_was_not_saved_is_refused_or_left(tmp_path: Path) -> None:
    dcp.save({"a": torch.ones(2), "in": {"b": 3}}, checkpoint_id=tmp_path)
    state = {"a": torch.zeros(2), "in": {"b": 0, "c": 5}, "d": torch.full((1,), 2.0)}
    with pytest.raises(RuntimeError, match=r"Missing key in checkpoint state_dict: in\.c"):
        dcp.load(state, checkpoint_id=tmp_path)
    dcp.load(state, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    assert state["in"] == {"b": 3, "c": 5} and state["d"].item() == 2
    wrong = {"a": torch.zeros(3)}
    with pytest.raises(RuntimeError, match="Size mismatch"):
        dcp.load(wrong, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(True, True, True))


def test_a_planner_of_another_class_is_refused(tmp_path: Path) -> None:
    class Own(dcp.DefaultSavePlanner):
        pass

    with pytest.raises(NotImplementedError, match="only a DefaultSavePlanner is asked"):
        dcp.save({"a": 1}, checkpoint_id=tmp_path, planner=Own())
    assert not list(tmp_path.iterdir())
    dcp.save({"a": 1}, checkpoint_id=tmp_path)
    with pytest.raises(NotImplementedError, match="only a DefaultLoadPlanner is asked"):
        dcp.load({"a": 0}, checkpoint_id=tmp_path, planner=dcp.DefaultSavePlanner())


def test_a_command_makes_folders_of_files_and_files_of_folders(tmp_path: Path) -> None:
    file, folder, again = tmp_path / "a.pt", tmp_path / "folder", tmp_path / "again.pt"
    torch.save({"w": torch.arange(3), "deep": {"er": [1]}}, file)
    for arguments in (["torch_to_dcp", file, folder], ["dcp_to_torch", folder, again]):
        subprocess.run(
            [sys.executable, "-m", "rushlight.distributed.checkpoint.format_utils", *arguments],
            env={**os.environ, "PYTHONPATH": PATH}, check=True, timeout=60,
        )  # fmt: skip
    read = torch.load(again)
    assert read["w"].tolist() == [0, 1, 2] and read["deep"] == {"er": [1]}
    with pytest.raises(FileNotFoundError):
        format_utils.dcp_to_torch_save(tmp_path / "none", again)
