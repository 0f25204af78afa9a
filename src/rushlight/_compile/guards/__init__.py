"""When a recorded step may run: what it saw, watched in Python and in machine code."""
