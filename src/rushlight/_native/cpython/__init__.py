"""Machine code that reads the objects of CPython and NumPy; `docs/notes/cpython.md` says on what
conditions."""
