/* The elements and the parts of small arrays that indices name: see `__init__.py`. */
#include "short.h"

#define DIMENSIONS 8
#define MOST 4096        /* indices */
#define KERNEL (1 << 14) /* from which rows are added by one */
#define MORE (1 << 17)   /* from which kernels have several threads */
#define LONG (1 << 15)   /* from which others may run meanwhile */
#define BYTES (1 << 21)  /* of a result */
#define MOST_ADDED 32    /* rows that are summed at once, `_RUN` in `gather.py` */
#define MOST_SEARCHED 2048 /* elements that may not be zero */

static PyArray_Descr *integers;

/* Whether an array holds numbers or bools. */
static int holds_numbers(PyObject *x)
{
    return Py_TYPE(x) == &PyArray_Type && (PyTypeNum_ISNUMBER(PyArray_TYPE((PyArrayObject *)x)) ||
                                           PyTypeNum_ISBOOL(PyArray_TYPE((PyArrayObject *)x)));
}

/* Whether an array has indices. */
static int is_index(PyObject *x)
{
    PyArrayObject *array = (PyArrayObject *)x;
    return Py_TYPE(x) == &PyArray_Type && PyArray_DESCR(array) == integers &&
           PyArray_ISALIGNED(array) && PyArray_SIZE(array) >= 1;
}

/* Whether they are few. */
static int holds_indices(PyObject *x)
{
    return is_index(x) && PyArray_SIZE((PyArrayObject *)x) <= MOST;
}

/* Indices that are few and lie one after the other. */
static const npy_int64 *read_indices(PyObject *x)
{
    if (!holds_indices(x) || !is_dense((PyArrayObject *)x))
        return NULL;
    return (const npy_int64 *)PyArray_BYTES((PyArrayObject *)x);
}

/* Whether indices that lie one after the other are all below a number, and none is negative. */
FOR_MACHINE static int are_below(const npy_int64 *at, npy_intp size, npy_intp many)
{
    npy_uint64 wrong = 0; /* its sign: compilers make vectors of that */
    for (npy_intp k = 0; k < size; k++)
        wrong |= (npy_uint64)at[k] | ((npy_uint64)many - 1 - (npy_uint64)at[k]);
    return size == 0 || wrong >> 63 == 0;
}

/* ---- an index for each element, of arrays in order ------------------------------------------- */

/* Indices of `outer` blocks of `count` lines of `inner` elements, of which a block of the array that
   they name has `many`. Elements are read there (pick), written or added, in the order of indices; how
   many there are to an index beside them: one, or for all of them one. */
typedef struct {
    npy_intp outer, count, inner, many, step;
    const npy_int64 *at;
} Lines;

#define PICK(there, here) (here) = (there)
#define PUT(there, here) (there) = (here)
#define ADD(there, here) (there) += (here)

/* Whether all indices were inside; seen without a sign, one below zero is huge. */
#define ALONG(TYPE, DO)                                                                         \
    {                                                                                           \
        TYPE *t = (TYPE *)there, *h = (TYPE *)here;                                             \
        const npy_uint64 many = (npy_uint64)l->many, inner = (npy_uint64)l->inner;              \
        const npy_intp outer = l->outer, count = l->count, step = l->step;                      \
        for (npy_intp o = 0; o < outer; o++, t += many * inner)                                 \
            if (inner == 1) {                                                                   \
                for (npy_intp k = 0; k < count; k++, h += step) {                               \
                    npy_uint64 place = (npy_uint64)at[k];                                       \
                    if (place >= many)                                                          \
                        return 0;                                                               \
                    DO(t[place], *h);                                                           \
                }                                                                               \
                at += count;                                                                    \
            }                                                                                   \
            else                                                                                \
                for (npy_intp k = 0; k < count; k++, at += inner)                               \
                    for (npy_uint64 i = 0; i < inner; i++, h += step) {                         \
                        npy_uint64 place = (npy_uint64)at[i];                                   \
                        if (place >= many)                                                      \
                            return 0;                                                           \
                        DO(t[place * inner + i], *h);                                           \
                    }                                                                           \
        return 1;                                                                               \
    }

static int pick_4(const Lines *l, char *there, char *here, const npy_int64 *at) ALONG(npy_uint32, PICK)
static int pick_8(const Lines *l, char *there, char *here, const npy_int64 *at) ALONG(npy_uint64, PICK)
static int put_4(const Lines *l, char *there, char *here, const npy_int64 *at) ALONG(npy_uint32, PUT)
static int put_8(const Lines *l, char *there, char *here, const npy_int64 *at) ALONG(npy_uint64, PUT)
static int add_4(const Lines *l, char *there, char *here, const npy_int64 *at) ALONG(float, ADD)
static int add_8(const Lines *l, char *there, char *here, const npy_int64 *at) ALONG(double, ADD)
static int add_whole(const Lines *l, char *there, char *here, const npy_int64 *at) ALONG(npy_uint64, ADD)

typedef int (*Along)(const Lines *l, char *there, char *here, const npy_int64 *at);

/* Reads indices of an array in order that have its sizes but along a dimension; whether they do. */
static int read_lines(PyArrayObject *x, PyObject *given, int dim, Lines *l)
{
    PyArrayObject *index = (PyArrayObject *)given;
    if (!is_index(given) || PyArray_NDIM(index) != PyArray_NDIM(x) || PyArray_SIZE(index) >= MORE ||
        !is_dense(x) || !is_dense(index) || PyArray_ISBYTESWAPPED(x) || !PyArray_ISALIGNED(x))
        return 0;
    *l = (Lines){1, PyArray_DIM(index, dim), 1, PyArray_DIM(x, dim), 1, NULL};
    for (int k = 0; k < PyArray_NDIM(x); k++) {
        if (k != dim && PyArray_DIM(index, k) != PyArray_DIM(x, k))
            return 0;
        *(k < dim ? &l->outer : &l->inner) *= k == dim ? 1 : PyArray_DIM(x, k);
    }
    l->at = (const npy_int64 *)PyArray_BYTES(index);
    return 1;
}

