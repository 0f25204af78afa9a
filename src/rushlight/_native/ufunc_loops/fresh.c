/* Small new arrays made of numbers, and what is asked of small arrays: see `__init__.py`. */
#include "arrays.h"
#include <float.h>
#include <math.h>

#define DIMENSIONS 8
#define MOST (1 << 16) /* elements of what is made */
#define MOST_READ 8192  /* elements that are looked at one by one */
#define EXACT 9007199254740992LL /* up to here each whole number is a double */

static PyArray_Descr *integers, *truths;

/* A number that is exactly a float or an int of 53 bits. */
static int read_number(PyObject *x, double *value)
{
    if (PyFloat_CheckExact(x)) {
        *value = PyFloat_AS_DOUBLE(x);
        return 1;
    }
    int overflow;
    long long found = PyLong_CheckExact(x) ? PyLong_AsLongLongAndOverflow(x, &overflow) : 0;
    *value = (double)found;
    return PyLong_CheckExact(x) && !overflow && found <= EXACT && found >= -EXACT;
}

static int read_count(PyObject *x, npy_intp *value)
{
    int overflow;
    if (!PyLong_CheckExact(x))
        return 0;
    *value = PyLong_AsLongAndOverflow(x, &overflow);
    return !overflow && *value >= 1 && *value <= MOST;
}

/* A shape as a tuple of sizes, none of them 0, or that of a dense array of float32 without sizes
   of one; and how many elements it has. The rank, or -1. */
static int read_shape(PyObject *x, npy_intp *sizes, npy_intp *size)
{
    *size = 1;
    if (Py_TYPE(x) == &PyArray_Type) {
        PyArrayObject *like = (PyArrayObject *)x;
        if (type_of(x) != 0 || !is_dense(like) || PyArray_NDIM(like) > DIMENSIONS ||
            PyArray_NDIM(like) == 0 || PyArray_SIZE(like) > MOST)
            return -1;
        for (int k = 0; k < PyArray_NDIM(like); k++) {
            sizes[k] = PyArray_DIM(like, k);
            if (sizes[k] < 2)
                return -1;
            *size *= sizes[k];
        }
        return PyArray_NDIM(like);
    }
    if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) > DIMENSIONS)
        return -1;
    int rank = (int)PyTuple_GET_SIZE(x);
    for (int k = 0; k < rank; k++) {
        if (!read_count(PyTuple_GET_ITEM(x, k), &sizes[k]) || *size > MOST / sizes[k])
            return -1;
        *size *= sizes[k];
    }
    return rank;
}

/* Numbers of float32 from one to another, from both ends towards the middle: as `create.linspace`
   has them, for (start, end, steps). */
static PyObject *spaced(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    double start, end;
    npy_intp steps;
    if (count != 3 || !read_number(args[0], &start) || !read_number(args[1], &end) ||
        !read_count(args[2], &steps) || steps < 2 || !(fabs(start) < 1e37) || !(fabs(end) < 1e37))
        Py_RETURN_NONE;
    PyArrayObject *out = new_array(floats[0], 1, &steps);
    if (out == NULL)
        return NULL;
    float first = (float)start, last = (float)end, gap = (last - first) / (float)(steps - 1);
    float *to = (float *)PyArray_BYTES(out);
    for (npy_intp k = 0; k < steps; k++) {
        double moved = (double)(k < steps / 2 ? k : steps - 1 - k) * (double)gap;
        to[k] = (float)(k < steps / 2 ? (double)first + moved : (double)last - moved);
    }
    return (PyObject *)out;
}

/* An array filled with a float, an int of 64 bits or a bool, of the type that stands for its kind,
   for (shape, number). */
static PyObject *filled(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp sizes[DIMENSIONS], size;
    int overflow = 0, rank = count == 2 ? read_shape(args[0], sizes, &size) : -1;
    if (rank < 0)
        Py_RETURN_NONE;
    PyArray_Descr *descr = PyFloat_CheckExact(args[1])  ? floats[0]
                           : PyLong_CheckExact(args[1]) ? integers
                           : PyBool_Check(args[1])      ? truths
                                                        : NULL;
    double real = PyFloat_CheckExact(args[1]) ? PyFloat_AS_DOUBLE(args[1]) : 0;
    npy_int64 whole = descr == integers ? PyLong_AsLongLongAndOverflow(args[1], &overflow) : 0;
    if (descr == NULL || overflow || (fabs(real) > FLT_MAX && !isinf(real)))
        Py_RETURN_NONE;
    PyArrayObject *out = new_array(descr, rank, sizes);
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES(out);
    if (descr == truths)
        memset(to, args[1] == Py_True, size);
    else if (descr == integers)
        for (npy_intp k = 0; k < size; k++)
            ((npy_int64 *)to)[k] = whole;
    else
        for (npy_intp k = 0; k < size; k++)
            ((float *)to)[k] = (float)real;
    return (PyObject *)out;
}

