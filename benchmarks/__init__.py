"""Side-by-side benchmarks: the same work on Rushlight, PyTorch and others, taking turns.

Run `python -m benchmarks`; `docs/notes/benchmarks.md` says how to read what it prints.
"""
