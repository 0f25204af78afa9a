/* Normalisation of small arrays by rows, groups and channels, in the order of the plain functions: see
   `_array/reduce/generated_norms.py` and `_array/nn/batch_norm.py`. And distances of few rows. */
#include "short.h"
#include <math.h>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_MACHINE __attribute__((target_clones("avx2", "default"), noinline))
#else
#define FOR_MACHINE
#endif

#define DIMENSIONS 8
#define MOST 2048       /* elements of differences, and channels */
#define ROWS 4095       /* elements of rows and groups, */
#define BATCH 16383     /* of a batch that is learnt from, */
#define APPLIED 262143  /* and of one that isn't: from then on kernels are quicker */
#define FEW 25          /* rows of each side, up to which distances aren't made of products */

static Loop matmul, inner;
static const Wanted wanted[] = {{"matmul", 3, 1, &matmul}, {"vecdot", 3, 1, &inner}};
static float single_ones[BATCH];
static double double_ones[BATCH];

/* ---- sums, as products with ones ---------------------------------------------------------- */

static char *ones_of(int type)
{
    return type == 0 ? (char *)single_ones : (char *)double_ones;
}

/* The sum of each row of some matrices. */
static void sum_rows(int type, char *x, npy_intp many, npy_intp rows, npy_intp columns, char *out)
{
    npy_intp item = type == 0 ? 4 : 8, row = columns * item;
    char *places[3] = {x, ones_of(type), out};
    npy_intp sizes[4] = {many, rows, columns, 1};
    npy_intp steps[9] = {rows * row, 0, rows * item, row, item, item, item, item, item};
    matmul.call[type](places, sizes, steps, matmul.data[type]);
}

/* The sum of each column of a matrix, which is its row where it has only one. */
static void sum_columns(int type, char *x, npy_intp rows, npy_intp columns, char *out)
{
    npy_intp item = type == 0 ? 4 : 8;
    if (rows == 1) {
        memcpy(out, x, columns * item);
        return;
    }
    char *places[3] = {ones_of(type), x, out};
    npy_intp sizes[4] = {1, 1, rows, columns};
    npy_intp steps[9] = {0, 0, 0, rows * item, item, columns * item, item, columns * item, item};
    matmul.call[type](places, sizes, steps, matmul.data[type]);
}

/* The inner product of each row with itself. */
static void square_rows(int type, char *x, npy_intp rows, npy_intp columns, char *out)
{
    npy_intp item = type == 0 ? 4 : 8, row = columns * item;
    char *places[3] = {x, x, out};
    npy_intp sizes[2] = {rows, columns}, steps[5] = {row, row, item, item, item};
    inner.call[type](places, sizes, steps, inner.data[type]);
}

/* The distances of the rows of two matrices, for the order two. */
static PyObject *measure(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *y = (PyArrayObject *)args[1];
    int type = type_of(args[0]);
    if (type < 0 || type_of(args[1]) != type || PyArray_NDIM(x) != 2 || PyArray_NDIM(y) != 2 ||
        !is_dense(x) || !is_dense(y) || !PyFloat_CheckExact(args[2]) ||
        PyFloat_AS_DOUBLE(args[2]) != 2)
        return NULL;
    npy_intp sizes[2] = {PyArray_DIM(x, 0), PyArray_DIM(y, 0)}, columns = PyArray_DIM(x, 1);
    npy_intp count = sizes[0] * sizes[1];
    if (sizes[0] < 1 || sizes[1] < 1 || sizes[0] > FEW || sizes[1] > FEW || columns < 1 ||
        columns > MOST / count || PyArray_DIM(y, 1) != columns)
        return NULL;
    PyArrayObject *out = new_array(floats[type], 2, sizes);
    if (out == NULL)
        return NULL;
    double apart[MOST];
    const char *a = PyArray_BYTES(x), *b = PyArray_BYTES(y);
    for (npy_intp i = 0; i < count; i++)
        for (npy_intp k = 0; k < columns; k++) {
            npy_intp one = i / sizes[1] * columns + k, other = i % sizes[1] * columns + k;
            if (type == 0)
                ((float *)apart)[i * columns + k] = ((const float *)a)[one] - ((const float *)b)[other];
            else
                apart[i * columns + k] = ((const double *)a)[one] - ((const double *)b)[other];
        }
    square_rows(type, (char *)apart, count, columns, PyArray_BYTES(out));
    for (npy_intp i = 0; i < count; i++)
        if (type == 0)
            ((float *)PyArray_BYTES(out))[i] = sqrtf(((float *)PyArray_BYTES(out))[i]);
        else
            ((double *)PyArray_BYTES(out))[i] = sqrt(((double *)PyArray_BYTES(out))[i]);
    return (PyObject *)out;
}

