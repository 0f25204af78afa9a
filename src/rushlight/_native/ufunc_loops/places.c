/* The elements and the parts of small arrays that indices name: see `__init__.py`. */
#include "short.h"

#define DIMENSIONS 8
#define MOST 4096        /* indices */
#define BYTES (1 << 16) /* of a result */

static PyArray_Descr *integers;

/* Whether an array holds numbers or bools. */
static int holds_numbers(PyObject *x)
{
    return Py_TYPE(x) == &PyArray_Type && (PyTypeNum_ISNUMBER(PyArray_TYPE((PyArrayObject *)x)) ||
                                           PyTypeNum_ISBOOL(PyArray_TYPE((PyArrayObject *)x)));
}

/* Indices that are few and lie one after the other. */
static const npy_int64 *read_indices(PyObject *x)
{
    PyArrayObject *array = (PyArrayObject *)x;
    if (Py_TYPE(x) != &PyArray_Type || PyArray_DESCR(array) != integers ||
        !PyArray_ISALIGNED(array) || !is_dense(array) || PyArray_SIZE(array) < 1 ||
        PyArray_SIZE(array) > MOST)
        return NULL;
    return (const npy_int64 *)PyArray_BYTES(array);
}

/* For an array, a dimension and as many indices as the result has elements. */
static PyObject *gather(PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0], *index = (PyArrayObject *)args[2];
    const npy_int64 *at = holds_numbers(args[0]) ? read_indices(args[2]) : NULL;
    int rank = at == NULL ? 0 : PyArray_NDIM(x);
    if (rank < 1 || rank > DIMENSIONS || PyArray_NDIM(index) != rank)
        return NULL;
    int dim = read_dim(args[1], rank);
    if (dim < 0)
        return NULL;
    npy_intp size = PyArray_SIZE(index), many = PyArray_DIM(x, dim);
    for (int k = 0; k < rank; k++)
        if (k != dim && PyArray_DIM(index, k) > PyArray_DIM(x, k))
            return NULL;
    for (npy_intp k = 0; k < size; k++)
        if (at[k] < 0 || at[k] >= many)
            return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, PyArray_DIMS(index));
    if (out == NULL)
        return NULL;
    npy_intp item = PyArray_ITEMSIZE(x), place[DIMENSIONS] = {0}, along = PyArray_STRIDE(x, dim);
    const char *from = PyArray_BYTES(x); /* the place but for `dim` */
    char *to = PyArray_BYTES(out);
    for (npy_intp k = 0; k < size; k++, to += item) {
        memcpy(to, from + at[k] * along, item);
        for (int d = rank; d-- > 0;) {
            npy_intp step = d == dim ? 0 : PyArray_STRIDE(x, d);
            from += step;
            if (++place[d] < PyArray_DIM(index, d))
                break;
            from -= step * place[d];
            place[d] = 0;
        }
    }
    return (PyObject *)out;
}

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
    for (npy_intp k = 0; k < size; k++)
        if (at[k] < 0 || at[k] >= many)
            return NULL;
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, sizes);
    if (out == NULL)
        return NULL;
    const char *from = PyArray_BYTES(x);
    char *to = PyArray_BYTES(out);
    for (npy_intp o = 0; o < outer; o++, from += many * inner)
        for (npy_intp k = 0; k < size; k++, to += inner)
            memcpy(to, from + at[k] * inner, inner);
    return (PyObject *)out;
}

/* The letter says which: "G" elements, for an array, a dimension, indices and a flag that isn't
   read; "I" parts, for an array, a dimension and indices. */
static PyObject *take_places(const char *letters, PyObject *const *args)
{
    return letters[0] == 'G' ? gather(args) : select_parts(args);
}

static PyObject *make_places(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, take_places);
}

static PyTypeObject places_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.places.Places", "What indices name in small arrays.",
    make_places);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "places", "What indices name in small arrays.", -1
};

PyMODINIT_FUNC PyInit_places(void)
{
    import_array();
    integers = PyArray_DescrFromType(NPY_INT64);
    if (integers == NULL || PyType_Ready(&places_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Places", (PyObject *)&places_type) < 0)
        return NULL;
    return module;
}
