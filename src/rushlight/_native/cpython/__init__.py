"""Machine code that reads CPython's objects: calls, guards, layouts."""
