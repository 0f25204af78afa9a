/* Pooling over windows of small dense planes, in the order of `_array/nn/pooling.py`, and
   convolutions of few of them, as `_array/nn/convolution.py` has them from NumPy's BLAS. */
#include "short.h"
#include <math.h>

#define MOST 2048 /* elements of an array and of a result */
#define FURTHEST 1024 /* of a number that is given */

#define WIDE 128 /* places, from which on there is a product for each sample: see `convolution.py` */
#define WORK (1 << 16) /* multiplications, from which on kernels are asked */
#define COLUMNS 4096   /* elements of the windows of all samples */

static PyArray_Descr *integers;
static Loop matmul;
static const Wanted wanted[] = {{"matmul", 3, 1, &matmul}};

/* Windows over planes of (height, width). */
typedef struct {
    npy_intp planes;
    npy_intp size[2], k[2], stride[2], pad[2], dilation[2], out[2];
} Pool;

static int read_whole(PyObject *x, npy_intp *value)
{
    int overflow;
    if (!PyLong_CheckExact(x))
        return 0;
    *value = PyLong_AsLongAndOverflow(x, &overflow);
    return !overflow && *value >= 0 && *value <= FURTHEST;
}

/* One number for both dimensions, or one for each. */
static int read_pair(PyObject *x, npy_intp *pair)
{
    if (!PyTuple_CheckExact(x) && !PyList_CheckExact(x)) {
        int fine = read_whole(x, &pair[0]);
        pair[1] = pair[0];
        return fine;
    }
    Py_ssize_t count = PySequence_Fast_GET_SIZE(x);
    return (count == 1 || count == 2) && read_whole(PySequence_Fast_GET_ITEM(x, 0), &pair[0]) &&
           read_whole(PySequence_Fast_GET_ITEM(x, count - 1), &pair[1]);
}

static int is_empty(PyObject *x)
{
    return x == Py_None || (PyTuple_CheckExact(x) && PyTuple_GET_SIZE(x) == 0) ||
           (PyList_CheckExact(x) && PyList_GET_SIZE(x) == 0);
}

/* Reads what says where windows lie; whether that is usual, and the result small. */
static int read_pool(PyArrayObject *x, PyObject *k, PyObject *stride, PyObject *pad,
                     PyObject *dilation, PyObject *ceils, Pool *p)
{
    int rank = PyArray_NDIM(x);
    if ((rank != 3 && rank != 4) || PyArray_SIZE(x) < 1 || PyArray_SIZE(x) > MOST || !is_dense(x) ||
        !PyBool_Check(ceils) || !read_pair(k, p->k) || !read_pair(pad, p->pad))
        return 0;
    if (is_empty(stride))
        memcpy(p->stride, p->k, sizeof p->k);
    else if (!read_pair(stride, p->stride))
        return 0;
    p->dilation[0] = p->dilation[1] = 1;
    if (dilation != NULL && !read_pair(dilation, p->dilation))
        return 0;
    p->planes = 1;
    for (int d = 0; d < rank - 2; d++)
        p->planes *= PyArray_DIM(x, d);
    npy_intp all = p->planes;
    for (int d = 0; d < 2; d++) {
        p->size[d] = PyArray_DIM(x, rank - 2 + d);
        npy_intp reach = p->dilation[d] * (p->k[d] - 1) + 1;
        if (p->k[d] < 1 || p->stride[d] < 1 || p->dilation[d] < 1 || p->pad[d] > reach / 2)
            return 0;
        npy_intp room = p->size[d] + 2 * p->pad[d] - reach;
        room += ceils == Py_True ? p->stride[d] - 1 : 0;
        if (room < 0)
            return 0;
        p->out[d] = room / p->stride[d] + 1;
        if (ceils == Py_True && (p->out[d] - 1) * p->stride[d] >= p->size[d] + p->pad[d])
            p->out[d]--;
        if (p->out[d] < 1 || p->out[d] > MOST)
            return 0;
        all *= p->out[d];
    }
    return all <= MOST;
}

static PyArrayObject *new_result(PyArrayObject *x, PyArray_Descr *descr, const Pool *p)
{
    npy_intp sizes[4];
    int rank = PyArray_NDIM(x);
    copy_sizes(sizes, PyArray_DIMS(x), rank - 2);
    copy_sizes(sizes + rank - 2, p->out, 2);
    return new_array(descr, rank, sizes);
}