/* Ones on the diagonal of a square matrix of float32. */
static PyObject *eye(PyObject *module, PyObject *size)
{
    npy_intp sizes[2];
    if (!read_count(size, &sizes[0]) || sizes[0] * sizes[0] > MOST)
        Py_RETURN_NONE;
    sizes[1] = sizes[0];
    PyArrayObject *out = new_array(floats[0], 2, sizes);
    if (out == NULL)
        return NULL;
    float *to = (float *)PyArray_BYTES(out);
    memset(to, 0, sizes[0] * sizes[0] * sizeof(float));
    for (npy_intp k = 0; k < sizes[0]; k++)
        to[k * (sizes[0] + 1)] = 1;
    return (PyObject *)out;
}

/* Whether two dense arrays of one type of floats, int64 or bool have the same elements; None where
   they are others. */
static PyObject *are_equal(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || Py_TYPE(args[0]) != &PyArray_Type || Py_TYPE(args[1]) != &PyArray_Type)
        Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)args[0], *b = (PyArrayObject *)args[1];
    PyArray_Descr *descr = PyArray_DESCR(a);
    npy_intp size = PyArray_SIZE(a);
    npy_intp read = size > MOST_READ ? MOST_READ : size; /* where these are equal, NumPy goes on */
    if (descr != PyArray_DESCR(b) || !is_dense(a) || !is_dense(b) ||
        !PyArray_ISALIGNED(a) || !PyArray_ISALIGNED(b) || PyArray_NDIM(a) != PyArray_NDIM(b) ||
        (descr != floats[0] && descr != floats[1] && descr != integers && descr != truths))
        Py_RETURN_NONE;
    for (int k = 0; k < PyArray_NDIM(a); k++)
        if (PyArray_DIM(a, k) != PyArray_DIM(b, k))
            Py_RETURN_FALSE;
    const char *x = PyArray_BYTES(a), *y = PyArray_BYTES(b);
    int same = 1;
    for (npy_intp k = 0; same && k < read; k++)
        same = descr == floats[0]   ? ((const float *)x)[k] == ((const float *)y)[k]
               : descr == floats[1] ? ((const double *)x)[k] == ((const double *)y)[k]
               : descr == integers  ? ((const npy_int64 *)x)[k] == ((const npy_int64 *)y)[k]
                                    : !x[k] == !y[k];
    if (same && read < size)
        Py_RETURN_NONE;
    return PyBool_FromLong(same);
}

/* Whether all elements of a dense array of floats, or of whole numbers of 64 bits, are between two
   numbers; None where it isn't. */
static PyObject *are_between(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    double low, high;
    int type = count == 3 ? type_of(args[0]) : -1, fine = 1;
    PyArrayObject *x = count == 3 ? (PyArrayObject *)args[0] : NULL;
    if (type < 0 && count == 3 && Py_TYPE(args[0]) == &PyArray_Type && PyArray_ISALIGNED(x) &&
        PyArray_DESCR(x) == integers)
        type = 2;
    if (type < 0 || !is_dense(x) || PyArray_SIZE(x) > MOST_READ || !read_number(args[1], &low) ||
        !read_number(args[2], &high))
        Py_RETURN_NONE;
    for (npy_intp k = 0; fine && k < PyArray_SIZE(x); k++) {
        double value = type == 0   ? ((const float *)PyArray_BYTES(x))[k]
                       : type == 1 ? ((const double *)PyArray_BYTES(x))[k]
                                   : (double)((const npy_int64 *)PyArray_BYTES(x))[k];
        fine = value >= low && value <= high;
    }
    return PyBool_FromLong(fine);
}

/* Whether a dense array without sizes of one lies as all of its operands do, as far as they tell:
   each of their strides is shorter than the one before. False where that isn't sure. */
