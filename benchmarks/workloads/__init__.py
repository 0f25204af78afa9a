"""The workloads, one file per family. Importing this package enters them all into the registry.

Nothing here imports an array library at import time: the figures for import time and memory need a
process that has loaded nothing yet.
"""

from importlib import import_module

# In the order of the report.
FAMILIES = (
    "single_op",
    "chain",
    "scalar_network",
    "perceptron",
    "elementwise",
    "row_operations",
    "layers",
    "steps",
    "first_call",
    "second_order",
    "td_lambda",
    "footprint",
)

for _family in FAMILIES:
    import_module(f"{__name__}.{_family}")