static int run_along(Along way, const Lines *l, char *there, char *here)
{
    PyThreadState *others = l->outer * l->count * l->inner >= LONG ? PyEval_SaveThread() : NULL;
    int fine = way(l, there, here, l->at);
    if (others != NULL)
        PyEval_RestoreThread(others);
    return fine;
}

/* What adds up elements of an array, if any. */
static Along adds(PyArrayObject *x)
{
    PyArray_Descr *descr = PyArray_DESCR(x);
    return descr == floats[0] ? add_4 : descr == floats[1] ? add_8 : descr == integers ? add_whole : NULL;
}

static int overlap(PyArrayObject *x, PyArrayObject *other)
{
    const char *a = PyArray_BYTES(x), *b = PyArray_BYTES(other);
    return a < b + PyArray_NBYTES(other) && b < a + PyArray_NBYTES(x);
}

/* A number of usual size as an element of floats or, if it is whole, of 64-bit integers. */
static int read_element(PyObject *x, PyArray_Descr *descr, char *to)
{
    int overflow = 0;
    double value = PyFloat_CheckExact(x)  ? PyFloat_AS_DOUBLE(x)
                   : PyLong_CheckExact(x) ? (double)PyLong_AsLongAndOverflow(x, &overflow)
                                          : 1e300;
    if (overflow || !(value > -1e15 && value < 1e15))
        return 0;
    if (descr == floats[0])
        *(float *)to = (float)value;
    else if (descr == floats[1])
        *(double *)to = value;
    else if (descr == integers && PyLong_CheckExact(x))
        *(npy_int64 *)to = (npy_int64)value;
    else
        return 0;
    return 1;
}

/* An array with elements written, or added, where indices name places along a dimension: for it, the
   dimension, the indices and the elements, an array or a number. A copy of it, or itself: then nothing
   is written where an index is outside. */
static PyObject *change_along(PyObject *const *args, int add, int itself)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *source = (PyArrayObject *)args[3], *index;
    int rank = holds_numbers(args[0]) ? PyArray_NDIM(x) : 0;
    int dim = rank < 1 || rank > DIMENSIONS ? -1 : read_dim(args[1], rank);
    npy_intp item = dim < 0 ? 0 : PyArray_ITEMSIZE(x);
    Along way = dim < 0 ? NULL : add ? adds(x) : item == 4 ? put_4 : item == 8 ? put_8 : NULL;
    npy_uint64 number = 0;
    Lines lines;
    if (way == NULL || PyTypeNum_ISCOMPLEX(PyArray_TYPE(x)) || !read_lines(x, args[2], dim, &lines))
        return NULL;
    index = (PyArrayObject *)args[2];
    char *here = (char *)&number;
    if (Py_TYPE(args[3]) == &PyArray_Type) {
        if (PyArray_DESCR(source) != PyArray_DESCR(x) || PyArray_NDIM(source) != rank ||
            !PyArray_ISALIGNED(source) || !is_dense(source) ||
            !PyArray_CompareLists(PyArray_DIMS(source), PyArray_DIMS(index), rank))
            return NULL;
        here = PyArray_BYTES(source);
    }
    else {
        if (add || !read_element(args[3], PyArray_DESCR(x), here))
            return NULL;
        lines.step = 0;
    }
    PyArrayObject *out = x;
    if (itself) {
        if (!PyArray_ISWRITEABLE(x) || overlap(x, index) ||
            (lines.step != 0 && overlap(x, source)) ||
            !are_below(lines.at, PyArray_SIZE(index), lines.many))
            return NULL;
        Py_INCREF(x);
    }
    else {
        out = new_array(PyArray_DESCR(x), rank, PyArray_DIMS(x));
        if (out == NULL)
            return NULL;
        memcpy(PyArray_BYTES(out), PyArray_BYTES(x), PyArray_NBYTES(x));
    }
    if (!run_along(way, &lines, PyArray_BYTES(out), here))
        Py_CLEAR(out);
    return (PyObject *)out;
}

/* add_along(array, dimension, indices, elements): the copy with these added; None for odd ones. */
static PyObject *add_along(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    PyObject *found = given == 4 ? change_along(args, 1, 0) : NULL;
    return found != NULL || PyErr_Occurred() ? found : Py_NewRef(Py_None);
}

/* Indices are looked at again: others may run meanwhile, and write to them. */
#define ADD_ROWS(TYPE)                                                                          \
    for (npy_intp o = 0; o < outer; o++, to += many * inner * sizeof(TYPE))                     \
        for (npy_intp k = 0; k < count; k++, from += inner * sizeof(TYPE)) {                    \
            npy_uint64 place = (npy_uint64)at[k];                                               \
            if (place >= (npy_uint64)many)                                                      \
                continue;                                                                       \
            TYPE *there = (TYPE *)to + place * (npy_uint64)inner;                               \
            if (inner == 1)                                                                     \
                *there += *(const TYPE *)from;                                                  \
            else                                                                                \
                for (npy_intp i = 0; i < inner; i++)                                            \
                    there[i] += ((const TYPE *)from)[i];                                        \
        }