/* How many elements of a dimension a window counts. */
static npy_intp extent(const Pool *p, int d, npy_intp place, int include)
{
    npy_intp start = place * p->stride[d] - p->pad[d], end = start + p->k[d];
    npy_intp most = p->size[d] + (include ? p->pad[d] : 0);
    end = end < most ? end : most;
    return end - (include || start > 0 ? start : 0);
}

/* Sums along the first dimension, then of these along the second; what is outside is zero. */
#define MEANS(TYPE)                                                                             \
    for (npy_intp n = 0; n < p->planes; n++, x += p->size[0] * p->size[1])                      \
        for (npy_intp i = 0; i < p->out[0]; i++)                                                \
            for (npy_intp j = 0; j < p->out[1]; j++) {                                          \
                TYPE total = 0;                                                                 \
                for (npy_intp b = 0; b < p->k[1]; b++) {                                        \
                    npy_intp w = j * p->stride[1] - p->pad[1] + b;                              \
                    TYPE column = 0;                                                            \
                    for (npy_intp a = 0; a < p->k[0]; a++) {                                    \
                        npy_intp h = i * p->stride[0] - p->pad[0] + a;                          \
                        int inside = h >= 0 && h < p->size[0] && w >= 0 && w < p->size[1];      \
                        TYPE value = inside ? x[h * p->size[1] + w] : 0;                        \
                        column = a == 0 ? value : column + value;                               \
                    }                                                                           \
                    total = b == 0 ? column : total + column;                                   \
                }                                                                               \
                npy_intp by = divisor ? divisor                                                 \
                                      : extent(p, 0, i, include) * extent(p, 1, j, include);    \
                *out++ = total / (TYPE)by;                                                      \
            }

static void mean_float(const Pool *p, int include, npy_intp divisor, const float *x, float *out)
{
    MEANS(float)
}

static void mean_double(const Pool *p, int include, npy_intp divisor, const double *x, double *out)
{
    MEANS(double)
}

static PyObject *means(PyObject *const *args)
{
    Pool p;
    npy_intp divisor = 0;
    int type = type_of(args[0]);
    PyArrayObject *x = (PyArrayObject *)args[0];
    if (type < 0 || !read_pool(x, args[1], args[2], args[3], NULL, args[4], &p) ||
        !PyBool_Check(args[5]) ||
        (args[6] != Py_None && (!read_whole(args[6], &divisor) || divisor == 0)))
        return NULL;
    PyArrayObject *out = new_result(x, floats[type], &p);
    if (out == NULL)
        return NULL;
    if (type == 0)
        mean_float(&p, args[5] == Py_True, divisor, (const float *)PyArray_BYTES(x),
                   (float *)PyArray_BYTES(out));
    else
        mean_double(&p, args[5] == Py_True, divisor, (const double *)PyArray_BYTES(x),
                    (double *)PyArray_BYTES(out));
    return (PyObject *)out;
}

/* Where in its plane the winner of a window lies; what is outside stands for the first inside. */
static npy_int64 locate(const Pool *p, const npy_intp *at, npy_intp won)
{
    npy_intp found[2], taps[2] = {won / p->k[1], won % p->k[1]};
    for (int d = 0; d < 2; d++) {
        npy_intp start = at[d] * p->stride[d] - p->pad[d], step = p->dilation[d];
        npy_intp first = start < 0 ? (-start + step - 1) / step : 0;
        found[d] = start + (taps[d] > first ? taps[d] : first) * step;
    }
    return found[0] * p->size[1] + found[1];
}

/* The taps of a window that lie in the plane: from which to which, and the place of the first. */
static void cut_taps(const Pool *p, int d, npy_intp at, npy_intp *from, npy_intp *to, npy_intp *place)
{
    npy_intp start = at * p->stride[d] - p->pad[d], step = p->dilation[d];
    npy_intp left = p->size[d] - start; /* elements from the first tap to the end */
    *from = start < 0 ? (-start + step - 1) / step : 0;
    *to = left <= 0 ? 0 : (left + step - 1) / step;
    *to = *to < p->k[d] ? *to : p->k[d];
    *place = start + *from * step;
}

/* The largest element of each window and its place: the first one; of NaN, which are larger than
   everything, the last. What is outside is smaller than all, and comes first where the first tap is
   outside. Whether no zeros of both signs are the largest, whose order is NumPy's. */