static PyObject *is_in_order(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || Py_TYPE(args[0]) != &PyArray_Type || !PyTuple_CheckExact(args[1]))
        Py_RETURN_FALSE;
    PyArrayObject *out = (PyArrayObject *)args[0];
    int rank = PyArray_NDIM(out);
    if (!is_dense(out))
        Py_RETURN_FALSE;
    for (int k = 0; k < rank; k++)
        if (PyArray_DIM(out, k) < 2)
            Py_RETURN_FALSE;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); i++) {
        PyArrayObject *x = (PyArrayObject *)PyTuple_GET_ITEM(args[1], i);
        if (!PyArray_Check(x))
            continue;
        npy_intp last = NPY_MAX_INTP;
        if (PyArray_NDIM(x) > rank)
            Py_RETURN_FALSE;
        for (int k = 0; k < PyArray_NDIM(x); k++) {
            npy_intp step = PyArray_DIM(x, k) == 1 ? 0 : PyArray_STRIDE(x, k);
            if (step < 0 || step >= last)
                Py_RETURN_FALSE;
            last = step > 0 ? step : last;
        }
    }
    Py_RETURN_TRUE;
}

/* ---- what is drawn ------------------------------------------------------------------------- */

/* How many of a block's words follow a place: a dense array of four bytes each; -1 for others. */
static npy_intp read_block(PyObject *block, PyObject *start, npy_intp *from)
{
    PyArrayObject *words = (PyArrayObject *)block;
    int overflow;
    if (Py_TYPE(block) != &PyArray_Type || PyArray_ITEMSIZE(words) != 4 ||
        PyArray_NDIM(words) != 1 || !is_dense(words) || !PyArray_ISALIGNED(words) ||
        !PyLong_CheckExact(start))
        return -1;
    *from = PyLong_AsLongAndOverflow(start, &overflow);
    return overflow || *from < 0 ? -1 : PyArray_SIZE(words) - *from;
}

/* Uniforms of 24 bits of a block's words from a place on in a shape, for (block, start, shape). */
static PyObject *uniforms(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp sizes[DIMENSIONS], size, from;
    int rank = count == 3 ? read_shape(args[2], sizes, &size) : -1;
    if (rank < 0 || read_block(args[0], args[1], &from) < size)
        Py_RETURN_NONE;
    PyArrayObject *out = new_array(floats[0], rank, sizes);
    if (out == NULL)
        return NULL;
    const npy_uint32 *words = (const npy_uint32 *)PyArray_BYTES((PyArrayObject *)args[0]) + from;
    float *to = (float *)PyArray_BYTES(out);
    for (npy_intp k = 0; k < size; k++)
        to[k] = (float)(words[k] & 0xFFFFFF) * (1.0f / (1 << 24));
    return (PyObject *)out;
}

/* Standard normals of a block's words from a place on in a shape, by emitted code, which takes 16
   at a time, for (address, block, start, shape). */
static PyObject *normals(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp sizes[DIMENSIONS], size, from;
    int rank = count == 4 ? read_shape(args[3], sizes, &size) : -1;
    if (rank < 0 || size % 16 != 0 || read_block(args[1], args[2], &from) < size)
        Py_RETURN_NONE;
    void (*draw)(const char *, char *, npy_int64, float, float) = PyLong_AsVoidPtr(args[0]);
    if (draw == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no code to call");
        return NULL;
    }
    PyArrayObject *out = new_array(floats[0], rank, sizes);
    if (out != NULL)
        draw(PyArray_BYTES((PyArrayObject *)args[1]) + 4 * from, PyArray_BYTES(out), size / 16, 0,
             1);
    return (PyObject *)out;
}

/* The same of normals that are worked out: two rows, the first and the second of each pair of words,
   eight of one after eight of the other, for (rows, start, shape). */
static PyObject *paired(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp sizes[DIMENSIONS], size, from;
    int overflow, rank = count == 3 ? read_shape(args[2], sizes, &size) : -1;
    PyArrayObject *rows = (PyArrayObject *)args[0];
    if (rank < 0 || size % 16 != 0 || type_of(args[0]) != 0 || PyArray_NDIM(rows) != 2 ||
        PyArray_DIM(rows, 0) != 2 || !is_dense(rows) || !PyLong_CheckExact(args[1]))
        Py_RETURN_NONE;
    npy_intp length = PyArray_DIM(rows, 1);
    from = PyLong_AsLongAndOverflow(args[1], &overflow);
    if (overflow || from < 0 || from > length - size)
        Py_RETURN_NONE;
    PyArrayObject *out = new_array(floats[0], rank, sizes);
    if (out == NULL)
        return NULL;
    const float *one = (const float *)PyArray_BYTES(rows) + from, *other = one + length;
    float *to = (float *)PyArray_BYTES(out);
    for (npy_intp k = 0; k < size; k += 16) {
        memcpy(to + k, one + k, 8 * sizeof(float));
        memcpy(to + k + 8, other + k, 8 * sizeof(float));
    }
    return (PyObject *)out;
}