/* Adds parts at places along a dimension, one after the other, in order. */
static void add_rows(PyArrayObject *x, const npy_int64 *at, PyArrayObject *source, int dim)
{
    npy_intp outer = 1, inner = 1, many = PyArray_DIM(x, dim), count = PyArray_DIM(source, dim);
    for (int k = 0; k < PyArray_NDIM(x); k++)
        *(k < dim ? &outer : &inner) *= k == dim ? 1 : PyArray_DIM(x, k);
    const char *from = PyArray_BYTES(source);
    char *to = PyArray_BYTES(x);
    PyThreadState *others = outer * count * inner >= LONG ? PyEval_SaveThread() : NULL;
    if (PyArray_DESCR(x) == floats[0])
        ADD_ROWS(float)
    else if (PyArray_DESCR(x) == floats[1])
        ADD_ROWS(double)
    else
        ADD_ROWS(npy_uint64)
    if (others != NULL)
        PyEval_RestoreThread(others);
}

/* Writes parts at places along a dimension, of which the last stays. */
static void put_rows(PyArrayObject *x, const npy_int64 *at, PyArrayObject *source, int dim)
{
    npy_intp outer = 1, row = PyArray_ITEMSIZE(x), many = PyArray_DIM(x, dim);
    npy_intp count = PyArray_DIM(source, dim);
    for (int k = 0; k < PyArray_NDIM(x); k++)
        *(k < dim ? &outer : &row) *= k == dim ? 1 : PyArray_DIM(x, k);
    const char *from = PyArray_BYTES(source);
    char *to = PyArray_BYTES(x);
    PyThreadState *others = PyArray_SIZE(source) >= LONG ? PyEval_SaveThread() : NULL;
    for (npy_intp o = 0; o < outer; o++, to += many * row)
        for (npy_intp k = 0; k < count; k++, from += row) {
            npy_uint64 place = (npy_uint64)at[k]; /* looked at again, as in `ADD_ROWS` */
            if (place >= (npy_uint64)many)
                continue;
            if (row == 4)
                memcpy(to + place * 4, from, 4);
            else if (row == 8)
                memcpy(to + place * 8, from, 8);
            else
                memcpy(to + place * (npy_uint64)row, from, row);
        }
    if (others != NULL)
        PyEval_RestoreThread(others);
}

/* Writes one element throughout the parts at places along a dimension. */
static void fill_rows(PyArrayObject *x, const npy_int64 *at, npy_intp count, int dim,
                      const char *element)
{
    npy_intp outer = 1, inner = 1, item = PyArray_ITEMSIZE(x), many = PyArray_DIM(x, dim);
    for (int k = 0; k < PyArray_NDIM(x); k++)
        *(k < dim ? &outer : &inner) *= k == dim ? 1 : PyArray_DIM(x, k);
    char *to = PyArray_BYTES(x);
    for (npy_intp o = 0; o < outer; o++, to += many * inner * item)
        for (npy_intp k = 0; k < count; k++)
            for (npy_intp i = 0; i < inner; i++)
                if (item == 4)
                    ((npy_uint32 *)to)[at[k] * inner + i] = *(const npy_uint32 *)element;
                else
                    ((npy_uint64 *)to)[at[k] * inner + i] = *(const npy_uint64 *)element;
}

/* Whether parts were added, or written, at places of an array, in place, for it, a dimension, indices and
   the parts, all of them in order. */
static PyObject *change_at(PyObject *const *args, Py_ssize_t given, int add)
{
    PyArrayObject *x = given == 4 ? (PyArrayObject *)args[0] : NULL;
    int rank = x == NULL || !holds_numbers(args[0]) ? 0 : PyArray_NDIM(x);
    int dim = rank < 1 || rank > DIMENSIONS ? -1 : read_dim(args[1], rank);
    PyArrayObject *source = dim < 0 ? NULL : (PyArrayObject *)args[3];
    const npy_int64 *at = dim < 0 ? NULL : read_indices(args[2]);
    npy_uint64 element;
    if (at != NULL && !add && is_dense(x) && PyArray_ISALIGNED(x) && PyArray_ISWRITEABLE(x) &&
        PyArray_SIZE(x) < MORE && read_element(args[3], PyArray_DESCR(x), (char *)&element)) {
        PyArrayObject *index = (PyArrayObject *)args[2];
        if (PyArray_NDIM(index) > 1 || overlap(x, index) ||
            !are_below(at, PyArray_SIZE(index), PyArray_DIM(x, dim)))
            Py_RETURN_FALSE;
        fill_rows(x, at, PyArray_SIZE(index), dim, (const char *)&element);
        Py_RETURN_TRUE;
    }
    if (at == NULL || Py_TYPE(args[3]) != &PyArray_Type || (add && adds(x) == NULL) || !is_dense(x) ||
        !PyArray_ISALIGNED(x) || !PyArray_ISWRITEABLE(x) || PyArray_DESCR(source) != PyArray_DESCR(x) ||
        PyArray_NDIM(source) != rank || !PyArray_ISALIGNED(source) || !is_dense(source) ||
        PyArray_SIZE(source) >= MORE)
        Py_RETURN_FALSE;
    PyArrayObject *index = (PyArrayObject *)args[2];
    npy_intp count = PyArray_SIZE(index);
    for (int k = 0; k < rank; k++)
        if (PyArray_DIM(source, k) != (k == dim ? count : PyArray_DIM(x, k)))
            Py_RETURN_FALSE;
    if (PyArray_NDIM(index) > 1 || !are_below(at, count, PyArray_DIM(x, dim)) ||
        overlap(x, source) || overlap(x, index))
        Py_RETURN_FALSE;
    (add ? add_rows : put_rows)(x, at, source, dim);
    Py_RETURN_TRUE;
}

