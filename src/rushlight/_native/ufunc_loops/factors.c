/* Factors of small matrices by the loops of NumPy's linear algebra, which call its LAPACK: see
   `__init__.py`. */
#include "short.h"

#define LARGEST 32 /* rows */

static Loop lower_factor;
static PyArray_Descr *codes;

/* A matrix whose columns lie together in memory, as `lapack.columns` makes them. */
static PyArrayObject *new_columns(PyArray_Descr *descr, npy_intp rows)
{
    npy_intp sizes[2] = {rows, rows}, item = descr == floats[0] ? 4 : 8;
    npy_intp strides[2] = {item, item * rows};
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, 2, sizes, strides, NULL, 0,
                                                 NULL);
}

/* The lower factor of a positive matrix, and 0, which says that it is one. */
static PyObject *factor(PyArrayObject *x, int type)
{
    npy_intp rows = PyArray_DIM(x, 0), sizes[2] = {1, rows};
    PyArrayObject *out = new_columns(floats[type], rows);
    if (out == NULL)
        return NULL;
    npy_intp steps[6] = {0, 0, PyArray_STRIDE(x, 0), PyArray_STRIDE(x, 1), PyArray_STRIDE(out, 0),
                         PyArray_STRIDE(out, 1)};
    char *places[2] = {PyArray_BYTES(x), PyArray_BYTES(out)};
    lower_factor.call[type](places, sizes, steps, lower_factor.data[type]);
    const char *last = PyArray_BYTES(out) + (rows - 1) * (steps[4] + steps[5]);
    double pivot = type == 0 ? *(const float *)last : *(const double *)last;
    PyObject *code = NULL, *both = NULL;
    if (pivot == pivot) { /* else the plain function says where it fails */
        Py_INCREF(codes);
        code = PyArray_Zeros(0, NULL, codes, 0);
    }
    if (code != NULL)
        both = PyTuple_Pack(2, out, code);
    Py_DECREF(out);
    Py_XDECREF(code);
    return both;
}

/* "C" for the factor of a matrix, with "u" and "c" for what has to be False. */
static PyObject *take_factor(const char *letters, PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    int type = type_of(args[0]);
    if (type < 0 || PyArray_NDIM(x) != 2 || PyArray_DIM(x, 0) != PyArray_DIM(x, 1) ||
        PyArray_DIM(x, 0) < 1 || PyArray_DIM(x, 0) > LARGEST || letters[0] != 'C')
        return NULL;
    for (int k = 1; letters[k] != '\0'; k++)
        if (args[k] != Py_False)
            return NULL;
    return factor(x, type);
}

static PyObject *make_factor(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, take_factor);
}

static PyTypeObject factor_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.factors.Factor", "Factors of small matrices.", make_factor);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "factors", "Factors of small matrices.", -1
};

PyMODINIT_FUNC PyInit_factors(void)
{
    import_array();
    import_umath();
    codes = PyArray_DescrFromType(NPY_INT32);
    if (codes == NULL || start_loops() < 0 || PyType_Ready(&factor_type) < 0)
        return NULL;
    PyObject *home = PyImport_ImportModule("numpy.linalg._umath_linalg");
    PyObject *ufunc = home == NULL ? NULL : PyObject_GetAttrString(home, "cholesky_lo");
    int found = ufunc != NULL && read_loops(ufunc, 2, 1, &lower_factor);
    Py_XDECREF(ufunc); /* which NumPy keeps, and its loops with it */
    Py_XDECREF(home);
    if (!found) {
        PyErr_SetString(PyExc_ImportError, "this NumPy has other loops");
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Factor", (PyObject *)&factor_type) < 0)
        return NULL;
    return module;
}