/* The numbers below one in the order that a block's words from a place on say, each step the one of
   `discrete.randperm`, for (block, start, n). */
static PyObject *shuffled(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp n, from;
    if (count != 3 || !read_count(args[2], &n) || read_block(args[0], args[1], &from) < n - 1)
        Py_RETURN_NONE;
    PyArrayObject *out = new_array(integers, 1, &n);
    if (out == NULL)
        return NULL;
    npy_int64 *order = (npy_int64 *)PyArray_BYTES(out);
    const npy_uint32 *words = (const npy_uint32 *)PyArray_BYTES((PyArrayObject *)args[0]) + from;
    for (npy_intp k = 0; k < n; k++)
        order[k] = k;
    for (npy_intp k = 0; k < n - 1; k++) {
        npy_intp other = k + words[k] % (npy_uint32)(n - k);
        npy_int64 held = order[k];
        order[k] = order[other];
        order[other] = held;
    }
    return (PyObject *)out;
}

/* Whole numbers in a shape: a number plus the remainders of a block's words from a place on, for
   (block, start, shape, low, count), each step the one of `discrete.randint`. */
static PyObject *remainders(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp sizes[DIMENSIONS], size, from;
    int over[2], rank = count == 5 ? read_shape(args[2], sizes, &size) : -1;
    if (rank < 0 || read_block(args[0], args[1], &from) < size || !PyLong_CheckExact(args[3]) ||
        !PyLong_CheckExact(args[4]))
        Py_RETURN_NONE;
    npy_int64 low = PyLong_AsLongLongAndOverflow(args[3], &over[0]);
    npy_int64 many = PyLong_AsLongLongAndOverflow(args[4], &over[1]);
    if (over[0] || over[1] || many < 1 || many >= 1 << 28 || low > NPY_MAX_INT64 - many)
        Py_RETURN_NONE;
    PyArrayObject *out = new_array(integers, rank, sizes);
    if (out == NULL)
        return NULL;
    npy_int64 *to = (npy_int64 *)PyArray_BYTES(out);
    const npy_uint32 *words = (const npy_uint32 *)PyArray_BYTES((PyArrayObject *)args[0]) + from;
    for (npy_intp k = 0; k < size; k++)
        to[k] = low + words[k] % (npy_uint32)many;
    return (PyObject *)out;
}

#define TOSS(TYPE)                                                                              \
    for (npy_intp k = 0; k < size; k++, words += 2)                                             \
        ((TYPE *)PyArray_BYTES(out))[k] =                                                       \
            (((npy_int64)(words[0] & 0x1FFFFF) << 32) | words[1]) < bound;

/* Fills a dense array with ones where 53 bits of two of a block's words, from a place on, are below
   a bound, else zeros, for (block, start, out, bound). Whether it could. */
static PyObject *toss(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp from;
    int overflow, type = count == 4 ? type_of(args[2]) : -1;
    PyArrayObject *out = count == 4 ? (PyArrayObject *)args[2] : NULL;
    if (out == NULL ||
        (type < 0 && !(Py_TYPE(args[2]) == &PyArray_Type && PyArray_DESCR(out) == truths)) ||
        !PyArray_ISWRITEABLE(out) || !is_dense(out) || PyArray_SIZE(out) > MOST ||
        !PyLong_CheckExact(args[3]) ||
        read_block(args[0], args[1], &from) < 2 * PyArray_SIZE(out))
        Py_RETURN_FALSE;
    npy_int64 bound = PyLong_AsLongLongAndOverflow(args[3], &overflow);
    if (overflow)
        Py_RETURN_FALSE;
    npy_intp size = PyArray_SIZE(out);
    const npy_uint32 *words = (const npy_uint32 *)PyArray_BYTES((PyArrayObject *)args[0]) + from;
    if (type == 0) {
        TOSS(float)
    }
    else if (type == 1) {
        TOSS(double)
    }
    else {
        TOSS(npy_bool)
    }
    Py_RETURN_TRUE;
}

