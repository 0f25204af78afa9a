"""`torch.distributed.checkpoint.hf_storage`: imported by packages; there is one process."""

from __future__ import annotations

from ..._base.error_notes import advise

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]


class _Storage:
    def __init__(self, *args: object, **kwargs: object) -> None:
        raise advise(
            RuntimeError(f"{type(self).__name__} works on files of several processes"),
            "use torch.save and torch.load, or rushlight.serialization.save_safetensors",
        )


class HuggingFaceStorageReader(_Storage):
    """Raises RuntimeError: there is one process."""


class HuggingFaceStorageWriter(_Storage):
    """Raises RuntimeError: there is one process."""
