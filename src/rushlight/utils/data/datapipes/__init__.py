"""Data as a chain of steps, each an iterable or a mapping over the one before."""

from . import iter as iter, map as map
