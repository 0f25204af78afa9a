"""From a call's arguments to a row: dispatch, conversions, errors, checks."""