/* add_at(out, dimension, indices, parts): adds parts at places, one after the other, in place. */
static PyObject *add_at(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    return change_at(args, given, 1);
}

/* put_at(out, dimension, indices, parts): the same, written; for a number, it is written throughout. */
static PyObject *put_at(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    return change_at(args, given, 0);
}

/* ---- few of any ----------------------------------------------------------------------------- */

/* The places of a few indices in two arrays, one after the other in the order of the indices. */
typedef struct {
    int rank, dim;
    const npy_intp *sizes;
    npy_intp place[DIMENSIONS];
    const npy_intp *steps[3]; /* of the indices and of both arrays, the first without `dim` */
    const char *at[3];
} Walk;

static void advance(Walk *walk)
{
    for (int d = walk->rank; d-- > 0;) {
        int further = ++walk->place[d] < walk->sizes[d];
        npy_intp by = further ? 1 : 1 - walk->place[d];
        for (int k = 0; k < 3; k++)
            if (k != 1 || d != walk->dim)
                walk->at[k] += by * walk->steps[k][d];
        if (further)
            return;
        walk->place[d] = 0;
    }
}

/* Whether elements of another array of its type were written, in place, where few indices of fewer
   elements than both have name them. */
static int put_few(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *source = (PyArrayObject *)args[3];
    PyArrayObject *index = (PyArrayObject *)args[2];
    int rank = holds_numbers(args[0]) ? PyArray_NDIM(x) : 0;
    int dim = rank < 1 || rank > DIMENSIONS ? -1 : read_dim(args[1], rank);
    if (dim < 0 || !holds_indices(args[2]) || Py_TYPE(args[3]) != &PyArray_Type || !is_dense(x) ||
        !PyArray_ISALIGNED(x) || !PyArray_ISWRITEABLE(x) || PyArray_DESCR(source) != PyArray_DESCR(x) ||
        PyArray_NDIM(index) != rank || PyArray_NDIM(source) != rank || !is_dense(source) ||
        !is_dense(index) || overlap(x, source) || overlap(x, index) ||
        !are_below((const npy_int64 *)PyArray_BYTES(index), PyArray_SIZE(index), PyArray_DIM(x, dim)))
        return 0;
    for (int k = 0; k < rank; k++)
        if ((k != dim && PyArray_DIM(index, k) > PyArray_DIM(x, k)) ||
            PyArray_DIM(index, k) > PyArray_DIM(source, k))
            return 0;
    npy_intp along = PyArray_STRIDE(x, dim), item = PyArray_ITEMSIZE(x);
    Walk walk = {rank, dim, PyArray_DIMS(index), {0},
                 {PyArray_STRIDES(index), PyArray_STRIDES(x), PyArray_STRIDES(source)},
                 {PyArray_BYTES(index), PyArray_BYTES(x), PyArray_BYTES(source)}};
    for (npy_intp k = 0; k < PyArray_SIZE(index); k++, advance(&walk))
        memcpy((char *)walk.at[1] + *(const npy_int64 *)walk.at[0] * along, walk.at[2], item);
    return 1;
}

/* put_along(out, dimension, indices, elements): whether these were written, in place. */
static PyObject *put_along(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    PyObject *found = given == 4 ? change_along(args, 0, 1) : NULL;
    if (found == NULL && PyErr_Occurred())
        return NULL;
    Py_XDECREF(found);
    return PyBool_FromLong(found != NULL || (given == 4 && put_few(args)));
}

/* The array with the elements of another added where indices name along a dimension, one after
   the other, for an array, a dimension, indices and that other. */
static PyObject *add_elements(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *source = (PyArrayObject *)args[3];
    PyArrayObject *index = (PyArrayObject *)args[2];
    PyObject *found = change_along(args, 1, 0);
    int type = type_of(args[0]), rank;
    if (found != NULL || PyErr_Occurred())
        return found;
    if (type < 0 || type_of(args[3]) != type || !holds_indices(args[2]) || !is_dense(x) ||
        PyArray_SIZE(x) < 1 || PyArray_SIZE(x) >= MORE || PyArray_SIZE(index) == MOST)
        return NULL;
    rank = PyArray_NDIM(x);
    if (rank < 1 || rank > DIMENSIONS || PyArray_NDIM(index) != rank ||
        PyArray_NDIM(source) != rank)
        return NULL;
    int dim = read_dim(args[1], rank);
    if (dim < 0)
        return NULL;
    npy_intp size = PyArray_SIZE(index), many = PyArray_DIM(x, dim), along;
    for (int k = 0; k < rank; k++)
        if ((k != dim && PyArray_DIM(index, k) > PyArray_DIM(x, k)) ||
            PyArray_DIM(index, k) > PyArray_DIM(source, k))
            return NULL;
    int whole = PyArray_SIZE(x) > MOST; /* lines that the plain function may add in runs */
    for (int k = 0; k < rank; k++)
        whole = whole && (k == dim || PyArray_DIM(index, k) == PyArray_DIM(x, k));
    if (whole)
        return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, PyArray_DIMS(x));
    if (out == NULL)
        return NULL;
    memcpy(PyArray_BYTES(out), PyArray_BYTES(x), PyArray_NBYTES(x));
    along = PyArray_STRIDE(out, dim);
    Walk walk = {rank, dim, PyArray_DIMS(index), {0},
                 {PyArray_STRIDES(index), PyArray_STRIDES(out), PyArray_STRIDES(source)},
                 {PyArray_BYTES(index), PyArray_BYTES(out), PyArray_BYTES(source)}};
    for (npy_intp k = 0; k < size; k++, advance(&walk)) {
        npy_int64 at = *(const npy_int64 *)walk.at[0];
        if (at < 0 || at >= many) {
            Py_DECREF(out);
            return NULL;
        }
        char *to = (char *)walk.at[1] + at * along;
        if (type == 0)
            *(float *)to += *(const float *)walk.at[2];
        else
            *(double *)to += *(const double *)walk.at[2];
    }
    return (PyObject *)out;
}

