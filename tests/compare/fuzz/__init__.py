"""Random programs on PyTorch and on Rushlight, statement by statement; see runner.py."""