#define FIND_LARGEST(NAME, TYPE)                                                                \
    static int NAME(const Pool *p, const TYPE *x, TYPE *out, npy_int64 *places)                 \
    {                                                                                           \
        npy_intp at[2], a0, a1, h0, b0, b1, w0, width = p->size[1];                             \
        for (npy_intp n = 0; n < p->planes; n++, x += p->size[0] * width)                       \
            for (at[0] = 0; at[0] < p->out[0]; at[0]++) {                                       \
                cut_taps(p, 0, at[0], &a0, &a1, &h0);                                           \
                for (at[1] = 0; at[1] < p->out[1]; at[1]++) {                                   \
                    cut_taps(p, 1, at[1], &b0, &b1, &w0);                                       \
                    int outside = a0 > 0 || b0 > 0 || a1 <= a0 || b1 <= b0;                     \
                    TYPE best = outside ? (TYPE)-INFINITY : x[h0 * width + w0];                 \
                    npy_intp won = 0;                                                           \
                    for (npy_intp a = a0; a < a1; a++) {                                        \
                        const TYPE *row = x + (h0 + (a - a0) * p->dilation[0]) * width + w0;    \
                        for (npy_intp b = b0; b < b1; b++, row += p->dilation[1]) {             \
                            TYPE value = *row;                                                  \
                            if (value > best || value != value)                                 \
                                best = value, won = a * p->k[1] + b;                            \
                            else if (value == 0 && best == 0 && signbit(value) != signbit(best))\
                                return 0;                                                       \
                        }                                                                       \
                    }                                                                           \
                    *out++ = best;                                                              \
                    *places++ = locate(p, at, won);                                             \
                }                                                                               \
            }                                                                                   \
        return 1;                                                                               \
    }

FIND_LARGEST(find_largest_float, float)
FIND_LARGEST(find_largest_double, double)

static PyObject *largest(PyObject *const *args)
{
    Pool p;
    int type = type_of(args[0]);
    PyArrayObject *x = (PyArrayObject *)args[0];
    if (type < 0 || !read_pool(x, args[1], args[2], args[3], args[4], args[5], &p))
        return NULL;
    PyArrayObject *out = new_result(x, floats[type], &p);
    PyArrayObject *places = out == NULL ? NULL : new_result(x, integers, &p);
    PyObject *both = NULL;
    npy_int64 *to = places == NULL ? NULL : (npy_int64 *)PyArray_BYTES(places);
    if (places != NULL &&
        (type == 0 ? find_largest_float(&p, (float *)PyArray_BYTES(x), (float *)PyArray_BYTES(out), to)
                   : find_largest_double(&p, (double *)PyArray_BYTES(x),
                                         (double *)PyArray_BYTES(out), to)))
        both = PyTuple_Pack(2, out, places);
    Py_XDECREF(out);
    Py_XDECREF(places);
    return both;
}

/* ---- convolutions ------------------------------------------------------------------------- */

/* Two numbers, as the table gives them. */
static int read_both(PyObject *x, npy_intp least, npy_intp *pair)
{
    return PyTuple_CheckExact(x) && PyTuple_GET_SIZE(x) == 2 &&
           read_whole(PyTuple_GET_ITEM(x, 0), &pair[0]) &&
           read_whole(PyTuple_GET_ITEM(x, 1), &pair[1]) && pair[0] >= least && pair[1] >= least;
}

/* Puts the windows of a sample into columns, which are `apart` elements wide. */
#define UNFOLD(TYPE)                                                                            \
    for (npy_intp c = 0; c < channels; c++)                                                     \
        for (npy_intp a = 0; a < p->k[0]; a++)                                                  \
            for (npy_intp b = 0; b < p->k[1]; b++, row++) {                                     \
                const TYPE *plane = (const TYPE *)from + c * p->size[0] * p->size[1];           \
                TYPE *put = (TYPE *)to + row * apart;                                           \
                for (npy_intp i = 0; i < p->out[0]; i++)                                        \
                    for (npy_intp j = 0; j < p->out[1]; j++) {                                  \
                        npy_intp h = i * p->stride[0] - p->pad[0] + a * p->dilation[0];         \
                        npy_intp w = j * p->stride[1] - p->pad[1] + b * p->dilation[1];         \
                        int inside = h >= 0 && h < p->size[0] && w >= 0 && w < p->size[1];      \
                        *put++ = inside ? plane[h * p->size[1] + w] : 0;                        \
                    }                                                                           \
            }

