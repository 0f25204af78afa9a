/* Copies of small arrays of numbers, in another arrangement or together: see `__init__.py`. */
#include "short.h"

#define DIMENSIONS 8
#define BYTES (1 << 16) /* of a result, or of one that isn't in the order of what is read: */
#define MORE (1 << 21)
#define TURNED (1 << 26) /* of what is read backwards */
#define ROW 32 /* bytes of lines that are worth copying each by itself */
#define LONG (1 << 18) /* from which others may run meanwhile */
#define FURTHEST (1 << 24) /* of a number that is asked for */

/* What is read for a copy, in the order in which it is written: the sizes and strides. */
typedef struct {
    int rank;
    npy_intp sizes[2 * DIMENSIONS + 2], strides[2 * DIMENSIONS + 2];
    const char *from;
} Source;

/* ---- what is asked of arguments ----------------------------------------------------------- */

/* Whether an array of numbers or bools has so many bytes, elements in the order of this machine, and,
   maybe, lies in order. */
static int is_small(PyObject *x, int ordered, npy_intp bytes)
{
    PyArrayObject *array = (PyArrayObject *)x;
    return Py_TYPE(x) == &PyArray_Type &&
           (PyTypeNum_ISNUMBER(PyArray_TYPE(array)) || PyTypeNum_ISBOOL(PyArray_TYPE(array))) &&
           PyArray_ISNOTSWAPPED(array) && PyArray_ISALIGNED(array) &&
           PyArray_NDIM(array) <= DIMENSIONS &&
           PyArray_SIZE(array) > 0 &&
           PyArray_SIZE(array) <= bytes / PyArray_ITEMSIZE(array) &&
           (!ordered || is_dense(array));
}

static int read_whole(PyObject *x, npy_intp *value)
{
    int overflow;
    if (!PyLong_CheckExact(x))
        return 0;
    *value = PyLong_AsLongAndOverflow(x, &overflow);
    return !overflow && *value <= FURTHEST && *value >= -FURTHEST;
}

static void take_all(PyArrayObject *x, Source *s)
{
    s->rank = PyArray_NDIM(x);
    s->from = PyArray_BYTES(x);
    copy_sizes(s->sizes, PyArray_DIMS(x), s->rank);
    copy_sizes(s->strides, PyArray_STRIDES(x), s->rank);
}

#define COPY_PARTS(SIZE)                                                                        \
    for (; count > 0; count--, to += next, from += row)                                         \
        memcpy(to, from, SIZE);                                                                 \
    break;

/* Parts of so many bytes, so far apart, to places so far apart. */
static void copy_parts(char *to, npy_intp next, const char *from, npy_intp row, npy_intp part,
                       npy_intp count)
{
    switch (part) {
    case 4: COPY_PARTS(4)
    case 8: COPY_PARTS(8)
    case 16: COPY_PARTS(16)
    case 32: COPY_PARTS(32)
    case 64: COPY_PARTS(64)
    default: COPY_PARTS(part)
    }
}

/* ---- copies of one array ------------------------------------------------------------------ */

/* Without sizes of 1, and with dimensions that lie one behind the other as one. */
static void simplify(Source *s)
{
    int rank = 0;
    for (int k = 0; k < s->rank; k++) {
        npy_intp size = s->sizes[k], stride = s->strides[k];
        if (size == 1)
            continue;
        if (rank > 0 && s->strides[rank - 1] == stride * size)
            rank--, size *= s->sizes[rank];
        s->sizes[rank] = size;
        s->strides[rank++] = stride;
    }
    for (; rank < 2; rank++) { /* two at least */
        s->sizes[1] = rank == 0 ? 1 : s->sizes[0], s->strides[1] = rank == 0 ? 0 : s->strides[0];
        s->sizes[0] = 1, s->strides[0] = 0;
    }
    s->rank = rank;
}

#define COPY_LINES(TYPE)                                                                        \
    for (npy_intp r = 0; r < rows; r++, from += row, to += size * sizeof(TYPE)) {               \
        TYPE *out = (TYPE *)to;                                                                 \
        const TYPE *at = (const TYPE *)from;                                                    \
        if (step == -(npy_intp)sizeof(TYPE)) {                                                  \
            at -= size - 1;                                                                     \
            for (npy_intp k = 0; k < size; k++)                                                 \
                out[k] = at[size - 1 - k];                                                      \
        }                                                                                       \
        else if (step == 0) {                                                                   \
            const TYPE one = *at;                                                               \
            for (npy_intp k = 0; k < size; k++)                                                 \
                out[k] = one;                                                                   \
        }                                                                                       \
        else                                                                                    \
            for (npy_intp k = 0; k < size; k++)                                                 \
                out[k] = *(const TYPE *)(from + k * step);                                      \
    }

