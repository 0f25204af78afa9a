"""For type checkers: `import rushlight.special` finds the module of that name."""

from ._torch.special import *  # noqa: F403