/* The array with the parts of another added at the places that a vector of indices names, for an
   array, a dimension, indices, that other and the number 1; in the order of `ufunc.at`, where the
   plain function has that. */
static PyObject *add_parts(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *source = (PyArrayObject *)args[3];
    const npy_int64 *at = read_indices(args[2]);
    int overflow;
    if (at == NULL || !holds_numbers(args[0]) || Py_TYPE(args[3]) != &PyArray_Type ||
        PyArray_NDIM((PyArrayObject *)args[2]) != 1 || !PyLong_CheckExact(args[4]) ||
        PyLong_AsLongAndOverflow(args[4], &overflow) != 1)
        return NULL;
    int rank = PyArray_NDIM(x);
    if (rank < 1 || rank > DIMENSIONS || PyArray_NDIM(source) != rank || adds(x) == NULL ||
        PyArray_DESCR(source) != PyArray_DESCR(x) || !is_dense(x) || !is_dense(source) ||
        !PyArray_ISALIGNED(x) || !PyArray_ISALIGNED(source) || PyArray_SIZE(x) < 1 ||
        PyArray_SIZE(x) >= MORE || PyArray_SIZE(source) >= MORE)
        return NULL;
    int dim = read_dim(args[1], rank);
    npy_intp size = PyArray_SIZE((PyArrayObject *)args[2]), many = dim < 0 ? 0 : PyArray_DIM(x, dim);
    if (dim < 0 || PyArray_DIM(source, dim) != size || !are_below(at, size, many))
        return NULL;
    for (int k = 0; k < rank; k++)
        if (k != dim && PyArray_DIM(x, k) != PyArray_DIM(source, k))
            return NULL;
    npy_intp width = PyArray_SIZE(x) / many, parts = PyArray_SIZE(source);
    if (PyArray_DESCR(x) != integers &&
        (parts <= MOST ? width > 16 || (width > 1 && many > 8 * size) : dim == 0 && parts >= KERNEL))
        return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, PyArray_DIMS(x));
    if (out == NULL)
        return NULL;
    memcpy(PyArray_BYTES(out), PyArray_BYTES(x), PyArray_NBYTES(x));
    add_rows(out, at, source, dim);
    return (PyObject *)out;
}

/* A one at each index along a new last dimension of zeros, for indices and how many there are; -1:
   as many as needed. */
static PyObject *mark_places(PyObject *const *args)
{
    const npy_int64 *at = read_indices(args[0]);
    int overflow, rank = at == NULL ? 0 : PyArray_NDIM((PyArrayObject *)args[0]);
    if (at == NULL || rank >= DIMENSIONS || !PyLong_CheckExact(args[1]))
        return NULL;
    long classes = PyLong_AsLongAndOverflow(args[1], &overflow);
    npy_intp size = PyArray_SIZE((PyArrayObject *)args[0]), sizes[DIMENSIONS];
    if (overflow || classes < -1 || classes == 0 || classes > BYTES)
        return NULL;
    if (classes < 0)
        for (npy_intp k = 0; k < size; k++)
            classes = at[k] >= classes && at[k] < BYTES ? at[k] + 1 : classes;
    if (classes < 1 || classes * size * 8 > BYTES || !are_below(at, size, classes))
        return NULL;
    copy_sizes(sizes, PyArray_DIMS((PyArrayObject *)args[0]), rank);
    sizes[rank] = classes;
    PyArrayObject *out = new_array(integers, rank + 1, sizes);
    if (out == NULL)
        return NULL;
    npy_int64 *to = (npy_int64 *)PyArray_BYTES(out);
    memset(to, 0, classes * size * 8);
    for (npy_intp k = 0; k < size; k++, to += classes)
        to[at[k]] = 1;
    return (PyObject *)out;
}

/* Rows of a matrix, for it and indices; what follows isn't read. */
static PyObject *take_rows(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *index = (PyArrayObject *)args[1];
    const npy_int64 *at = holds_numbers(args[0]) ? read_indices(args[1]) : NULL;
    if (at == NULL || PyArray_NDIM(x) != 2 || !is_dense(x) || PyArray_NDIM(index) >= DIMENSIONS)
        return NULL;
    npy_intp size = PyArray_SIZE(index), row = PyArray_STRIDE(x, 0), sizes[DIMENSIONS];
    int rank = PyArray_NDIM(index);
    if (row < 1 || row > BYTES / size || !are_below(at, size, PyArray_DIM(x, 0)))
        return NULL;
    copy_sizes(sizes, PyArray_DIMS(index), rank);
    sizes[rank] = PyArray_DIM(x, 1);
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank + 1, sizes);
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES(out);
    for (npy_intp k = 0; k < size; k++, to += row)
        memcpy(to, PyArray_BYTES(x) + at[k] * row, row);
    return (PyObject *)out;
}

/* Minus the element of each row that its index names, reduced as the plain function does it: for a
   matrix, indices, None, 0 for none, 1 for the mean or 2 for the sum, and an index that isn't there. */