/* Lines of a matrix, one after the other. */
FOR_MACHINE static void copy_lines(const char *from, npy_intp rows, npy_intp row, npy_intp size,
                                   npy_intp step, npy_intp item, char *to)
{
    if (step == item)
        copy_parts(to, size * item, from, row, size * item, rows);
    else if (item == 4)
        COPY_LINES(npy_uint32)
    else if (item == 8)
        COPY_LINES(npy_uint64)
    else if (item == 2)
        COPY_LINES(npy_uint16)
    else if (item == 1)
        COPY_LINES(npy_uint8)
    else
        for (npy_intp r = 0; r < rows; r++, from += row)
            for (npy_intp k = 0; k < size; k++, to += item)
                memcpy(to, from + k * step, item);
}

static void copy(const Source *given, npy_intp item, char *to)
{
    Source simple = *given, *s = &simple;
    npy_intp place[2 * DIMENSIONS + 2] = {0}, left = 1;
    simplify(s);
    int inner = s->rank - 2;
    npy_intp rows = s->sizes[inner], row = s->strides[inner];
    npy_intp size = s->sizes[inner + 1], step = s->strides[inner + 1], bytes = rows * size * item;
    for (int k = 0; k < inner; k++)
        left *= s->sizes[k];
    PyThreadState *others = bytes * left >= LONG ? PyEval_SaveThread() : NULL;
    for (; left > 0; left--, to += bytes) {
        copy_lines(s->from, rows, row, size, step, item, to);
        for (int k = inner; k-- > 0;) {
            s->from += s->strides[k];
            if (++place[k] < s->sizes[k])
                break;
            s->from -= s->strides[k] * s->sizes[k];
            place[k] = 0;
        }
    }
    if (others != NULL)
        PyEval_RestoreThread(others);
}

static void turn(Source *s, int dim)
{
    s->from += (s->sizes[dim] - 1) * s->strides[dim];
    s->strides[dim] = -s->strides[dim];
}

static PyObject *copied(PyArrayObject *x, const Source *s)
{
    PyArrayObject *out = new_array(PyArray_DESCR(x), PyArray_NDIM(x), PyArray_DIMS(x));
    if (out != NULL)
        copy(s, PyArray_ITEMSIZE(x), PyArray_BYTES(out));
    return (PyObject *)out;
}

/* The order along some dimensions reversed. */
static PyObject *flip(PyArrayObject *x, PyObject *dims)
{
    Source s;
    int seen = 0;
    if (!PyTuple_CheckExact(dims) && !PyList_CheckExact(dims))
        return NULL;
    take_all(x, &s);
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(dims); k++) {
        int dim = read_dim(PySequence_Fast_GET_ITEM(dims, k), s.rank);
        if (dim < 0 || seen >> dim & 1)
            return NULL;
        seen |= 1 << dim;
        turn(&s, dim);
    }
    return copied(x, &s);
}

/* Turned by right angles, from the first of two dimensions to the second. */
static PyObject *rotate(PyArrayObject *x, PyObject *times, PyObject *dims)
{
    Source s;
    npy_intp k;
    if (!read_whole(times, &k) || !(PyTuple_CheckExact(dims) || PyList_CheckExact(dims)) ||
        PySequence_Fast_GET_SIZE(dims) != 2)
        return NULL;
    take_all(x, &s);
    int a = read_dim(PySequence_Fast_GET_ITEM(dims, 0), s.rank);
    int b = read_dim(PySequence_Fast_GET_ITEM(dims, 1), s.rank);
    if (a < 0 || b < 0 || a == b)
        return NULL;
    k &= 3;
    if (k == 2 || k == 3)
        turn(&s, a);
    if (k == 1 || k == 2)
        turn(&s, b);
    PyObject *out = copied(x, &s);
    if (out == NULL || !(k & 1))
        return out;
    PyObject *turned = PyArray_SwapAxes((PyArrayObject *)out, a, b);
    Py_DECREF(out);
    return turned;
}

