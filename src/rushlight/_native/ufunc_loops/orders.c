/* Small arrays in order: sorting, and what order decides. See `__init__.py`. */
#include "short.h"

#define DIMENSIONS 8
#define MOST 2048 /* elements */
#define LONGEST 64 /* elements that are sorted by insertion */

static PyArray_Descr *integers;

/* The lanes of an array along a dimension. */
typedef struct {
    char *from;
    char type; /* 'f', 'd' or 'l' */
    npy_intp outer, n, inner;
    int rank, dim;
    npy_intp sizes[DIMENSIONS];
} Lanes;

/* Whether `a` stands before `b` in ascending order, NaN last. */
#define BEFORE(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))

/* The first places of a lane in stable order; `down`: largest first, NaN before all. */
#define SORT(TYPE, NAME)                                                                        \
    static void sort_##NAME(const TYPE *lane, npy_intp n, npy_intp step, int down,              \
                            npy_intp wanted, npy_int64 *places)                                 \
    {                                                                                           \
        for (npy_intp k = 0; k < n; k++) {                                                      \
            TYPE value = lane[k * step];                                                        \
            npy_intp at = k < wanted ? k : wanted;                                              \
            for (; at > 0; at--) {                                                              \
                TYPE other = lane[places[at - 1] * step];                                       \
                if (!(down ? BEFORE(other, value) : BEFORE(value, other)))                      \
                    break;                                                                      \
                if (at < wanted)                                                                \
                    places[at] = places[at - 1];                                                \
            }                                                                                   \
            if (at < wanted)                                                                    \
                places[at] = k;                                                                 \
        }                                                                                       \
    }                                                                                           \
    /* The place of the first of the largest, or smallest, elements, which a NaN is. */         \
    static npy_intp find_##NAME(const TYPE *lane, npy_intp n, npy_intp step, int down)          \
    {                                                                                           \
        npy_intp place = 0;                                                                     \
        TYPE best = lane[0];                                                                    \
        for (npy_intp k = 1; k < n && best == best; k++) {                                      \
            TYPE value = lane[k * step];                                                        \
            if (!(down ? value <= best : value >= best))                                        \
                best = value, place = k;                                                        \
        }                                                                                       \
        return place;                                                                           \
    }                                                                                           \
    /* Where the largest, or smallest, so far is: the last of equal ones. Whether no NaN is. */ \
    static int scan_##NAME(const TYPE *lane, npy_intp n, npy_intp step, int down,               \
                           npy_int64 *places)                                                   \
    {                                                                                           \
        npy_intp place = 0;                                                                     \
        for (npy_intp k = 0; k < n; k++) {                                                      \
            TYPE value = lane[k * step], best = lane[place * step];                             \
            if (value != value)                                                                 \
                return 0;                                                                       \
            if (down ? value >= best : value <= best)                                           \
                place = k;                                                                      \
            places[k] = place;                                                                  \
        }                                                                                       \
        return 1;                                                                               \
    }                                                                                           \
    static int are_equal_##NAME(const TYPE *lane, npy_int64 a, npy_int64 b)                     \
    {                                                                                           \
        return lane[a] == lane[b];                                                              \
    }                                                                                           \
    static int is_nan_##NAME(const TYPE *lane, npy_intp n, npy_intp step)                       \
    {                                                                                           \
        for (npy_intp k = 0; k < n; k++)                                                        \
            if (lane[k * step] != lane[k * step])                                               \
                return 1;                                                                       \
        return 0;                                                                               \
    }

SORT(float, float)
SORT(double, double)
SORT(npy_int64, long)