static PyObject *lose(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *out;
    const npy_int64 *at = read_indices(args[1]);
    int type = type_of(args[0]), overflow;
    if (at == NULL || type < 0 || PyArray_NDIM(x) != 2 || !is_dense(x) || args[2] != Py_None ||
        !PyLong_CheckExact(args[3]) || !PyLong_CheckExact(args[4]) ||
        PyArray_NDIM((PyArrayObject *)args[1]) != 1 || PyArray_DIM(x, 0) > MOST)
        return NULL;
    npy_intp rows = PyArray_DIM(x, 0), classes = PyArray_DIM(x, 1), item = PyArray_ITEMSIZE(x);
    long how = PyLong_AsLongAndOverflow(args[3], &overflow);
    if (overflow || how < 0 || how > 2 || PyArray_SIZE((PyArrayObject *)args[1]) != rows)
        return NULL;
    long long ignored = PyLong_AsLongLongAndOverflow(args[4], &overflow);
    if (overflow || (ignored >= 0 && ignored < classes) || !are_below(at, rows, classes))
        return NULL;
    double picked[MOST], ones[MOST];
    out = new_array(floats[type], how == 0, &rows);
    if (out == NULL)
        return NULL;
    char *to = how == 0 ? PyArray_BYTES(out) : (char *)picked;
    for (npy_intp k = 0; k < rows; k++)
        if (type == 0) {
            float value = ((const float *)PyArray_BYTES(x))[k * classes + at[k]];
            ((float *)to)[k] = how == 0 ? -value : value;
            ((float *)ones)[k] = 1;
        }
        else {
            double value = ((const double *)PyArray_BYTES(x))[k * classes + at[k]];
            ((double *)to)[k] = how == 0 ? -value : value;
            ones[k] = 1;
        }
    if (how == 0)
        return (PyObject *)out;
    to = PyArray_BYTES(out);
    PyDataType_GetArrFuncs(floats[type])->dotfunc(picked, item, ones, item, to, rows, NULL);
    if (type == 0)
        *(float *)to = how == 1 ? -*(float *)to / (float)rows : -*(float *)to;
    else
        *(double *)to = how == 1 ? -*(double *)to / (double)rows : -*(double *)to;
    return (PyObject *)out;
}

/* For an array, a dimension and as many indices as the result has elements. */
static PyObject *gather(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *index = (PyArrayObject *)args[2];
    int rank = holds_numbers(args[0]) && is_index(args[2]) ? PyArray_NDIM(x) : 0;
    if (rank < 1 || rank > DIMENSIONS || PyArray_NDIM(index) != rank)
        return NULL;
    int dim = read_dim(args[1], rank);
    if (dim < 0)
        return NULL;
    Lines lines;
    if ((PyArray_ITEMSIZE(x) == 4 || PyArray_ITEMSIZE(x) == 8) && read_lines(x, args[2], dim, &lines)) {
        PyArrayObject *found = new_array(PyArray_DESCR(x), rank, PyArray_DIMS(index));
        Along way = PyArray_ITEMSIZE(x) == 4 ? pick_4 : pick_8;
        if (found != NULL && !run_along(way, &lines, PyArray_BYTES(x), PyArray_BYTES(found)))
            Py_CLEAR(found);
        return (PyObject *)found;
    }
    if (!holds_indices(args[2]))
        return NULL;
    npy_intp size = PyArray_SIZE(index), many = PyArray_DIM(x, dim);
    for (int k = 0; k < rank; k++)
        if (k != dim && PyArray_DIM(index, k) > PyArray_DIM(x, k))
            return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, PyArray_DIMS(index));
    if (out == NULL)
        return NULL;
    npy_intp item = PyArray_ITEMSIZE(x), along = PyArray_STRIDE(x, dim);
    Walk walk = {rank, dim, PyArray_DIMS(index), {0},
                 {PyArray_STRIDES(index), PyArray_STRIDES(x), PyArray_STRIDES(out)},
                 {PyArray_BYTES(index), PyArray_BYTES(x), PyArray_BYTES(out)}};
    for (npy_intp k = 0; k < size; k++, advance(&walk)) {
        npy_int64 at = *(const npy_int64 *)walk.at[0];
        if (at < 0 || at >= many) {
            Py_DECREF(out);
            return NULL;
        }
        memcpy((char *)walk.at[2], walk.at[1] + at * along, item);
    }
    return (PyObject *)out;
}

#define SELECT_PARTS(SIZE)                                                                      \
    for (npy_intp o = 0; o < outer; o++, from += many * (SIZE))                                 \
        for (npy_intp k = 0; k < size; k++, to += (SIZE))                                       \
            memcpy(to, from + at[k] * (SIZE), (SIZE));

/* For an array, a dimension and a vector of indices. */
static PyObject *select_parts(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    const npy_int64 *at = holds_numbers(args[0]) ? read_indices(args[2]) : NULL;
    int rank = at == NULL ? 0 : PyArray_NDIM(x);
    if (rank < 1 || rank > DIMENSIONS || PyArray_NDIM((PyArrayObject *)args[2]) != 1 ||
        !is_dense(x))
        return NULL;
    int dim = read_dim(args[1], rank);
    if (dim < 0)
        return NULL;
    npy_intp size = PyArray_SIZE((PyArrayObject *)args[2]), many = PyArray_DIM(x, dim);
    npy_intp sizes[DIMENSIONS], outer = 1, inner = PyArray_ITEMSIZE(x);
    for (int k = 0; k < rank; k++) {
        sizes[k] = k == dim ? size : PyArray_DIM(x, k);
        if (k < dim)
            outer *= sizes[k];
        else if (k > dim)
            inner *= sizes[k];
    }
    if (outer < 1 || inner < 1 || outer > BYTES || inner > BYTES || outer * inner > BYTES / size)
        return NULL;
    if (!are_below(at, size, many))
        return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, sizes);
    if (out == NULL)
        return NULL;
    const char *from = PyArray_BYTES(x);
    char *to = PyArray_BYTES(out);
    if (inner == 4)
        SELECT_PARTS(4)
    else if (inner == 8)
        SELECT_PARTS(8)
    else
        SELECT_PARTS(inner)
    return (PyObject *)out;
}