/* Elements moved along one dimension, or along all as if they were one. */
static PyObject *roll(PyArrayObject *x, PyObject *shifts, PyObject *dims)
{
    npy_intp shift, n = PyArray_SIZE(x), inner = PyArray_ITEMSIZE(x), outer = 1;
    if (!PyTuple_CheckExact(shifts) || !PyTuple_CheckExact(dims) ||
        PyTuple_GET_SIZE(shifts) != 1 || PyTuple_GET_SIZE(dims) > 1 ||
        !read_whole(PyTuple_GET_ITEM(shifts, 0), &shift))
        return NULL;
    if (PyTuple_GET_SIZE(dims) == 1) {
        int dim = read_dim(PyTuple_GET_ITEM(dims, 0), PyArray_NDIM(x));
        if (dim < 0)
            return NULL;
        n = PyArray_DIM(x, dim);
        for (int k = 0; k < dim; k++)
            outer *= PyArray_DIM(x, k);
        for (int k = dim + 1; k < PyArray_NDIM(x); k++)
            inner *= PyArray_DIM(x, k);
    }
    shift %= n;
    shift += shift < 0 ? n : 0;
    PyArrayObject *out = new_array(PyArray_DESCR(x), PyArray_NDIM(x), PyArray_DIMS(x));
    if (out == NULL)
        return NULL;
    const char *from = PyArray_BYTES(x);
    char *to = PyArray_BYTES(out);
    npy_intp front = shift * inner, back = (n - shift) * inner;
    copy_parts(to, n * inner, from + back, n * inner, front, outer);
    copy_parts(to + front, n * inner, from, n * inner, back, outer);
    return (PyObject *)out;
}

/* Triangles of matrices, zeros elsewhere. */
static PyObject *triangle(PyArrayObject *x, PyObject *diagonal, int lower)
{
    npy_intp shift, item = PyArray_ITEMSIZE(x);
    int rank = PyArray_NDIM(x);
    if (rank < 2 || !read_whole(diagonal, &shift))
        return NULL;
    npy_intp rows = PyArray_DIM(x, rank - 2), columns = PyArray_DIM(x, rank - 1);
    npy_intp all = PyArray_SIZE(x) / columns;
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, PyArray_DIMS(x));
    if (out == NULL)
        return NULL;
    const char *from = PyArray_BYTES(x);
    char *to = PyArray_BYTES(out);
    for (npy_intp r = 0; r < all; r++, from += columns * item, to += columns * item) {
        npy_intp cut = r % rows + shift + lower; /* from here on it is the other triangle */
        cut = cut < 0 ? 0 : cut > columns ? columns : cut;
        npy_intp first = lower ? 0 : cut, end = lower ? cut : columns;
        memset(to, 0, columns * item);
        memcpy(to + first * item, from + first * item, (end - first) * item);
    }
    return (PyObject *)out;
}

/* The array repeated along every dimension, new ones included. */
static PyObject *repeat(PyArrayObject *x, PyObject *repeats)
{
    Source s;
    npy_intp sizes[DIMENSIONS], bytes = PyArray_ITEMSIZE(x);
    if (!PyTuple_CheckExact(repeats) || PyTuple_GET_SIZE(repeats) > DIMENSIONS)
        return NULL;
    int rank = (int)PyTuple_GET_SIZE(repeats), lead = rank - PyArray_NDIM(x);
    if (lead < 0)
        return NULL;
    s.rank = 2 * rank;
    s.from = PyArray_BYTES(x);
    for (int k = 0; k < rank; k++) {
        npy_intp many, n = k < lead ? 1 : PyArray_DIM(x, k - lead);
        if (!read_whole(PyTuple_GET_ITEM(repeats, k), &many) || many < 1 || many > MORE)
            return NULL;
        s.sizes[2 * k] = many;
        s.strides[2 * k] = 0;
        s.sizes[2 * k + 1] = n;
        s.strides[2 * k + 1] = k < lead ? 0 : PyArray_STRIDE(x, k - lead);
        sizes[k] = many * n;
        if (bytes > MORE / sizes[k])
            return NULL;
        bytes *= sizes[k];
    }
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, sizes);
    if (out != NULL)
        copy(&s, PyArray_ITEMSIZE(x), PyArray_BYTES(out));
    return (PyObject *)out;
}

