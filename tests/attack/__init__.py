"""Long attacks, run by hand: `python -m tests.attack.forks --count 300 --seed 1` and so on."""