/* The places of what isn't zero, a row each, column by column in memory; some there have to be. */
#define MARK(TYPE)                                                                              \
    for (npy_intp k = 0; k < size; k++)                                                         \
        if (((const TYPE *)PyArray_BYTES(x))[k] != 0)                                           \
            found[count++] = k;                                                                 \
    break;

static PyObject *find_nonzero(PyObject *array)
{
    PyArrayObject *x = (PyArrayObject *)array;
    if (Py_TYPE(array) != &PyArray_Type || !PyArray_ISALIGNED(x) || PyArray_ISBYTESWAPPED(x) ||
        PyArray_NDIM(x) < 1 || PyArray_SIZE(x) > MOST_SEARCHED || !is_dense(x))
        return NULL;
    npy_intp size = PyArray_SIZE(x), count = 0, found[MOST_SEARCHED], sizes[2];
    switch (PyArray_TYPE(x)) {
    case NPY_FLOAT: MARK(float)
    case NPY_DOUBLE: MARK(double)
    case NPY_INT64: MARK(npy_int64)
    case NPY_BOOL: MARK(npy_bool)
    default: return NULL;
    }
    if (count == 0)
        return NULL;
    int rank = PyArray_NDIM(x);
    sizes[0] = count;
    sizes[1] = rank;
    Py_INCREF(integers);
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, integers, 2, sizes, NULL, NULL,
                                         NPY_ARRAY_F_CONTIGUOUS, NULL);
    if (out == NULL)
        return NULL;
    npy_int64 *put = (npy_int64 *)PyArray_BYTES((PyArrayObject *)out);
    for (int d = rank; d-- > 0;)
        for (npy_intp k = 0; k < count; k++) {
            put[d * count + k] = found[k] % PyArray_DIM(x, d);
            found[k] /= PyArray_DIM(x, d);
        }
    return out;
}

/* ---- indices for several dimensions --------------------------------------------------------- */

/* What a tuple of indices says: None for dimensions that come first, then arrays of one shape. */
typedef struct {
    int rank; /* of what is found */
    npy_intp sizes[DIMENSIONS];
    npy_intp outer, size, inner, lead; /* elements before, of an index, after; places to choose of */
    npy_intp place[MOST];
} Key;

/* Reads indices of an array of sizes `given`; whether they are usual and all of its places. */
static int read_key(PyObject *indices, int rank, const npy_intp *given, Key *key)
{
    const char *at[DIMENSIONS];
    npy_intp step[DIMENSIONS], many[DIMENSIONS];
    PyArrayObject *first = NULL;
    int before = 0, count = 0;
    if (!PyTuple_CheckExact(indices) || PyTuple_GET_SIZE(indices) > rank || rank > DIMENSIONS)
        return 0;
    for (int d = 0; d < PyTuple_GET_SIZE(indices); d++) {
        PyObject *one = PyTuple_GET_ITEM(indices, d);
        if (one == Py_None) {
            before += first == NULL;
            continue;
        }
        PyArrayObject *index = (PyArrayObject *)one;
        if (d != before + count || !holds_indices(one) || PyArray_NDIM(index) < 1 ||
            (PyArray_NDIM(index) > 1 && !is_dense(index)))
            return 0;
        if (first == NULL)
            first = index;
        else if (PyArray_NDIM(index) != PyArray_NDIM(first) ||
                 memcmp(PyArray_DIMS(index), PyArray_DIMS(first),
                        sizeof(npy_intp) * PyArray_NDIM(first)) != 0)
            return 0;
        at[count] = PyArray_BYTES(index);
        step[count] = PyArray_NDIM(index) == 1 ? PyArray_STRIDE(index, 0) : 8;
        many[count++] = given[d];
    }
    if (first == NULL || rank - count + PyArray_NDIM(first) > DIMENSIONS)
        return 0;
    key->rank = 0;
    key->outer = key->inner = key->lead = 1;
    key->size = PyArray_SIZE(first);
    for (int d = 0; d < rank; d++) {
        if (given[d] < 1 || given[d] > BYTES)
            return 0;
        if (d == before)
            for (int k = 0; k < PyArray_NDIM(first); k++)
                key->sizes[key->rank++] = PyArray_DIM(first, k);
        npy_intp *part = d < before ? &key->outer : d < before + count ? &key->lead : &key->inner;
        *part *= given[d];
        if (*part > 1 << 24)
            return 0;
        if (d < before || d >= before + count)
            key->sizes[key->rank++] = given[d];
    }
    for (npy_intp k = 0; k < key->size; k++) {
        npy_intp place = 0;
        for (int d = 0; d < count; d++) {
            npy_int64 one = *(const npy_int64 *)(at[d] + k * step[d]);
            one += one < 0 ? many[d] : 0;
            if (one < 0 || one >= many[d])
                return 0;
            place = place * many[d] + one;
        }
        key->place[k] = place;
    }
    return 1;
}

#define COPY_PARTS(SIZE)                                                                        \
    for (npy_intp o = 0; o < key.outer; o++, from += key.lead * (SIZE))                         \
        for (npy_intp k = 0; k < key.size; k++, to += (SIZE))                                   \
            memcpy(to, from + key.place[k] * (SIZE), (SIZE));