/* Zeros, or ones, in the shape and type of an array. */
static PyObject *fill(PyArrayObject *x, int ones)
{
    int type = PyArray_TYPE(x);
    npy_intp size = PyArray_SIZE(x);
    if (ones && type != NPY_FLOAT && type != NPY_DOUBLE && type != NPY_INT64)
        return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(x), PyArray_NDIM(x), PyArray_DIMS(x));
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES(out);
    if (!ones)
        memset(to, 0, size * PyArray_ITEMSIZE(x));
    else
        for (npy_intp k = 0; k < size; k++)
            if (type == NPY_FLOAT)
                ((float *)to)[k] = 1;
            else if (type == NPY_DOUBLE)
                ((double *)to)[k] = 1;
            else
                ((npy_int64 *)to)[k] = 1;
    return (PyObject *)out;
}

/* Whether results of an array in order have their channels last, as of one channel of one place. */
static int may_lie_otherwise(PyArrayObject *x)
{
    int rank = PyArray_NDIM(x);
    return (rank == 4 || rank == 5) && PyArray_STRIDE(x, 1) <= PyArray_STRIDE(x, rank - 1);
}

/* With a number around it: pairs of widths, none below zero, from the last dimension on. */
static PyObject *pad(PyArrayObject *x, PyObject *widths, PyObject *value)
{
    int type = type_of((PyObject *)x), rank = PyArray_NDIM(x), grows = 0;
    if (type < 0 || may_lie_otherwise(x) || !(PyTuple_CheckExact(widths) || PyList_CheckExact(widths)) ||
        !(PyFloat_CheckExact(value) || PyLong_CheckExact(value)))
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(widths);
    npy_intp sizes[DIMENSIONS], item = PyArray_ITEMSIZE(x), bytes = item, before[DIMENSIONS] = {0};
    double number = PyFloat_Check(value) ? PyFloat_AS_DOUBLE(value) : PyLong_AsDouble(value);
    if (PyErr_Occurred() || !(number >= -128 && number < 128) || count % 2 || count > 2 * rank)
        return PyErr_Clear(), NULL;
    copy_sizes(sizes, PyArray_DIMS(x), rank);
    for (Py_ssize_t k = 0; k < count; k++) {
        npy_intp width;
        int dim = rank - 1 - (int)(k / 2);
        if (!read_whole(PySequence_Fast_GET_ITEM(widths, k), &width) || width < 0)
            return NULL;
        sizes[dim] += width;
        grows |= width > 0;
        if (k % 2 == 0)
            before[dim] = width;
    }
    for (int k = 0; k < rank; k++) {
        if (bytes > MORE / sizes[k])
            return NULL;
        bytes *= sizes[k];
    }
    PyArrayObject *out = grows ? new_array(PyArray_DESCR(x), rank, sizes) : NULL;
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES(out);
    if (number == 0)
        memset(to, 0, bytes);
    else
        for (npy_intp k = 0; k < bytes / item; k++)
            if (type == 0)
                ((float *)to)[k] = (float)number;
            else
                ((double *)to)[k] = number;
    npy_intp row = PyArray_DIM(x, rank - 1) * item, place[DIMENSIONS] = {0};
    const char *from = PyArray_BYTES(x);
    for (int k = 0; k < rank; k++)
        to += before[k] * PyArray_STRIDE(out, k);
    for (npy_intp left = PyArray_SIZE(x) * item; left > 0; left -= row, from += row) {
        memcpy(to, from, row);
        for (int k = rank - 1; k-- > 0;) {
            to += PyArray_STRIDE(out, k);
            if (++place[k] < PyArray_DIM(x, k))
                break;
            to -= PyArray_STRIDE(out, k) * PyArray_DIM(x, k);
            place[k] = 0;
        }
    }
    return (PyObject *)out;
}

/* Along a dimension: how many elements there are, and how many more come before and after. */
typedef struct {
    npy_intp size, before, after;
} Border;

/* The element that stands at a place, which may lie before the first or behind the last one. */
static inline npy_intp lender(char mode, npy_intp at, npy_intp size)
{
    if (at >= 0 && at < size)
        return at;
    if (mode == 'r')
        return at < 0 ? -at : 2 * (size - 1) - at;
    if (mode == 'c')
        return at < 0 ? at + size : at - size;
    return at < 0 ? 0 : size - 1;
}

