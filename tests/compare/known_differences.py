"""Programs that print something else on Rushlight than on torch, each with the reason.

Strict: a program that is listed here and prints the same fails the comparison. Longer reasons
stand in docs/notes/differences.md.
"""

KNOWN: dict[str, str] = {}
