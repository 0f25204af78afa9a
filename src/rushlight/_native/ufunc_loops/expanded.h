/* Arrays of other shapes and strides than a result's, written out in its shape. */

/* Sizes that go with those of another array; whether they do. */
static inline int broaden(PyArrayObject *x, int most, int *rank, npy_intp *sizes)
{
    int own = PyArray_NDIM(x);
    if (own > most)
        return 0;
    for (; *rank < own; ++*rank) { /* a dimension in front */
        memmove(sizes + 1, sizes, *rank * sizeof(npy_intp));
        sizes[0] = 1;
    }
    for (int k = 0; k < own; k++) {
        npy_intp *size = &sizes[*rank - own + k], n = PyArray_DIM(x, k);
        if (*size == 1)
            *size = n;
        else if (n != 1 && n != *size)
            return 0;
    }
    return 1;
}

/* Writes an array out in a shape, in order. Whether NumPy would lay out a result in that order, too:
   no dimension lies within a later one, or backwards. */
static inline int write_out(PyArrayObject *x, int rank, const npy_intp *sizes, npy_intp size,
                            char *to)
{
    npy_intp steps[NPY_MAXDIMS], place[NPY_MAXDIMS] = {0}, item = PyArray_ITEMSIZE(x);
    npy_intp last = NPY_MAX_INTP;
    int lead = rank - PyArray_NDIM(x);
    for (int k = 0; k < rank; k++) {
        steps[k] = k < lead || PyArray_DIM(x, k - lead) == 1 ? 0 : PyArray_STRIDE(x, k - lead);
        if (steps[k] < 0 || steps[k] > last)
            return 0;
        last = steps[k] > 0 ? steps[k] : last;
    }
    const char *from = PyArray_BYTES(x);
    for (; size > 0; size--, to += item) {
        memcpy(to, from, item);
        for (int k = rank; k-- > 0;) {
            from += steps[k];
            if (++place[k] < sizes[k])
                break;
            from -= steps[k] * sizes[k];
            place[k] = 0;
        }
    }
    return 1;
}