#define LEND(TYPE)                                                                              \
    for (npy_intp k = first; k < last; k++)                                                     \
        ((TYPE *)to)[k] = ((const TYPE *)from)[lender(mode, k, size)];                          \
    break;

/* Elements of a line that stand at places outside it, whose first element is to be at `to`. */
static void lend(char mode, npy_intp first, npy_intp last, npy_intp size, npy_intp item,
                 const char *from, char *to)
{
    switch (item) {
    case 1: LEND(npy_uint8)
    case 2: LEND(npy_uint16)
    case 4: LEND(npy_uint32)
    case 8: LEND(npy_uint64)
    default:
        for (npy_intp k = first; k < last; k++)
            memcpy(to + k * item, from + lender(mode, k, size) * item, item);
    }
}

/* Writes an array with its borders, from a dimension on: where that ends. */
static char *write_bordered(const Border *border, char mode, int rank, const npy_intp *strides,
                            npy_intp item, const char *from, char *to)
{
    npy_intp size = border->size, end = size + border->after;
    if (rank == 1) {
        to += border->before * item;
        lend(mode, -border->before, 0, size, item, from, to);
        memcpy(to, from, size * item);
        lend(mode, size, end, size, item, from, to);
        return to + end * item;
    }
    for (npy_intp k = -border->before; k < end; k++)
        to = write_bordered(border + 1, mode, rank - 1, strides + 1, item,
                            from + lender(mode, k, size) * *strides, to);
    return to;
}

/* An array with borders of its own elements, for their widths, the last dimension first. */
static PyObject *borrow(PyArrayObject *x, PyObject *widths, PyObject *how)
{
    int rank = PyArray_NDIM(x), grows = 0;
    if (!(PyTuple_Check(widths) || PyList_CheckExact(widths)) || !PyUnicode_CheckExact(how) ||
        rank < 1)
        return NULL;
    char mode = PyUnicode_CompareWithASCIIString(how, "reflect") == 0     ? 'r'
                : PyUnicode_CompareWithASCIIString(how, "circular") == 0  ? 'c'
                : PyUnicode_CompareWithASCIIString(how, "replicate") == 0 ? 'e'
                                                                          : 0;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(widths);
    npy_intp sizes[DIMENSIONS], item = PyArray_ITEMSIZE(x), bytes = item;
    Border borders[DIMENSIONS];
    if (mode == 0 || count % 2 || count > 2 * rank)
        return NULL;
    for (int k = 0; k < rank; k++)
        borders[k] = (Border){PyArray_DIM(x, k), 0, 0};
    for (Py_ssize_t k = 0; k < count; k++) {
        Border *border = &borders[rank - 1 - (int)(k / 2)];
        npy_intp width, most = mode == 'r' ? border->size - 1 : mode == 'c' ? border->size : FURTHEST;
        if (!read_whole(PySequence_Fast_GET_ITEM(widths, k), &width) || width < 0 || width > most)
            return NULL;
        *(k % 2 == 0 ? &border->before : &border->after) = width;
        grows |= width > 0;
    }
    for (int k = 0; k < rank; k++) {
        sizes[k] = borders[k].size + borders[k].before + borders[k].after;
        if (bytes > 2 * MORE / sizes[k])
            return NULL;
        bytes *= sizes[k];
    }
    PyArrayObject *out = grows ? new_array(PyArray_DESCR(x), rank, sizes) : NULL;
    if (out == NULL)
        return NULL;
    PyThreadState *others = bytes >= LONG ? PyEval_SaveThread() : NULL;
    write_bordered(borders, mode, rank, PyArray_STRIDES(x), item, PyArray_BYTES(x),
                   PyArray_BYTES(out));
    if (others != NULL)
        PyEval_RestoreThread(others);
    return (PyObject *)out;
}

/* Each element of the last dimensions again, so often that the sizes are `wanted`, where that is a
   power of two, and the factors say nothing else: then no index is rounded. */