/* Products and a number for each row and each column, where that isn't below zero. */
#define SQUARES(NAME, TYPE)                                                                     \
    FOR_MACHINE static void NAME(TYPE *x, npy_intp many, npy_intp rows, npy_intp columns,       \
                                 const TYPE *first, const TYPE *second)                         \
    {                                                                                           \
        for (npy_intp r = 0; r < many * rows; r++, x += columns) {                              \
            const TYPE *more = second + r / rows * columns;                                     \
            TYPE one = first[r];                                                                \
            for (npy_intp k = 0; k < columns; k++) {                                            \
                TYPE v = x[k] + one + more[k];                                                  \
                x[k] = v < 0 ? 0 : v;                                                           \
            }                                                                                   \
        }                                                                                       \
    }

SQUARES(single_squares, float)
SQUARES(twice_squares, double)

/* add_squares(products, first, second): whether these have been added in place. */
static PyObject *add_squares(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int type = count == 3 ? type_of(args[0]) : -1;
    if (type < 0 || type_of(args[1]) != type || type_of(args[2]) != type)
        Py_RETURN_FALSE;
    PyArrayObject *x = (PyArrayObject *)args[0], *first = (PyArrayObject *)args[1];
    PyArrayObject *second = (PyArrayObject *)args[2];
    int rank = PyArray_NDIM(x);
    if (rank < 2 || PyArray_SIZE(x) < 1 || !is_dense(x) || !is_dense(first) || !is_dense(second) ||
        !PyArray_ISWRITEABLE(x))
        Py_RETURN_FALSE;
    npy_intp rows = PyArray_DIM(x, rank - 2), columns = PyArray_DIM(x, rank - 1);
    npy_intp many = PyArray_SIZE(x) / (rows * columns);
    if (PyArray_SIZE(first) != many * rows || PyArray_SIZE(second) != many * columns)
        Py_RETURN_FALSE;
    PyThreadState *others = PyArray_SIZE(x) > APPLIED ? PyEval_SaveThread() : NULL;
    if (type == 0)
        single_squares((float *)PyArray_DATA(x), many, rows, columns,
                     (const float *)PyArray_DATA(first), (const float *)PyArray_DATA(second));
    else
        twice_squares((double *)PyArray_DATA(x), many, rows, columns,
                    (const double *)PyArray_DATA(first), (const double *)PyArray_DATA(second));
    if (others != NULL)
        PyEval_RestoreThread(others);
    Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
    {"add_squares", (PyCFunction)(void (*)(void))add_squares, METH_FASTCALL,
     "Adds a number for each row and each column, in place; whether that is done."},
    {NULL}
};

/* ---- steps, each rounded by itself -------------------------------------------------------- */

/* An array as (n, channels, length), and what is computed of it by channel. `sums` has room for
   the sums of all rows of the array. */
typedef struct {
    npy_intp n, channels, length;
    int type, trains;
    double eps, momentum;
    char *x, *weight, *bias, *mean, *var; /* NULL for what isn't given */
    char *out, *centre, *inverse;
    char *sums;
} Parts;

