"""For type checkers: `import rushlight.linalg` finds the module of that name."""

from ._torch.linalg import *  # noqa: F403