/* What indices name, for a dense array and a tuple of them. */
static PyObject *find_indexed(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    Key key;
    if (!holds_numbers(args[0]) || !is_dense(x) ||
        !read_key(args[1], PyArray_NDIM(x), PyArray_DIMS(x), &key))
        return NULL;
    npy_intp part = key.inner * PyArray_ITEMSIZE(x);
    if (part > BYTES || key.outer > BYTES || part * key.outer > BYTES / key.size)
        return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(x), key.rank, key.sizes);
    if (out == NULL)
        return NULL;
    const char *from = PyArray_BYTES(x);
    char *to = PyArray_BYTES(out);
    if (part == 4)
        COPY_PARTS(4)
    else if (part == 8)
        COPY_PARTS(8)
    else
        COPY_PARTS(part)
    return (PyObject *)out;
}

/* Whether places are few or come few times each: then rows that are summed round by round, as the
   plain function does with wide ones, are added one after the other, too. */
static int come_seldom(const Key *key)
{
    unsigned char times[MOST] = {0};
    for (npy_intp k = 0; k < key->size && key->size > MOST_ADDED; k++)
        if (++times[key->place[k]] > MOST_ADDED)
            return 0;
    return 1;
}

#define ADD_PARTS(TYPE)                                                                         \
    {                                                                                           \
        const TYPE *from = (const TYPE *)PyArray_BYTES(parts);                                  \
        TYPE *to = (TYPE *)PyArray_BYTES(out);                                                  \
        for (npy_intp o = 0; o < key.outer; o++, to += key.lead * key.inner)                    \
            for (npy_intp k = 0; k < key.size; k++)                                             \
                for (npy_intp i = 0; i < key.inner; i++)                                        \
                    to[key.place[k] * key.inner + i] += *from++;                                \
    }

/* Floats added where indices name places, one after the other, into zeros, for the floats, a shape
   and a tuple of indices; None where any of that is unusual. */
static PyObject *add_indexed(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp sizes[DIMENSIONS], all = 1;
    int type = count == 3 ? type_of(args[0]) : -1;
    int rank = type < 0 || !PyTuple_Check(args[1]) ? 0 : (int)PyTuple_GET_SIZE(args[1]);
    PyArrayObject *g = type < 0 ? NULL : (PyArrayObject *)args[0];
    Key key;
    if (rank < 1 || rank > DIMENSIONS || PyArray_SIZE(g) > MOST)
        Py_RETURN_NONE;
    for (int k = 0; k < rank; k++) {
        PyObject *size = PyTuple_GET_ITEM(args[1], k);
        int overflow = 1;
        sizes[k] = PyLong_CheckExact(size) ? PyLong_AsLongAndOverflow(size, &overflow) : 0;
        if (overflow || sizes[k] < 1 || sizes[k] > MOST / all)
            Py_RETURN_NONE;
        all *= sizes[k];
    }
    if (!read_key(args[2], rank, sizes, &key) || PyArray_NDIM(g) != key.rank ||
        memcmp(PyArray_DIMS(g), key.sizes, sizeof(npy_intp) * key.rank) != 0 || !come_seldom(&key))
        Py_RETURN_NONE;
    PyArrayObject *parts = is_dense(g) ? (PyArrayObject *)Py_NewRef((PyObject *)g)
                                       : (PyArrayObject *)PyArray_NewCopy(g, NPY_CORDER);
    PyArrayObject *out = parts == NULL ? NULL : new_array(PyArray_DESCR(g), rank, sizes);
    if (out != NULL) {
        memset(PyArray_BYTES(out), 0, PyArray_NBYTES(out));
        if (type == 0)
            ADD_PARTS(float)
        else
            ADD_PARTS(double)
    }
    Py_XDECREF(parts);
    return (PyObject *)out;
}

/* The first letter says which: "G" elements, for an array, a dimension, indices and a flag that
   isn't read; "I" parts, for an array, a dimension and indices; "W" rows; "S" and "A" elements and
   parts added, "T" elements written; "H" ones at places; "N" the loss that they are; "X" what a
   tuple of indices names. There is a letter for each argument. */
static PyObject *take_places(const char *letters, PyObject *const *args)
{
    switch (letters[0]) {
    case 'G': return gather(args);
    case 'W': return take_rows(args);
    case 'S': return add_elements(args);
    case 'T': return change_along(args, 0, 0);
    case 'A': return add_parts(args);
    case 'H': return mark_places(args);
    case 'N': return lose(args);
    case 'X': return find_indexed(args);
    case 'Z': return find_nonzero(args[0]);
    }
    return select_parts(args);
}

static PyObject *make_places(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, take_places);
}

static PyTypeObject places_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.places.Places", "What indices name in small arrays.",
    make_places);

static PyMethodDef methods[] = {
    {"add_indexed", (PyCFunction)(void (*)(void))add_indexed, METH_FASTCALL,
     "Floats added at indices into zeros; None for odd ones."},
    {"add_along", (PyCFunction)(void (*)(void))add_along, METH_FASTCALL,
     "A copy with elements added at indices along a dimension; None for odd ones."},
    {"put_along", (PyCFunction)(void (*)(void))put_along, METH_FASTCALL,
     "Writes elements at indices along a dimension, in place; whether it did."},
    {"put_at", (PyCFunction)(void (*)(void))put_at, METH_FASTCALL,
     "Writes parts at places along a dimension, in place; whether it did."},
    {"add_at", (PyCFunction)(void (*)(void))add_at, METH_FASTCALL,
     "Adds parts at places along a dimension, in place; whether it did."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "places", "What indices name in small arrays.", -1, methods
};

PyMODINIT_FUNC PyInit_places(void)
{
    import_array();
    integers = PyArray_DescrFromType(NPY_INT64);
    if (integers == NULL || start_loops() < 0 || PyType_Ready(&places_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Places", (PyObject *)&places_type) < 0)
        return NULL;
    return module;
}
