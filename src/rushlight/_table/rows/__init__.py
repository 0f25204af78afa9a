"""What a row is, and what is made from it: nodes, functions, results."""
