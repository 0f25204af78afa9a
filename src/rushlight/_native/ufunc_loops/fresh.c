/* Small new arrays made of numbers, and what is asked of small arrays: see `__init__.py`. */
#include "arrays.h"
#include <float.h>
#include <math.h>

#define DIMENSIONS 8
#define MOST (1 << 16) /* elements of what is made */
#define MOST_SPACED (1 << 26)
#define LONG (1 << 16)  /* from which others may run meanwhile */
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

/* From both ends towards the middle: as `create.linspace` has them. */
FOR_MACHINE static void space(float *to, npy_int32 steps, float first, float last)
{
    double start = (double)first, end = (double)last;
    double gap = (double)((last - first) / (float)(steps - 1));
    npy_int32 half = steps / 2;
    for (npy_int32 k = 0; k < half; k++)
        to[k] = (float)(start + (double)k * gap);
    for (npy_int32 k = half; k < steps; k++)
        to[k] = (float)(end - (double)(steps - 1 - k) * gap);
}

static void space_doubles(double *to, npy_intp steps, double start, double end)
{
    double gap = (end - start) / (double)(steps - 1);
    for (npy_intp k = 0; k < steps; k++)
        to[k] = k < steps / 2 ? fma(gap, (double)k, start)
                              : fma(-gap, (double)(steps - 1 - k), end);
}

/* Numbers of float32 from one to another, for (start, end, steps); of float64 with one argument
   more. */
static PyObject *spaced(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    double start, end;
    npy_intp steps;
    if (count < 3 || count > 4 || !read_number(args[0], &start) || !read_number(args[1], &end) ||
        !read_size(args[2], MOST_SPACED, &steps) || steps < 2 || !(fabs(start) < 1e37) ||
        !(fabs(end) < 1e37))
        Py_RETURN_NONE;
    PyArrayObject *out = new_array(floats[count - 3], 1, &steps);
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES(out);
    PyThreadState *others = steps >= LONG ? PyEval_SaveThread() : NULL;
    if (count == 4)
        space_doubles((double *)to, steps, start, end);
    else
        space((float *)to, (npy_int32)steps, (float)start, (float)end);
    if (others != NULL)
        PyEval_RestoreThread(others);
    return (PyObject *)out;
}

#define SPREAD(TYPE, VALUE)                                                                     \
    {                                                                                           \
        const TYPE one = (TYPE)(VALUE);                                                         \
        for (npy_intp k = 0; k < size; k++)                                                     \
            ((TYPE *)to)[k] = one;                                                              \
        break;                                                                                  \
    }

FOR_MACHINE static void spread(char *to, npy_intp size, int type, double value)
{
    switch (type) {
    case NPY_FLOAT: SPREAD(float, value)
    case NPY_DOUBLE: SPREAD(double, value)
    default: SPREAD(npy_int64, value)
    }
}

/* Whether a number was written throughout a dense array of floats, or a whole one throughout one of
   64-bit integers: where memory is the limit, NumPy's loop isn't at it. */
static PyObject *fill(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    double value;
    PyArrayObject *x = count == 2 ? (PyArrayObject *)args[0] : NULL;
    if (x == NULL || Py_TYPE(args[0]) != &PyArray_Type || !read_number(args[1], &value))
        Py_RETURN_FALSE;
    PyArray_Descr *descr = PyArray_DESCR(x);
    int whole = descr == integers && PyLong_CheckExact(args[1]);
    if ((descr != floats[0] && descr != floats[1] && !whole) || !is_dense(x) ||
        !PyArray_ISALIGNED(x) || !PyArray_ISWRITEABLE(x) ||
        (descr == floats[0] && fabs(value) > FLT_MAX && !isinf(value)))
        Py_RETURN_FALSE;
    PyThreadState *others = PyArray_SIZE(x) >= LONG ? PyEval_SaveThread() : NULL;
    spread(PyArray_BYTES(x), PyArray_SIZE(x), PyArray_TYPE(x), value);
    if (others != NULL)
        PyEval_RestoreThread(others);
    Py_RETURN_TRUE;
}

/* An array filled with a float, an int of 64 bits or a bool, of the type that stands for its kind,
   for (shape, number). */