#define CALL(NAME, ...)                                                                         \
    (lanes->type == 'f'   ? NAME##_float((const float *)lane, __VA_ARGS__)                      \
     : lanes->type == 'd' ? NAME##_double((const double *)lane, __VA_ARGS__)                    \
                          : NAME##_long((const npy_int64 *)lane, __VA_ARGS__))

static void sort(const Lanes *lanes, const char *lane, int down, npy_intp wanted,
                 npy_int64 *places)
{
    if (lanes->type == 'f')
        sort_float((const float *)lane, lanes->n, lanes->inner, down, wanted, places);
    else if (lanes->type == 'd')
        sort_double((const double *)lane, lanes->n, lanes->inner, down, wanted, places);
    else
        sort_long((const npy_int64 *)lane, lanes->n, lanes->inner, down, wanted, places);
}

/* ---- what is asked of arguments ----------------------------------------------------------- */

static int read_lanes(PyObject *x, PyObject *dim, Lanes *lanes)
{
    PyArrayObject *array = (PyArrayObject *)x;
    int type = type_of(x);
    if (type < 0 && !(Py_TYPE(x) == &PyArray_Type && PyArray_DESCR(array) == integers &&
                      PyArray_ISALIGNED(array)))
        return 0;
    lanes->type = type < 0 ? 'l' : "fd"[type];
    lanes->rank = PyArray_NDIM(array);
    if (lanes->rank < 1 || lanes->rank > DIMENSIONS || !is_dense(array) ||
        PyArray_SIZE(array) < 1 || PyArray_SIZE(array) > MOST)
        return 0;
    lanes->dim = read_dim(dim, lanes->rank);
    if (lanes->dim < 0)
        return 0;
    lanes->from = PyArray_BYTES(array);
    lanes->n = PyArray_DIM(array, lanes->dim);
    lanes->outer = lanes->inner = 1;
    for (int k = 0; k < lanes->rank; k++) {
        lanes->sizes[k] = PyArray_DIM(array, k);
        if (k < lanes->dim)
            lanes->outer *= lanes->sizes[k];
        else if (k > lanes->dim)
            lanes->inner *= lanes->sizes[k];
    }
    return 1;
}

/* Leaves `kept` elements along the dimension; none: the dimension itself goes. */
static void cut(Lanes *lanes, npy_intp kept)
{
    if (kept > 0) {
        lanes->sizes[lanes->dim] = kept;
        return;
    }
    for (int k = lanes->dim; k + 1 < lanes->rank; k++)
        lanes->sizes[k] = lanes->sizes[k + 1];
    lanes->rank--;
}

/* A number from 0 to `most`, or -1. */
static npy_intp read_count(PyObject *x, npy_intp most)
{
    int overflow;
    if (!PyLong_CheckExact(x))
        return -1;
    long found = PyLong_AsLongAndOverflow(x, &overflow);
    return overflow || found < 0 || found > most ? -1 : found;
}

/* The median of all elements of few, where none is NaN and it isn't a zero, which has two signs. */
static PyObject *find_median(PyObject *x)
{
    Lanes lanes = {0};
    npy_int64 places[LONGEST];
    PyArrayObject *array = (PyArrayObject *)x;
    int type = type_of(x);
    if (type < 0 || PyArray_SIZE(array) < 1 || PyArray_SIZE(array) > LONGEST || !is_dense(array))
        return NULL;
    lanes.type = "fd"[type];
    lanes.n = PyArray_SIZE(array);
    lanes.inner = 1;
    sort(&lanes, PyArray_BYTES(array), 0, lanes.n, places);
    npy_intp item = PyArray_ITEMSIZE(array);
    const char *last = PyArray_BYTES(array) + places[lanes.n - 1] * item;
    const char *middle = PyArray_BYTES(array) + places[(lanes.n - 1) / 2] * item;
    double top = type == 0 ? *(const float *)last : *(const double *)last;
    if (top != top || (type == 0 ? *(const float *)middle == 0 : *(const double *)middle == 0))
        return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(array), 0, NULL);
    if (out != NULL)
        memcpy(PyArray_BYTES(out), middle, item);
    return (PyObject *)out;
}