static PyObject *enlarge(PyArrayObject *x, PyObject *wanted, PyObject *const *factors)
{
    Source s = {0};
    int rank = PyArray_NDIM(x);
    npy_intp sizes[DIMENSIONS], bytes = PyArray_ITEMSIZE(x);
    if (type_of((PyObject *)x) < 0 || may_lie_otherwise(x) || !PyTuple_CheckExact(wanted) ||
        PyTuple_GET_SIZE(wanted) != rank - 2)
        return NULL;
    for (int k = 0; k < rank; k++) {
        npy_intp n = PyArray_DIM(x, k), times = 1;
        if (k > 1) {
            PyObject *factor = factors[k - 2];
            if (!read_whole(PyTuple_GET_ITEM(wanted, k - 2), &sizes[k]) || sizes[k] < n ||
                sizes[k] % n != 0)
                return NULL;
            times = sizes[k] / n;
            if ((times & (times - 1)) != 0 ||
                (factor != Py_None &&
                 !(PyFloat_CheckExact(factor) && PyFloat_AS_DOUBLE(factor) == (double)times)))
                return NULL;
        }
        sizes[k] = n * times;
        s.sizes[s.rank] = n;
        s.strides[s.rank++] = PyArray_STRIDE(x, k);
        s.sizes[s.rank] = times;
        s.strides[s.rank++] = 0;
        if (bytes > MORE / sizes[k])
            return NULL;
        bytes *= sizes[k];
    }
    s.from = PyArray_BYTES(x);
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, sizes);
    if (out != NULL)
        copy(&s, PyArray_ITEMSIZE(x), PyArray_BYTES(out));
    return (PyObject *)out;
}

static PyObject *types; /* what the types of tensors are called here -> those of arrays */

/* With elements of another of the usual types, as NumPy converts them. */
static PyObject *converted(PyArrayObject *x, PyObject *type)
{
    PyObject *found = types == NULL ? NULL : PyDict_GetItemWithError(types, type);
    PyErr_Clear(); /* of what has no hash */
    if (found == NULL || !PyArray_DescrCheck(found) || PyArray_NDIM(x) > 3)
        return NULL;
    PyArray_Descr *to = (PyArray_Descr *)found, *from = PyArray_DESCR(x);
    if (strchr("fdilq?", to->type) == NULL || strchr("fdilq?", from->type) == NULL ||
        !PyArray_ISNBO(to->byteorder))
        return NULL;
    Py_INCREF(to);
    return PyArray_CastToType(x, to, 0);
}

/* The first or the second half along a dimension of even size. */
static PyObject *halve(PyArrayObject *x, PyObject *along, PyObject *which)
{
    Source s = {0};
    npy_intp sizes[DIMENSIONS];
    int dim = read_dim(along, PyArray_NDIM(x));
    if (dim < 0 || PyArray_DIM(x, dim) % 2 != 0 || !PyBool_Check(which))
        return NULL;
    take_all(x, &s);
    s.sizes[dim] /= 2;
    s.from += which == Py_True ? s.sizes[dim] * s.strides[dim] : 0;
    copy_sizes(sizes, s.sizes, s.rank);
    PyArrayObject *out = new_array(PyArray_DESCR(x), s.rank, sizes);
    if (out != NULL)
        copy(&s, PyArray_ITEMSIZE(x), PyArray_BYTES(out));
    return (PyObject *)out;
}

/* ---- several arrays ----------------------------------------------------------------------- */

/* A list of arrays of one type one after the other along a dimension, or along a new one. */
static PyObject *join(PyObject *list, PyObject *along, int anew)
{
    npy_intp sizes[DIMENSIONS + 1], outer = 1, total = 0, bytes = 0;
    Py_ssize_t count = PyList_CheckExact(list) ? PyList_GET_SIZE(list) : 0;
    if (count < 1 + !anew || count > BYTES || !is_small(PyList_GET_ITEM(list, 0), 1, MORE))
        return NULL;
    PyArrayObject *first = (PyArrayObject *)PyList_GET_ITEM(list, 0);
    int rank = PyArray_NDIM(first), dim = read_dim(along, rank + anew);
    if (dim < 0 || rank + anew > DIMENSIONS)
        return NULL;
    for (int k = 0; k < dim; k++)
        outer *= PyArray_DIM(first, k);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyArrayObject *x = (PyArrayObject *)PyList_GET_ITEM(list, i);
        if (!is_small((PyObject *)x, 1, MORE) || PyArray_DESCR(x) != PyArray_DESCR(first) ||
            PyArray_NDIM(x) != rank)
            return NULL;
        for (int k = 0; k < rank; k++)
            if ((k != dim || anew) && PyArray_DIM(x, k) != PyArray_DIM(first, k))
                return NULL;
        total += anew ? 1 : PyArray_DIM(x, dim);
        bytes += PyArray_SIZE(x) * PyArray_ITEMSIZE(x);
        if (bytes > MORE)
            return NULL;
    }
    for (int k = 0; k < rank + anew; k++)
        sizes[k] = k == dim ? total : PyArray_DIM(first, k - (anew && k > dim));
    PyArrayObject *out = new_array(PyArray_DESCR(first), rank + anew, sizes);
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES(out);
    npy_intp row = bytes / outer;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyArrayObject *x = (PyArrayObject *)PyList_GET_ITEM(list, i);
        npy_intp part = PyArray_SIZE(x) * PyArray_ITEMSIZE(x) / outer;
        const char *from = PyArray_BYTES(x);
        copy_parts(to, row, from, part, part, outer);
        to += part;
    }
    return (PyObject *)out;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* Whether elements come several times, lie in the order in which they are written, or do so along the
   last dimension, of so many bytes that the rest doesn't matter. */
