"""Checkpoints in folders, of one process."""

import warnings
from pathlib import Path

import pytest

import rushlight as rl
from rushlight.distributed import checkpoint
from rushlight.distributed.checkpoint.state_dict import (
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def test_what_was_saved_is_read_into_the_tensors_in_place(tmp_path: Path) -> None:
    model, other = rl.nn.Linear(2, 3), rl.nn.Linear(2, 3)
    checkpoint.save({"model": model.state_dict(), "step": 7}, checkpoint_id=tmp_path / "new")
    wanted = {"model": other.state_dict(), "step": 0}
    held = other.weight
    checkpoint.load(wanted, checkpoint_id=tmp_path / "new")
    assert wanted["step"] == 7
    assert other.weight is held
    assert rl.equal(other.weight, model.weight)


def test_a_module_and_an_optimizer_in_the_dictionary_load_their_own_state(tmp_path: Path) -> None:
    model, other = rl.nn.Linear(2, 3), rl.nn.Linear(2, 3)
    checkpoint.save({"model": model}, storage_writer=checkpoint.FileSystemWriter(tmp_path))
    checkpoint.load({"model": other}, storage_reader=checkpoint.FileSystemReader(tmp_path))
    assert rl.equal(other.bias, model.bias)


def test_a_key_that_was_not_saved_and_another_shape_are_errors(tmp_path: Path) -> None:
    checkpoint.save({"a": rl.ones(2)}, checkpoint_id=tmp_path)
    with pytest.raises(RuntimeError, match=r"Missing key in checkpoint state_dict: b\."):
        checkpoint.load({"b": rl.ones(2)}, checkpoint_id=tmp_path)
    with pytest.raises(RuntimeError, match="Size mismatch"):
        checkpoint.load({"a": rl.ones(3)}, checkpoint_id=tmp_path)


def test_a_folder_of_pytorchs_own_files_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / ".metadata").write_bytes(b"")
    with pytest.raises(RuntimeError, match="files of shards") as refused:
        checkpoint.load({"a": rl.ones(2)}, checkpoint_id=tmp_path)
    assert "dcp_to_torch_save" in refused.value.__notes__[0]


def test_saving_outside_of_a_group_warns_that_there_is_one_process(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        checkpoint.save({"a": rl.ones(2)}, checkpoint_id=tmp_path)
    assert "single process" in str(found[0].message)


def test_a_fresh_optimizers_state_is_made_without_changing_parameters() -> None:
    model = rl.nn.Linear(2, 2)
    before = model.weight.detach().clone()
    adam = rl.optim.Adam(model.parameters(), lr=0.25)
    state = get_optimizer_state_dict(model, adam)
    assert set(state["state"]) == {"weight", "bias"}
    assert rl.equal(model.weight, before)
    assert adam.param_groups[0]["lr"] == 0.25
    assert model.weight.grad is None


def test_a_group_that_the_dictionary_lacks_is_an_error() -> None:
    model = rl.nn.Linear(2, 2)
    adam = rl.optim.Adam(model.parameters())
    with pytest.raises(RuntimeError, match="no group of the dictionary"):
        set_optimizer_state_dict(
            model, adam, {"state": {}, "param_groups": [{"params": ["weight"], "lr": 1.0}]}
        )


def test_one_file_and_its_pieces_are_read_by_the_same_rules(tmp_path: Path) -> None:
    saved = {"a": {"b": rl.ones(2), "empty": {}}, "n": rl.ones(3), "k": 4}
    checkpoint.save(saved, checkpoint_id=tmp_path)
    wanted = {"a": {"b": rl.zeros(2, dtype=rl.float64), "empty": {}}, "n": None, "k": 0}
    checkpoint.load(wanted, checkpoint_id=tmp_path)
    assert wanted["a"]["b"].tolist() == [1, 1] and wanted["a"]["b"].dtype is rl.float64
    assert wanted["a"]["empty"] == {} and wanted["n"].tolist() == [1, 1, 1] and wanted["k"] == 4
    with pytest.raises(RuntimeError, match=r"Missing key in checkpoint state_dict: a\.c\.d\."):
        checkpoint.load({"a": {"c": {"d": rl.ones(1)}}}, checkpoint_id=tmp_path)
    text = (
        r"Size mismatch between saved torch.Size\(\[2\]\) and current: torch.Size\(\[5\]\) for a.b"
    )
    with pytest.raises(RuntimeError, match=text):
        checkpoint.load({"a": {"b": rl.ones(5)}}, checkpoint_id=tmp_path)
    with pytest.raises(RuntimeError, match="Size mismatch"):
        checkpoint.load({"k": rl.ones(())}, checkpoint_id=tmp_path)


def test_an_optimizer_that_has_made_no_step_gets_the_state_of_one_file(tmp_path: Path) -> None:
    model = rl.nn.Linear(2, 1)
    old, new = rl.optim.Adam(model.parameters()), rl.optim.Adam(model.parameters())
    model(rl.ones(1, 2)).sum().backward()
    old.step()
    checkpoint.save({"opt": old}, checkpoint_id=tmp_path)
    checkpoint.load({"opt": new}, checkpoint_id=tmp_path)
    assert rl.equal(new.state[model.weight]["exp_avg"], old.state[model.weight]["exp_avg"])
