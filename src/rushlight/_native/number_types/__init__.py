"""Number types that NumPy lacks, as types of NumPy's, where a C compiler built them.

    from rushlight._native.number_types.bfloat16 import bfloat16
    np.ones(3, bfloat16) + 1

`bfloat16.c` tells NumPy of the upper half of a float32. Rushlight takes the type of ml_dtypes where
that is installed (`_array/bfloat16.py`), so both have the same name, kind, sizes, promotions
and values. A conversion goes by way of float32, as in PyTorch: a float64 is rounded twice.
`bits.h` has conversions, and what the bits say.

A function of arrays is NumPy's own inner loop for float32: 512 elements are widened, it is called,
and its results are rounded to the nearest, the even one of two. So there is one loop for all
ufuncs, as quick as the processor's widest instructions make NumPy's. Where `reduce` and
`accumulate` make each result an operand of the next step, every step is rounded.

NumPy keeps a type for as long as the process lives: it is made once, whoever imports the module
again.
"""
