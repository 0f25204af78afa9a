"""`torch.hub`: entry points of a folder, and weights of a file."""

import hashlib
from pathlib import Path

import pytest

import rushlight as torch
from rushlight import hub


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "parts_of_hub.py").write_text("size = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['numpy']\n"
        "from rushlight import nn\n"
        "def net(n=2):\n    'A layer.'\n"
        "    import parts_of_hub\n    return nn.Linear(n, parts_of_hub.size)\n"
    )
    return str(tmp_path)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    before = hub.get_dir()
    hub.set_dir(tmp_path / "kept")
    yield tmp_path / "kept"
    hub.set_dir(before)


def test_an_entry_point_of_a_folder_is_called(folder: str) -> None:
    net = hub.load(folder, "net", source="local", n=5)
    assert (net.in_features, net.out_features) == (5, 3)


def test_what_is_not_there_is_an_error(folder: str) -> None:
    with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
        hub.load(folder, "other", source="local")
    with pytest.raises(ValueError, match='Unknown source: "elsewhere"'):
        hub.load(folder, "net", source="elsewhere")


def test_nothing_is_fetched_from_github_but_what_is_kept_is_used(folder: str, kept: Path) -> None:
    with pytest.raises(RuntimeError, match="fetches no code from GitHub") as caught:
        hub.load("owner/name", "net")
    assert 'source="local"' in caught.value.__notes__[0]
    place = kept / "owner_name_main"
    place.parent.mkdir()
    place.symlink_to(folder)
    assert hub.load("owner/name", "net").out_features == 3
    assert "net" in hub.list("owner/name")
    assert hub.help("owner/name", "net") == "A layer."


def test_weights_of_a_file_are_kept_and_checked(tmp_path: Path, kept: Path) -> None:
    torch.save({"a": torch.ones(2)}, tmp_path / "weights.pth")
    digest = hashlib.sha256((tmp_path / "weights.pth").read_bytes()).hexdigest()
    url = (tmp_path / "weights.pth").as_uri()
    found = hub.load_state_dict_from_url(url, check_hash=True, file_name=f"w-{digest[:8]}.pth")
    assert found["a"].tolist() == [1, 1]
    assert [p.name for p in (kept / "checkpoints").iterdir()] == [f"w-{digest[:8]}.pth"]
    with pytest.raises(RuntimeError, match='invalid hash value \\(expected "00000000"'):
        hub.load_state_dict_from_url(url, check_hash=True, file_name="w-00000000.pth")
