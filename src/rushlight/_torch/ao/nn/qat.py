"""`torch.ao.nn.qat`: names of layers for training before quantisation, which aren't here.

Nothing here computes with integers of few bits: what is asked for refuses when it is used.
"""

from __future__ import annotations

from ... import missing_devices as absent

_INSTEAD = "{name}: Rushlight doesn't quantise. Use the layer of the same name in torch.nn."
absent.refusing(
    globals(), NotImplementedError, _INSTEAD,
    "Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear ",
)  # fmt: skip

__all__ = absent.names(globals())  # noqa: PLE0605