/* ---- counts -------------------------------------------------------------------------------- */

#define COUNT_IN(T)                                                                              \
    {                                                                                            \
        const T *from = (const T *)PyArray_BYTES(x);                                             \
        T *to = (T *)PyArray_BYTES(out), first = (T)low, last = (T)high, width = last - first;   \
        fine = width > 0 && isfinite(width);                                                     \
        for (npy_intp k = 0; fine && k < size; k++) {                                            \
            if (!(from[k] >= first) || !(from[k] <= last))                                       \
                continue;                                                                        \
            T scaled = (T)((T)(from[k] - first) * (T)bins) / width;                              \
            fine = isfinite(scaled);                                                             \
            npy_intp place = fine ? (npy_intp)scaled : 0;                                        \
            to[place < bins ? place : bins - 1] += 1;                                            \
        }                                                                                        \
    }

/* How many elements of a dense array of floats fall into each of some equal bins, as
   `searchsorted.histc` has them, for (array, bins, low, high). */
static PyObject *counted(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp bins;
    double low, high;
    int type = count == 4 ? type_of(args[0]) : -1, fine = 1;
    PyArrayObject *x = (PyArrayObject *)args[0];
    if (type < 0 || !read_count(args[1], &bins) || !read_number(args[2], &low) ||
        !read_number(args[3], &high) || !is_dense(x) || PyArray_SIZE(x) < 1 ||
        PyArray_SIZE(x) > MOST_READ)
        Py_RETURN_NONE;
    npy_intp size = PyArray_SIZE(x);
    if (low == high) { /* the range of the elements */
        low = HUGE_VAL, high = -HUGE_VAL;
        for (npy_intp k = 0; fine && k < size; k++) {
            double value = type == 0 ? ((const float *)PyArray_BYTES(x))[k]
                                     : ((const double *)PyArray_BYTES(x))[k];
            low = value < low ? value : low;
            high = value > high ? value : high;
            fine = isfinite(value);
        }
    }
    if (low == high)
        low -= 1, high += 1;
    if (!fine || !isfinite(low) || !isfinite(high) || !(low < high))
        Py_RETURN_NONE; /* who says why */
    PyArrayObject *out = new_array(floats[type], 1, &bins);
    if (out == NULL)
        return NULL;
    memset(PyArray_BYTES(out), 0, bins * PyArray_ITEMSIZE(out));
    if (type == 0)
        COUNT_IN(float)
    else
        COUNT_IN(double)
    if (!fine) {
        Py_DECREF(out);
        Py_RETURN_NONE;
    }
    return (PyObject *)out;
}

#define QUICKLY(NAME) (PyCFunction)(void (*)(void))NAME, METH_FASTCALL

static PyMethodDef methods[] = {
    {"spaced", QUICKLY(spaced), "Numbers from one to another; None for odd ones."},
    {"filled", QUICKLY(filled), "An array of a shape filled with a number; None for odd ones."},
    {"uniforms", QUICKLY(uniforms), "Uniforms of a block's words in a shape; None for odd ones."},
    {"normals", QUICKLY(normals), "Normals of a block's words in a shape; None for odd ones."},
    {"paired", QUICKLY(paired), "Normals that are worked out in a shape; None for odd ones."},
    {"shuffled", QUICKLY(shuffled), "A permutation by a block's words; None for odd ones."},
    {"remainders", QUICKLY(remainders), "Whole numbers by a block's words; None for odd ones."},
    {"toss", QUICKLY(toss), "Fills an array by a block's words; False for odd ones."},
    {"counted", QUICKLY(counted), "How many elements fall into bins; None for odd ones."},
    {"eye", eye, METH_O, "Ones on the diagonal of a square matrix; None for odd sizes."},
    {"are_equal", QUICKLY(are_equal), "Whether elements are the same; None for odd arrays."},
    {"are_between", QUICKLY(are_between), "Whether elements are in a range; None for odd arrays."},
    {"is_in_order", QUICKLY(is_in_order), "Whether a result lies as all of its operands do."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "fresh", "Small new arrays made of numbers.", -1, methods
};

PyMODINIT_FUNC PyInit_fresh(void)
{
    import_array();
    integers = PyArray_DescrFromType(NPY_INT64);
    truths = PyArray_DescrFromType(NPY_BOOL);
    if (integers == NULL || truths == NULL || start_loops() < 0)
        return NULL;
    return PyModule_Create(&definition);
}