static void unfold(const Pool *p, int type, npy_intp channels, const char *from, char *to,
                   npy_intp apart)
{
    npy_intp row = 0;
    if (type == 0) {
        UNFOLD(float)
    }
    else {
        UNFOLD(double)
    }
}

static void multiply(int type, const char *a, const char *b, char *out, npy_intp rows, npy_intp n,
                     npy_intp columns)
{
    npy_intp item = type == 0 ? 4 : 8;
    char *places[3] = {(char *)a, (char *)b, out};
    npy_intp sizes[4] = {1, rows, n, columns};
    npy_intp steps[9] = {0, 0, 0, item * n, item, item * columns, item, item * columns, item};
    matmul.call[type](places, sizes, steps, matmul.data[type]);
}

static void add_bias(int type, char *out, const char *bias, npy_intp count, npy_intp rows,
                     npy_intp area)
{
    for (npy_intp n = 0; n < count * rows; n++)
        for (npy_intp k = 0; k < area; k++)
            if (type == 0)
                ((float *)out)[n * area + k] += ((const float *)bias)[n % rows];
            else
                ((double *)out)[n * area + k] += ((const double *)bias)[n % rows];
}

/* Whether the windows of a plane are a matrix as they lie, which the plain function doesn't copy:
   its product may be rounded otherwise. */
static int lie_as_matrix(const Pool *p, npy_intp channels)
{
    npy_intp width = p->size[1] + 2 * p->pad[1], plane = (p->size[0] + 2 * p->pad[0]) * width;
    npy_intp counts[3] = {channels, p->k[0], p->k[1]};
    npy_intp steps[3] = {plane, width * p->dilation[0], p->dilation[1]}, expected = 0;
    if (p->stride[0] * width != p->out[1] * p->stride[1])
        return 0;
    for (int k = 3; k-- > 0;)
        if (counts[k] > 1) {
            if (expected > 0 && steps[k] != expected)
                return 0;
            expected = steps[k] * counts[k];
        }
    return 1;
}

/* Whether weights lie one after the other, or are such that BLAS gets them in lines. */
static int lies_in_lines(PyArrayObject *w)
{
    npy_intp deep = PyArray_DIM(w, 1) * PyArray_DIM(w, 2) * PyArray_DIM(w, 3);
    return is_dense(w) ||
           (PyArray_DIM(w, 3) > 1 && PyArray_STRIDE(w, 3) == PyArray_ITEMSIZE(w) &&
            PyArray_STRIDE(w, 2) > 0 && PyArray_STRIDE(w, 0) >= deep * PyArray_ITEMSIZE(w));
}

/* Copies weights, which lie in lines, one line after the other. */
static void join_lines(PyArrayObject *w, char *to)
{
    npy_intp line = PyArray_DIM(w, 3) * PyArray_ITEMSIZE(w);
    for (npy_intp o = 0; o < PyArray_DIM(w, 0); o++)
        for (npy_intp c = 0; c < PyArray_DIM(w, 1); c++)
            for (npy_intp i = 0; i < PyArray_DIM(w, 2); i++, to += line)
                memcpy(to, PyArray_BYTES(w) + o * PyArray_STRIDE(w, 0) +
                           c * PyArray_STRIDE(w, 1) + i * PyArray_STRIDE(w, 2), line);
}

/* Whether the weights, windows and samples are what is done here. Windows in one line of places,
   and kernels of one place, are products of another layout; without both sizes of planes or of
   kernels what lies in memory might have its channels last. */
static int read_convolution(PyObject *const *args, int type, Pool *p)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *w = (PyArrayObject *)args[1];
    npy_intp extra[2], groups;
    if (type < 0 || type_of(args[1]) != type || PyArray_NDIM(x) != 4 || PyArray_NDIM(w) != 4 ||
        PyArray_SIZE(x) < 1 || PyArray_SIZE(w) < 1 || PyArray_SIZE(x) > COLUMNS ||
        PyArray_SIZE(w) > COLUMNS || !is_dense(x) || !lies_in_lines(w) ||
        PyArray_DIM(x, 1) != PyArray_DIM(w, 1) || !read_both(args[3], 1, p->stride) ||
        !read_both(args[4], 0, p->pad) || !read_both(args[5], 1, p->dilation) ||
        args[6] != Py_False || !read_both(args[7], 0, extra) || extra[0] || extra[1] ||
        !read_whole(args[8], &groups) || groups != 1)
        return 0;
    for (int d = 0; d < 2; d++) {
        p->size[d] = PyArray_DIM(x, 2 + d);
        p->k[d] = PyArray_DIM(w, 2 + d);
        npy_intp room = p->size[d] + 2 * p->pad[d] - p->dilation[d] * (p->k[d] - 1) - 1;
        if (room < 0)
            return 0;
        p->out[d] = room / p->stride[d] + 1;
    }
    return p->out[0] > 1 && p->out[1] > 1 && p->size[0] * p->size[1] > 1 &&
           p->k[0] * p->k[1] > 1 && PyArray_STRIDE(w, 1) > PyArray_STRIDE(w, 3) &&
           !lie_as_matrix(p, PyArray_DIM(x, 1));
}