#define STEPS(NAME, TYPE, ROOT)                                                                 \
    /* A number for each channel: elements times it, or and it. */                              \
    static void NAME##_spread(const TYPE *x, npy_intp channels, npy_intp length, TYPE *out,     \
                              const TYPE *with, int times)                                      \
    {                                                                                           \
        if (length == 1 && times)                                                               \
            for (npy_intp c = 0; c < channels; c++)                                             \
                out[c] = x[c] * with[c];                                                        \
        else if (length == 1)                                                                   \
            for (npy_intp c = 0; c < channels; c++)                                             \
                out[c] = x[c] + with[c];                                                        \
        else                                                                                    \
            for (npy_intp c = 0; c < channels; c++, x += length, out += length) {               \
                TYPE one = with[c];                                                             \
                if (times)                                                                      \
                    for (npy_intp k = 0; k < length; k++)                                       \
                        out[k] = x[k] * one;                                                    \
                else                                                                            \
                    for (npy_intp k = 0; k < length; k++)                                       \
                        out[k] = x[k] + one;                                                    \
            }                                                                                   \
    }                                                                                           \
    /* Rows less their mean, times 1 / their deviation. */                                      \
    static void NAME##_rows(const Parts *p, npy_intp rows, npy_intp columns)                    \
    {                                                                                           \
        const TYPE *x = (const TYPE *)p->x;                                                     \
        TYPE *out = (TYPE *)p->out, *mean = (TYPE *)p->centre, *rstd = (TYPE *)p->inverse;      \
        TYPE part = (TYPE)(1 / (double)columns), eps = (TYPE)p->eps;                            \
        sum_rows(p->type, p->x, 1, rows, columns, p->centre);                                   \
        for (npy_intp r = 0; r < rows; r++) {                                                   \
            mean[r] *= part;                                                                    \
            for (npy_intp k = 0; k < columns; k++)                                              \
                out[r * columns + k] = x[r * columns + k] - mean[r];                            \
        }                                                                                       \
        square_rows(p->type, p->out, rows, columns, p->inverse);                                \
        for (npy_intp r = 0; r < rows; r++) {                                                   \
            TYPE squares = rstd[r] * part;                                                      \
            rstd[r] = 1 / ROOT(squares + eps);                                                  \
            for (npy_intp k = 0; k < columns; k++)                                              \
                out[r * columns + k] *= rstd[r];                                                \
        }                                                                                       \
    }                                                                                           \
    /* The columns of rows, or with `length` the channels, scaled and shifted. */               \
    static void NAME##_scale(const Parts *p)                                                    \
    {                                                                                           \
        const TYPE *weight = (const TYPE *)p->weight, *bias = (const TYPE *)p->bias;            \
        npy_intp channels = p->channels, length = p->length;                                    \
        TYPE *out = (TYPE *)p->out;                                                             \
        for (npy_intp n = 0; n < p->n; n++, out += channels * length) {                         \
            if (weight != NULL)                                                                 \
                NAME##_spread(out, channels, length, out, weight, 1);                           \
            if (bias != NULL)                                                                   \
                NAME##_spread(out, channels, length, out, bias, 0);                             \
        }                                                                                       \
    }                                                                                           \
    static void NAME##_move(TYPE *running, TYPE value, double momentum)                         \
    {                                                                                           \
        TYPE kept = *running * (TYPE)(1 - momentum);                                            \
        *running = kept + (TYPE)momentum * value;                                               \
    }                                                                                           \
    /* (x - centre) scale + bias, with a number of each for a channel. */                       \
    FOR_MACHINE static void NAME##_apply(const TYPE *x, npy_intp n, npy_intp channels,          \
                                         npy_intp length, TYPE *out, const TYPE *centre,        \
                                         const TYPE *scale, const TYPE *bias)                   \
    {                                                                                           \
        for (npy_intp i = 0; length == 1 && i < n; i++, x += channels, out += channels)         \
            for (npy_intp c = 0; c < channels; c++)                                             \
                out[c] = (x[c] - centre[c]) * scale[c] + bias[c];                               \
        for (npy_intp r = 0; length > 1 && r < n * channels; r++, x += length, out += length) { \
            npy_intp c = r % channels;                                                          \
            TYPE middle = centre[c], times = scale[c], more = bias[c];                          \
            for (npy_intp k = 0; k < length; k++)                                               \
                out[k] = (x[k] - middle) * times + more;                                        \
        }                                                                                       \
    }                                                                                           \
    /* The sums of channels; those of rows come first, where these are longer than one. */      \
    static void NAME##_channels(const Parts *p)                                                 \
    {                                                                                           \
        const TYPE *x = (const TYPE *)p->x, *weight = (const TYPE *)p->weight;                  \
        const TYPE *bias = (const TYPE *)p->bias;                                               \
        TYPE *out = (TYPE *)p->out, *centre = (TYPE *)p->centre, *inverse = (TYPE *)p->inverse; \
        npy_intp n = p->n, channels = p->channels, length = p->length, count = n * length;      \
        int flat = length == 0;                                                                 \
        length = flat ? 1 : length;                                                             \
        count = flat ? n : count;                                                               \
        if (p->trains) {                                                                        \
            if (!flat)                                                                          \
                sum_rows(p->type, p->x, n, channels, length, p->sums);                          \
            sum_columns(p->type, flat ? p->x : p->sums, n, channels, p->centre);                \
            for (npy_intp c = 0; c < channels; c++)                                             \
                centre[c] /= (TYPE)count;                                                       \
        }                                                                                       \
        else                                                                                    \
            memcpy(p->centre, p->mean, channels * sizeof(TYPE));                                \
        if (p->trains) {                                                                        \
            TYPE one[MOST], nothing[MOST];                                                      \
            for (npy_intp c = 0; c < channels; c++)                                             \
                one[c] = 1, nothing[c] = (TYPE)-0.0;                                            \
            NAME##_apply(x, n, channels, length, out, centre, one, nothing);                    \
            if (flat)                                                                           \
                for (npy_intp k = 0; k < n * channels; k++)                                     \
                    ((TYPE *)p->sums)[k] = out[k] * out[k];                                     \
            else                                                                                \
                square_rows(p->type, p->out, n * channels, length, p->sums);                    \
            sum_columns(p->type, p->sums, n, channels, p->inverse);                             \
            for (npy_intp c = 0; c < channels; c++)                                             \
                inverse[c] /= (TYPE)count;                                                      \
        }                                                                                       \
        else                                                                                    \
            memcpy(p->inverse, p->var, channels * sizeof(TYPE));                                \
        TYPE scale[MOST], shift[MOST];                                                          \
        for (npy_intp c = 0; c < channels; c++) {                                               \
            inverse[c] = 1 / ROOT(inverse[c] + (TYPE)p->eps);                                   \
            scale[c] = weight == NULL ? inverse[c] : inverse[c] * weight[c];                    \
            shift[c] = bias == NULL ? (TYPE)-0.0 : bias[c]; /* which changes no zero's sign */  \
        }                                                                                       \
        NAME##_apply(x, n, channels, length, out, centre, scale, shift);                        \
        if (!p->trains || p->mean == NULL)                                                      \
            return;                                                                             \
        for (npy_intp c = 0; c < channels; c++)                                                 \
            NAME##_move((TYPE *)p->mean + c, centre[c], p->momentum);                           \
        double share = count > 1 ? (double)count / (double)(count - 1) : INFINITY;              \
        for (npy_intp c = 0; c < channels; c++) {                                               \
            TYPE squared = inverse[c] * inverse[c], found = 1 / squared;                        \
            found -= (TYPE)p->eps;                                                              \
            found *= (TYPE)share;                                                               \
            NAME##_move((TYPE *)p->var + c, found, p->momentum);                                \
        }                                                                                       \
    }

