"""Programs that try to break the library: `python -m tests.attack.NAME --count N --seed S`.

Each makes its cases from a seed, measures them in processes of their own, and ends with an error if
one of them broke its promise. Short forms of them are tests.
"""
