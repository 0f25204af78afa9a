"""`torch.nested`, which isn't here: what its functions refuse with says what to do instead."""

from __future__ import annotations

from .. import missing_devices as absent

_INSTEAD = (
    "torch.nested.{name}: Rushlight has no nested tensors. Pad the parts "
    "(torch.nn.utils.rnn.pad_sequence) and mask them, or keep them in a list."
)
absent.refusing(
    globals(), NotImplementedError, _INSTEAD,
    "as_nested_tensor masked_select narrow nested_tensor nested_tensor_from_jagged "
    "to_padded_tensor",
)  # fmt: skip

__all__ = absent.names(globals())  # noqa: PLE0605