STEPS(single, float, sqrtf)
STEPS(twice, double, sqrt)

/* ---- calls -------------------------------------------------------------------------------- */

/* A vector of so many elements, or None. */
static int read_vector(PyObject *x, int type, npy_intp size, char **place)
{
    *place = NULL;
    if (x == Py_None)
        return 1;
    if (type_of(x) != type || PyArray_NDIM((PyArrayObject *)x) != 1 ||
        PyArray_SIZE((PyArrayObject *)x) != size || !is_dense((PyArrayObject *)x))
        return 0;
    *place = PyArray_BYTES((PyArrayObject *)x);
    return 1;
}

/* Three results: like an array, and two of another shape. */
static PyObject *make_results(PyArrayObject *x, Parts *p, int rank, npy_intp *sizes)
{
    PyArrayObject *out = new_array(PyArray_DESCR(x), PyArray_NDIM(x), PyArray_DIMS(x));
    PyArrayObject *centre = new_array(PyArray_DESCR(x), rank, sizes);
    PyArrayObject *inverse = new_array(PyArray_DESCR(x), rank, sizes);
    PyObject *all = NULL;
    if (out != NULL && centre != NULL && inverse != NULL) {
        p->out = PyArray_BYTES(out);
        p->centre = PyArray_BYTES(centre);
        p->inverse = PyArray_BYTES(inverse);
        all = PyTuple_Pack(3, out, centre, inverse);
    }
    Py_XDECREF(out);
    Py_XDECREF(centre);
    Py_XDECREF(inverse);
    return all;
}

