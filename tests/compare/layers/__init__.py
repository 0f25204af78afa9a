"""Every layer of `torch.nn`, with its options, on torch and on Rushlight."""

from . import (
    activations,
    attention,
    convolutions,
    embeddings,
    linears,
    losses,
    normalisations,
    paddings,
    poolings,
    recurrences,
    reshapings,
)
from .differ import differences
from .known import KNOWN, Known, matches, surprises
from .sides import observed
from .table import CASES, Case

FAMILIES = (
    activations, attention, convolutions, embeddings, linears, losses, normalisations, paddings,
    poolings, recurrences, reshapings,
)  # fmt: skip

__all__ = [
    "CASES",
    "FAMILIES",
    "KNOWN",
    "Case",
    "Known",
    "differences",
    "matches",
    "observed",
    "surprises",
]
