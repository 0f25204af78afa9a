"""Formulas as instructions, whichever world evaluates them."""
