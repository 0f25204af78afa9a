"""Whose signatures a public function has: those of C, or those of a Python function."""

from __future__ import annotations

from typing import Final

#: The functions of `nn.functional` that are written in C, by whose signatures they are.
_LAYERS: Final = {
    **dict.fromkeys(
        ("adaptive_avg_pool1d", "avg_pool1d", "bilinear", "celu_", "channel_shuffle",
         "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
         "conv_transpose3d", "cosine_similarity", "hardshrink", "native_channel_shuffle",
         "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_",
         "rrelu_", "selu_", "threshold_"),
        "torch",
    ),
    **dict.fromkeys(
        ("avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear",
         "logsigmoid", "one_hot", "scaled_dot_product_attention", "softplus", "softshrink"),
        "nn",
    ),
}  # fmt: skip


#: The functions of `nn.functional` that say in other words than ours what they don't take.
PYTHON_NAMES: Final = frozenset((
    "max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "fractional_max_pool2d", "fractional_max_pool3d", "threshold",
))  # fmt: skip


#: The functions of `nn.functional` that ask their input for something first, whatever it is.
ASKED: Final = {"sigmoid": "sigmoid", "tanh": "tanh", "glu": "dim"}


def kind_of(namespace: str, name: str) -> str:
    """The kind of the signatures, see `_signatures.py`; "" for a function with none."""
    if namespace == "nn.functional":
        return _LAYERS.get(name, "python")
    if namespace == "":
        return "torch"
    return namespace if namespace in ("fft", "linalg", "special") else ""
