"""`Backend`: the names of what carries messages, and which of them the CPU has."""

from __future__ import annotations

from .._base.error_notes import advise

__all__ = ["Backend", "check_backend"]


class Backend(str):
    """The name of what carries messages between processes: gloo is the one of the CPU.

    Parameters:
        name: a name in any case; the string that is made has small letters.
    Raises: ValueError: for what isn't text.
    Example:
        >>> dist.Backend("GLOO")
        'gloo'
        >>> dist.Backend.backend_capability["gloo"]
        ['cpu', 'cuda']
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"
    backend_list: list[str] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    #: What is taken for a kind of device where no name is given.
    default_device_backend_map: dict[str, str] = {
        "cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO,
    }  # fmt: skip
    #: The kinds of devices whose tensors each one sends.
    backend_capability: dict[str, list[str]] = {
        GLOO: ["cpu", "cuda"], NCCL: ["cuda"], XCCL: ["xpu"], UCC: ["cpu", "cuda"],
        MPI: ["cpu", "cuda"], FAKE: ["cpu", "cuda", "hpu", "xpu"],
    }  # fmt: skip

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name=}")
        return super().__new__(cls, name.lower())


def check_backend(backend: str | None) -> str:
    """The names of the backends that are asked for, where the CPU has them.

    Raises:
        AssertionError: for a name that there isn't.
        RuntimeError: for a backend of other devices.
    """
    names = [part.rpartition(":")[2] for part in (backend or "gloo").lower().split(",")]
    for name in names:
        if name not in Backend.backend_list or name == "undefined":
            raise AssertionError(f"Unknown backend type {name}")
    name = names[0]
    if "gloo" in names or name in ("fake", "mpi"):
        return name if len(names) == 1 else ",".join(names)
    raise advise(
        RuntimeError(f"Distributed package doesn't have {name.upper()} built in"),
        'there are no GPUs here: use init_process_group("gloo")',
    )
