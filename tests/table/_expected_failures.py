"""Cases that fail for a known reason: {"test_name[case id]": "the reason"}.

Strict: a case listed here that passes fails the run, and so does one that no longer exists. The count
may only fall.
"""

EXPECTED: dict[str, str] = {}