static PyObject *filled(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp sizes[DIMENSIONS], size;
    int overflow = 0, rank = count == 2 ? read_shape(args[0], MOST, sizes, &size) : -1;
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

/* ---- numbers in sequences -------------------------------------------------------------------- */

#define DEEPEST 8
enum { OF_BOOL = 1, OF_INT = 2, OF_FLOAT = 4, OTHERS = 8 };

/* Which kinds of numbers lie in sequences of the sizes that the first of each have; OTHERS for what
   isn't even, or isn't a list, a tuple or a number of Python's own. */
static int find_kinds(PyObject *x, int depth, int rank, const npy_intp *sizes, double most)
{
    if (depth == rank) {
        if (PyFloat_CheckExact(x))
            return fabs(PyFloat_AS_DOUBLE(x)) > most && !isinf(PyFloat_AS_DOUBLE(x)) ? OTHERS
                                                                                   : OF_FLOAT;
        int overflow = 0;
        if (PyLong_CheckExact(x))
            PyLong_AsLongLongAndOverflow(x, &overflow);
        return PyBool_Check(x) ? OF_BOOL : PyLong_CheckExact(x) && !overflow ? OF_INT : OTHERS;
    }
    if ((!PyList_CheckExact(x) && !PyTuple_CheckExact(x)) ||
        PySequence_Fast_GET_SIZE(x) != sizes[depth])
        return OTHERS;
    int kinds = 0;
    for (npy_intp k = 0; kinds < OTHERS && k < sizes[depth]; k++)
        kinds |= find_kinds(PySequence_Fast_GET_ITEM(x, k), depth + 1, rank, sizes, most);
    return kinds;
}

/* Writes the numbers in sequences one after the other. Whether they all could be. */
static int write_numbers(PyObject *x, int depth, int rank, const npy_intp *sizes,
                         PyArray_Descr *descr, char **to)
{
    for (npy_intp k = 0; depth < rank && k < sizes[depth]; k++)
        if (!write_numbers(PySequence_Fast_GET_ITEM(x, k), depth + 1, rank, sizes, descr, to))
            return 0;
    if (depth < rank)
        return 1;
    int overflow, exact = PyFloat_CheckExact(x);
    long long whole = exact ? 0 : PyLong_AsLongLongAndOverflow(x, &overflow); /* a bool is one */
    double real = exact ? PyFloat_AS_DOUBLE(x) : (double)whole;
    if (descr == floats[0])
        *(float *)*to = (float)real;
    else if (descr == floats[1])
        *(double *)*to = real;
    else if (descr == integers)
        *(npy_int64 *)*to = whole;
    else
        **to = x == Py_True;
    *to += PyDataType_ELSIZE(descr);
    return descr == integers || descr == truths || (whole <= EXACT && whole >= -EXACT);
}

/* An array of the numbers in a list or a tuple, which may hold others as long as each other, for
   (sequence, type): float32, float64, int64 or None, which is float32, int64 or bool by what they
   are. */
static PyObject *numbers(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp sizes[DEEPEST], size = 1;
    int rank = 0;
    if (count != 2)
        Py_RETURN_NONE;
    for (PyObject *x = args[0]; PyList_CheckExact(x) || PyTuple_CheckExact(x); rank++) {
        npy_intp n = PySequence_Fast_GET_SIZE(x);
        if (rank == DEEPEST || n < 1 || n > MOST || size > MOST / n)
            Py_RETURN_NONE;
        sizes[rank] = n, size *= n;
        x = PySequence_Fast_GET_ITEM(x, 0);
    }
    PyArray_Descr *descr = (PyArray_Descr *)args[1];
    double most = descr == floats[1] ? HUGE_VAL : FLT_MAX;
    int kinds = rank == 0 ? OTHERS : find_kinds(args[0], 0, rank, sizes, most);
    if (kinds >= OTHERS)
        Py_RETURN_NONE;
    if (args[1] == Py_None)
        descr = kinds & OF_FLOAT ? floats[0] : kinds & OF_INT ? integers : truths;
    else if (descr != floats[0] && descr != floats[1] &&
             (descr != integers || kinds & OF_FLOAT))
        Py_RETURN_NONE;
    PyArrayObject *out = new_array(descr, rank, sizes);
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES(out);
    if (!write_numbers(args[0], 0, rank, sizes, descr, &to)) {
        Py_DECREF(out);
        Py_RETURN_NONE;
    }
    return (PyObject *)out;
}

/* Ones on the diagonal of a square matrix of float32. */
static PyObject *eye(PyObject *module, PyObject *size)
{
    npy_intp sizes[2];
    if (!read_size(size, MOST, &sizes[0]) || sizes[0] * sizes[0] > MOST)
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
    if (type < 0 || !read_size(args[1], MOST, &bins) || !read_number(args[2], &low) ||
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
    {"fill", QUICKLY(fill), "Whether a number was written throughout an array."},
    {"filled", QUICKLY(filled), "An array of a shape filled with a number; None for odd ones."},
    {"counted", QUICKLY(counted), "How many elements fall into bins; None for odd ones."},
    {"numbers", QUICKLY(numbers), "The numbers in sequences; None for odd ones."},
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
