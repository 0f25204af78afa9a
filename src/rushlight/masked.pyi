"""For type checkers: `import rushlight.masked` finds the module of that name."""

from ._torch.masked import *  # noqa: F403
