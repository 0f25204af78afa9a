"""The generator and what is drawn from it."""