/* The values of few elements in order, each once, and no places and counts, which nobody asks for. */
static PyObject *find_distinct(PyObject *const *args)
{
    Lanes whole = {0}, *lanes = &whole;
    npy_int64 places[LONGEST];
    PyArrayObject *x = (PyArrayObject *)args[0];
    int type = type_of(args[0]);
    if (args[2] != Py_False || args[3] != Py_False ||
        (type < 0 && !(Py_TYPE(args[0]) == &PyArray_Type && PyArray_DESCR(x) == integers &&
                       PyArray_ISALIGNED(x))) ||
        PyArray_SIZE(x) < 1 || PyArray_SIZE(x) > LONGEST || !is_dense(x))
        return NULL;
    lanes->type = type < 0 ? 'l' : "fd"[type];
    lanes->n = PyArray_SIZE(x);
    lanes->inner = 1;
    const char *lane = PyArray_BYTES(x);
    sort(lanes, lane, 0, lanes->n, places);
    npy_intp count = 1, none = 0, item = PyArray_ITEMSIZE(x);
    for (npy_intp k = 1; k < lanes->n; k++)
        if (!CALL(are_equal, places[count - 1], places[k]))
            places[count++] = places[k];
    PyArrayObject *values = new_array(PyArray_DESCR(x), 1, &count);
    PyArrayObject *empty = values == NULL ? NULL : new_array(integers, 1, &none);
    PyArrayObject *other = empty == NULL ? NULL : new_array(integers, 1, &none);
    PyObject *all = NULL;
    if (other != NULL) {
        for (npy_intp k = 0; k < count; k++)
            memcpy(PyArray_BYTES(values) + k * item, lane + places[k] * item, item);
        all = PyTuple_Pack(3, values, empty, other);
    }
    Py_XDECREF(values);
    Py_XDECREF(empty);
    Py_XDECREF(other);
    return all;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* The first letter says what: "s" a sort, "a" its places alone, "k" the k largest or smallest, "q"
   the element of a rank, "m" the median, "w" that of all elements, "M" and "N" the largest and the
   smallest along a dimension, "C" and "D" those so far, "u" distinct values. Then come "d" for the dimension, "f" for a
   flag (whether the order descends, or dimensions are kept), "k" for a number of elements, "-" for
   what isn't read. */
static PyObject *order_array(const char *letters, PyObject *const *args)
{
    if (letters[0] == 'w')
        return find_median(args[0]);
    if (letters[0] == 'u')
        return find_distinct(args);
    Lanes whole, *lanes = &whole;
    PyObject *dim = NULL;
    char what = letters[0];
    int flag = 0;
    npy_intp count = -1;
    for (int k = 1; letters[k]; k++)
        if (letters[k] == 'd')
            dim = args[k];
    if (dim == NULL || !read_lanes(args[0], dim, lanes))
        return NULL;
    for (int k = 1; letters[k]; k++) {
        if (letters[k] == 'f') {
            if (!PyBool_Check(args[k]))
                return NULL;
            flag = args[k] == Py_True;
        }
        else if (letters[k] == 'k') {
            count = read_count(args[k], lanes->n);
            if (count < 1)
                return NULL;
        }
    }
    int sorts = strchr("sakqm", what) != NULL, scans = what == 'C' || what == 'D';
    if (sorts && (what == 'k' ? count : lanes->n) > LONGEST)
        return NULL;
    npy_intp n = lanes->n, inner = lanes->inner, kept = n, item = lanes->type == 'f' ? 4 : 8;
    if (what == 'k')
        cut(lanes, kept = count);
    else if (!scans && what != 's' && what != 'a')
        cut(lanes, flag), kept = 1;
    PyArrayObject *values = NULL;
    PyArrayObject *places = new_array(integers, lanes->rank, lanes->sizes);
    if (places == NULL)
        return NULL;
    if (what != 'a') {
        values = new_array(PyArray_DESCR((PyArrayObject *)args[0]), lanes->rank, lanes->sizes);
        if (values == NULL) {
            Py_DECREF(places);
            return NULL;
        }
    }
    npy_int64 *put = (npy_int64 *)PyArray_BYTES(places);
    char *to = values == NULL ? NULL : PyArray_BYTES(values);
    npy_int64 found[MOST];
    for (npy_intp o = 0; o < lanes->outer; o++)
        for (npy_intp i = 0; i < inner; i++) {
            const char *lane = lanes->from + (o * n * inner + i) * item;
            npy_int64 *first = found;
            if (scans) {
                if (!CALL(scan, n, inner, what == 'C', found))
                    goto plain;
            }
            else if (!sorts)
                found[0] = CALL(find, n, inner, what == 'M');
            else {
                if (what == 'm' && CALL(is_nan, n, inner))
                    goto plain; /* the first NaN */
                sort(lanes, lane, what != 'q' && what != 'm' && flag, what == 'k' ? count : n,
                     found);
                if (what == 'q')
                    first += count - 1;
                else if (what == 'm')
                    first += (n - 1) / 2;
            }
            for (npy_intp k = 0; k < kept; k++) {
                npy_intp at = (o * kept + k) * inner + i;
                put[at] = first[k];
                if (to != NULL)
                    memcpy(to + at * item, lane + first[k] * inner * item, item);
            }
        }
    if (values == NULL)
        return (PyObject *)places;
    PyObject *both = PyTuple_Pack(2, (PyObject *)values, (PyObject *)places);
    Py_DECREF(values);
    Py_DECREF(places);
    return both;
plain:
    Py_XDECREF(values);
    Py_DECREF(places);
    return NULL;
}

static PyObject *make_order(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, order_array);
}

static PyTypeObject order_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.orders.Order", "What the order of small arrays decides.",
    make_order);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "orders", "What the order of small arrays decides.", -1
};

PyMODINIT_FUNC PyInit_orders(void)
{
    import_array();
    integers = PyArray_DescrFromType(NPY_INT64);
    if (integers == NULL || start_loops() < 0 || PyType_Ready(&order_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Order", (PyObject *)&order_type) < 0)
        return NULL;
    return module;
}