/* For an array, the sizes of its last dimension, a weight, a bias and a number. */
static PyObject *by_row(PyArrayObject *x, PyObject *const *args, Parts *p)
{
    int rank = PyArray_NDIM(x);
    npy_intp columns = PyArray_DIM(x, rank - 1), rows = PyArray_SIZE(x) / columns;
    npy_intp sizes[DIMENSIONS];
    if (rank > DIMENSIONS || !PyTuple_CheckExact(args[1]) || PyTuple_GET_SIZE(args[1]) != 1 || columns < 2 ||
        rows < 2 || !PyLong_CheckExact(PyTuple_GET_ITEM(args[1], 0)) ||
        !read_vector(args[2], p->type, columns, &p->weight) ||
        !read_vector(args[3], p->type, columns, &p->bias))
        return NULL;
    int overflow;
    if (PyLong_AsLongAndOverflow(PyTuple_GET_ITEM(args[1], 0), &overflow) != columns)
        return NULL;
    copy_sizes(sizes, PyArray_DIMS(x), rank);
    sizes[rank - 1] = 1;
    PyObject *all = make_results(x, p, rank, sizes);
    if (all == NULL)
        return NULL;
    p->n = rows;
    p->channels = columns;
    p->length = 1;
    if (p->type == 0)
        single_rows(p, rows, columns), single_scale(p);
    else
        twice_rows(p, rows, columns), twice_scale(p);
    return all;
}

/* For an array, a weight, a bias, how many groups there are and a number. */
static PyObject *by_group(PyArrayObject *x, PyObject *const *args, Parts *p)
{
    int overflow, rank = PyArray_NDIM(x);
    long groups = PyLong_CheckExact(args[3]) ? PyLong_AsLongAndOverflow(args[3], &overflow) : 0;
    if (groups < 1 || overflow || PyArray_DIM(x, 1) % groups || rank > 3 ||
        !read_vector(args[1], p->type, PyArray_DIM(x, 1), &p->weight) ||
        !read_vector(args[2], p->type, PyArray_DIM(x, 1), &p->bias))
        return NULL;
    npy_intp sizes[2] = {PyArray_DIM(x, 0), groups}, rows = sizes[0] * groups;
    npy_intp columns = PyArray_SIZE(x) / rows;
    if (columns < 2 || rows < 2)
        return NULL;
    PyObject *all = make_results(x, p, 2, sizes);
    if (all == NULL)
        return NULL;
    p->n = sizes[0];
    p->channels = PyArray_DIM(x, 1);
    p->length = PyArray_SIZE(x) / (p->n * p->channels);
    if (p->type == 0)
        single_rows(p, rows, columns), single_scale(p);
    else
        twice_rows(p, rows, columns), twice_scale(p);
    return all;
}

