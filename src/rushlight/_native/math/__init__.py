"""exp, log, tanh, sin, erf and their like, inlined."""