static PyObject *convolve(PyObject *const *args)
{
    Pool p;
    int type = type_of(args[0]);
    if (!read_convolution(args, type, &p))
        return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *w = (PyArrayObject *)args[1];
    PyArrayObject *bias = args[2] == Py_None ? NULL : (PyArrayObject *)args[2];
    npy_intp count = PyArray_DIM(x, 0), channels = PyArray_DIM(x, 1), rows = PyArray_DIM(w, 0);
    npy_intp deep = channels * p.k[0] * p.k[1], area = p.out[0] * p.out[1];
    npy_intp sizes[4] = {count, rows, p.out[0], p.out[1]}, item = type == 0 ? 4 : 8;
    if ((bias != NULL && (type_of(args[2]) != type || PyArray_NDIM(bias) != 1 ||
                          PyArray_DIM(bias, 0) != rows || !is_dense(bias))) ||
        deep * area * count > COLUMNS || rows * area * count > COLUMNS ||
        rows * deep * area * count >= WORK)
        return NULL;
    char *room = PyMem_Malloc(3 * COLUMNS * item); /* more than a thread's stack may have left */
    PyArrayObject *out = room == NULL ? NULL : new_array(floats[type], 4, sizes);
    if (out == NULL) {
        PyMem_Free(room);
        return NULL;
    }
    char *to = PyArray_BYTES(out), *matrix = PyArray_BYTES(w);
    char *columns = room, *side_by_side = room + COLUMNS * item;
    char *weights = side_by_side + COLUMNS * item;
    if (!is_dense(w)) {
        join_lines(w, weights);
        matrix = weights;
    }
    int alone = area >= WIDE || count == 1;
    for (npy_intp n = 0; n < count; n++) {
        const char *sample = PyArray_BYTES(x) + n * channels * p.size[0] * p.size[1] * item;
        char *at = columns + (alone ? 0 : n * area * item);
        unfold(&p, type, channels, sample, at, alone ? area : count * area);
        if (alone)
            multiply(type, matrix, at, to + n * rows * area * item, rows, deep, area);
    }
    if (!alone) {
        multiply(type, matrix, columns, side_by_side, rows, deep, count * area);
        for (npy_intp n = 0; n < count; n++)
            for (npy_intp r = 0; r < rows; r++)
                memcpy(to + (n * rows + r) * area * item,
                       side_by_side + (r * count + n) * area * item, area * item);
    }
    if (bias != NULL)
        add_bias(type, to, PyArray_BYTES(bias), count, rows, area);
    PyMem_Free(room);
    return (PyObject *)out;
}

/* The first letter says which: "A" means, for an array, windows, strides, padding, whether sizes
   are rounded up, whether padding counts, and a divisor or None; "X" maxima and their places, for
   an array, windows, strides, padding, dilation and whether sizes are rounded up; "C" convolutions,
   for an array, weights, a bias or None, strides, padding, dilation, whether it is transposed, what
   then is added, and groups. */
static PyObject *pool(const char *letters, PyObject *const *args)
{
    switch (letters[0]) {
    case 'A': return means(args);
    case 'X': return largest(args);
    }
    return convolve(args);
}

static PyObject *make_pool(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, pool);
}

static PyTypeObject pool_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.windows.Pool", "Pooling over windows of small planes.",
    make_pool);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "windows", "Pooling over windows of small planes.", -1
};

PyMODINIT_FUNC PyInit_windows(void)
{
    import_array();
    import_umath();
    integers = PyArray_DescrFromType(NPY_INT64);
    if (integers == NULL || start_loops() < 0 || find_loops(wanted, 1) < 0 ||
        PyType_Ready(&pool_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Pool", (PyObject *)&pool_type) < 0)
        return NULL;
    return module;
}