static int is_writable(PyObject *x)
{
    return x == Py_None || PyArray_ISWRITEABLE((PyArrayObject *)x);
}

/* For an array, a weight, a bias, running means and variances, which are moved in training, whether
   that is, by how much, and a number. */
static PyObject *by_channel(PyArrayObject *x, PyObject *const *args, Parts *p)
{
    npy_intp channels = PyArray_DIM(x, 1), none = 0;
    int rank = PyArray_NDIM(x);
    if (!read_vector(args[1], p->type, channels, &p->weight) ||
        !read_vector(args[2], p->type, channels, &p->bias) ||
        !read_vector(args[3], p->type, channels, &p->mean) ||
        !read_vector(args[4], p->type, channels, &p->var) ||
        (p->mean == NULL) != (p->var == NULL) || !PyBool_Check(args[5]) ||
        !PyFloat_CheckExact(args[6]) || rank > 4 || channels > MOST ||
        PyArray_SIZE(x) > (args[5] == Py_True ? BATCH : APPLIED))
        return NULL;
    p->trains = args[5] == Py_True;
    p->momentum = PyFloat_AS_DOUBLE(args[6]);
    if (p->trains ? !is_writable(args[3]) || !is_writable(args[4]) : p->mean == NULL)
        return NULL;
    PyObject *all = make_results(x, p, 1, p->trains ? &channels : &none);
    if (all == NULL)
        return NULL;
    double further[2][MOST];
    if (!p->trains) { /* what isn't given */
        p->centre = (char *)further[0];
        p->inverse = (char *)further[1];
    }
    p->n = PyArray_DIM(x, 0);
    p->channels = channels;
    p->length = rank == 2 ? 0 : PyArray_SIZE(x) / (p->n * channels);
    p->sums = p->trains ? PyMem_Malloc(p->n * channels * sizeof(double)) : NULL;
    if (p->trains && p->sums == NULL) {
        Py_DECREF(all);
        return PyErr_NoMemory();
    }
    if (p->type == 0)
        single_channels(p);
    else
        twice_channels(p);
    PyMem_Free(p->sums);
    return all;
}

/* The first letter says how: "L" by the last dimension, "G" by groups of channels, "B" by channels;
   the last one stands for a number. There is a letter for each argument. */
static PyObject *normalise(const char *letters, PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    if (letters[0] == 'D')
        return measure(args);
    PyObject *eps = args[strlen(letters) - 1];
    Parts p = {0};
    p.type = type_of(args[0]);
    if (p.type < 0 || !PyFloat_CheckExact(eps) || PyArray_SIZE(x) < 1 || PyArray_NDIM(x) < 2 ||
        PyArray_SIZE(x) > (letters[0] == 'B' ? APPLIED : ROWS) || !is_dense(x))
        return NULL;
    p.x = PyArray_BYTES(x);
    p.eps = PyFloat_AS_DOUBLE(eps);
    switch (letters[0]) {
    case 'L': return by_row(x, args, &p);
    case 'G': return by_group(x, args, &p);
    }
    return by_channel(x, args, &p);
}

static PyObject *make_norm(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, normalise);
}

static PyTypeObject norm_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.norms.Norm", "Normalisation of small arrays.", make_norm);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "norms", "Normalisation of small arrays.", -1, functions
};

PyMODINIT_FUNC PyInit_norms(void)
{
    import_array();
    import_umath();
    for (int k = 0; k < BATCH; k++)
        single_ones[k] = 1, double_ones[k] = 1;
    if (start_loops() < 0 || find_loops(wanted, sizeof wanted / sizeof *wanted) < 0 ||
        PyType_Ready(&norm_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Norm", (PyObject *)&norm_type) < 0)
        return NULL;
    return module;
}
