"""What programs written for PyTorch import: the alias, the table of names, and modules that only
exist because PyTorch has them."""