static int is_read_onwards(PyObject *x)
{
    int repeats = 0, onwards = 1;
    npy_intp last = NPY_MAX_INTP, size = 0;
    for (int k = 0; Py_TYPE(x) == &PyArray_Type && k < PyArray_NDIM((PyArrayObject *)x); k++) {
        npy_intp stride = PyArray_STRIDE((PyArrayObject *)x, k);
        repeats |= stride == 0;
        onwards &= stride >= 0 && stride <= last;
        last = stride, size = PyArray_DIM((PyArrayObject *)x, k);
    }
    return repeats || onwards ||
           (last == PyArray_ITEMSIZE((PyArrayObject *)x) && size * last >= ROW);
}

/* The first letter says which: "F" dimensions turned around, "R" right angles, "M" elements moved,
   "L" and "U" triangles, "P" repetitions, "C" a copy of an array in order, "O" one in order of an
   array in any, "J" arrays joined, "S" stacked, "0" zeros like an array, "1" ones, "N"
   what isn't set, "B" a border, for widths and a number, "W" one of the array's own elements, for
   widths and a mode, "E" planes enlarged, for sizes and a factor
   for each, "H" one half of an array, the second where that is asked, "V" another type. There is a letter for each argument. */
static PyObject *copy_array(const char *letters, PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    char what = letters[0];
    Source s;
    if (what == 'J' || what == 'S')
        return join(args[0], args[1], what == 'S');
    npy_intp most = strchr("FR", what) != NULL ? TURNED : strchr("MPELUW", what) != NULL ? MORE : BYTES;
    if (!is_small(args[0], what != 'O', what == 'O' && is_read_onwards(args[0]) ? MORE : most))
        return NULL;
    switch (what) {
    case 'F': return flip(x, args[1]);
    case 'R': return rotate(x, args[1], args[2]);
    case 'M': return roll(x, args[1], args[2]);
    case 'L':
    case 'U': return triangle(x, args[1], what == 'L');
    case 'P': return repeat(x, args[1]);
    case 'B': return pad(x, args[1], args[2]);
    case 'W': return borrow(x, args[1], args[2]);
    case 'H': return halve(x, args[1], args[2]);
    case 'V': return converted(x, args[1]);
    case 'E':
        return PyArray_NDIM(x) == (int)strlen(letters) ? enlarge(x, args[1], args + 2) : NULL;
    case '0':
    case '1': return fill(x, what == '1');
    case 'N':
        return (PyObject *)new_array(PyArray_DESCR(x), PyArray_NDIM(x), PyArray_DIMS(x));
    }
    take_all(x, &s);
    return copied(x, &s);
}

static PyObject *make_copy(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, copy_array);
}

static PyTypeObject copy_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.copies.Copy", "Copies of small arrays.", make_copy);

/* Says by what names types of elements are asked for. */
static PyObject *set_types(PyObject *module, PyObject *names)
{
    if (!PyDict_CheckExact(names)) {
        PyErr_SetString(PyExc_TypeError, "set_types() takes a dict");
        return NULL;
    }
    Py_XSETREF(types, Py_NewRef(names));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_types", set_types, METH_O, "Says by what names types of elements are asked for."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "copies", "Copies of small arrays in another arrangement.", -1, methods
};

PyMODINIT_FUNC PyInit_copies(void)
{
    import_array();
    if (start_loops() < 0 || PyType_Ready(&copy_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Copy", (PyObject *)&copy_type) < 0)
        return NULL;
    return module;
}
