"""Files of each side read by the other."""

import io
from typing import Any

import pytest

import rushlight

torch = pytest.importorskip("torch")

STREAM = {"_use_new_zipfile_serialization": False}


def values(T: Any) -> dict[str, Any]:
    T.manual_seed(0)
    base = T.arange(12.0)
    noted, parameter = T.ones(2), T.nn.Parameter(T.ones(2))
    noted.note, parameter.note = 3, "x"
    net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU(), T.nn.Linear(3, 1))
    adam = T.optim.Adam(net.parameters())
    net(T.ones(1, 2)).sum().backward()
    adam.step()
    return {
        "transposed": T.ones(2, 3).t(),
        "strided": base[2:8:2],
        "scalar": T.tensor(True),
        "complex": T.tensor([1j]),
        "bfloat16": T.ones(2).bfloat16(),
        "half": T.ones(2).half(),
        "empty": T.zeros(0, 3),
        "leaf": T.ones(2, requires_grad=True),
        "noted": noted,
        "parameter": T.nn.Parameter(T.ones(2)),
        "noted_parameter": parameter,
        "shared": [base, base[3:5]],
        "names": [T.float64, T.Size([1, 2]), T.device("cpu"), T.strided],
        "plain": {"a": [1, 2.5, None, True, b"x"], "b": {1, 2}, "c": 1j},
        "state": net.state_dict(),
        "optimizer": adam.state_dict(),
    }


def described(value: Any) -> str:
    if hasattr(value, "stride"):
        kind, place = type(value).__name__, (value.stride(), value.storage_offset())
        return f"{kind} {value} {value.dtype} {place} {value.requires_grad} {value.__dict__}"
    if isinstance(value, list):
        return str([described(item) for item in value])
    return f"{type(value).__name__} {value}"


def carried(writer: Any, reader: Any, value: Any, weights_only: bool, **options: Any) -> Any:
    buffer = io.BytesIO()
    writer.save(value, buffer, **options)
    buffer.seek(0)
    return reader.load(buffer, weights_only=weights_only)


@pytest.mark.parametrize("options", [{}, STREAM], ids=["zip", "stream"])
@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", list(values(rushlight)))
def test_a_value_means_the_same_whoever_wrote_and_reads_it(
    name: str, weights_only: bool, options: dict[str, Any]
) -> None:
    wanted = described(carried(torch, torch, values(torch)[name], weights_only, **options))
    for writer, reader in ((torch, rushlight), (rushlight, torch), (rushlight, rushlight)):
        got = carried(writer, reader, values(writer)[name], weights_only, **options)
        assert described(got) == wanted


@pytest.mark.parametrize("options", [{}, STREAM], ids=["zip", "stream"])
def test_whole_modules_and_optimizers_cross_over(options: dict[str, Any]) -> None:
    def trained(T: Any) -> tuple[Any, Any]:
        T.manual_seed(0)
        net = T.nn.Sequential(T.nn.Linear(2, 3), T.nn.BatchNorm1d(3)).eval()
        return net, T.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    results = []
    for writer in (torch, rushlight):
        for reader in (torch, rushlight):
            net, sgd = carried(writer, reader, list(trained(writer)), False, **options)
            net(reader.ones(4, 2)).sum().backward()
            sgd.step()
            results.append(f"{net} {sgd} {net.state_dict()}")
    assert len(set(results)) == 1
