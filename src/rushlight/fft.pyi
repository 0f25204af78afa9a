"""For type checkers: `import rushlight.fft` finds the module of that name."""

from ._torch.fft import *  # noqa: F403
