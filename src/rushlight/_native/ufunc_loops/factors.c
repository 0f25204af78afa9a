/* Factors of small matrices by the loops of NumPy's linear algebra, which call its LAPACK: see
   `__init__.py`. */
#include "short.h"

#define LARGEST 32 /* rows */
#define FEW 64     /* elements of a matrix that is factored in double precision: see `householder.py` */
#define MOST 1024  /* elements of a transform */

static Loop lower_factor;
static PyArray_Descr *codes, *pairs[2];
static double one = 1;

/* A loop for operands of some types, which not every NumPy has. */
typedef struct {
    PyUFuncGenericFunction call;
    void *data;
} Special;

static Special reflectors, orthonormal, transforms[2]; /* of even and odd lengths */

/* A matrix whose columns lie together in memory, as `lapack.columns` makes them. */
static PyArrayObject *new_columns(PyArray_Descr *descr, npy_intp rows, npy_intp columns)
{
    npy_intp sizes[2] = {rows, columns}, item = descr == floats[0] ? 4 : 8;
    npy_intp strides[2] = {item, item * rows};
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, 2, sizes, strides, NULL, 0,
                                                 NULL);
}

/* The lower factor of a positive matrix, and 0, which says that it is one. */
static PyObject *factor(PyArrayObject *x, int type)
{
    npy_intp rows = PyArray_DIM(x, 0), sizes[2] = {1, rows};
    PyArrayObject *out = new_columns(floats[type], rows, rows);
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

/* Numbers rounded to the type of the matrix that is factored. */
static void round_all(double *values, npy_intp count, int type)
{
    for (npy_intp k = 0; type == 0 && k < count; k++)
        values[k] = (float)values[k];
}

static void put(PyArrayObject *out, npy_intp at, double value, int type)
{
    if (type == 0)
        ((float *)PyArray_BYTES(out))[at] = (float)value;
    else
        ((double *)PyArray_BYTES(out))[at] = value;
}

/* Q and R of a small matrix, in double precision; reflectors are rounded between, as they are where
   they are results. */
static PyObject *take_qr(PyArrayObject *x, PyObject *mode, int type)
{
    if (type < 0 || reflectors.call == NULL || orthonormal.call == NULL || PyArray_NDIM(x) != 2 ||
        PyArray_SIZE(x) < 1 || PyArray_SIZE(x) > FEW || !PyUnicode_CheckExact(mode) ||
        PyUnicode_CompareWithASCIIString(mode, "reduced") != 0)
        return NULL;
    npy_intp rows = PyArray_DIM(x, 0), columns = PyArray_DIM(x, 1);
    npy_intp count = rows < columns ? rows : columns, by = rows * 8;
    double a[FEW], factors[FEW], q[FEW];
    for (npy_intp j = 0; j < columns; j++)
        for (npy_intp i = 0; i < rows; i++) {
            const char *at = PyArray_BYTES(x) + i * PyArray_STRIDE(x, 0) + j * PyArray_STRIDE(x, 1);
            a[j * rows + i] = type == 0 ? *(const float *)at : *(const double *)at;
        }
    char *first[2] = {(char *)a, (char *)factors};
    npy_intp sizes[4] = {1, rows, columns, count}, steps[5] = {0, 0, 8, by, 8};
    reflectors.call(first, sizes, steps, reflectors.data);
    round_all(a, rows * columns, type);
    round_all(factors, count, type);
    PyArrayObject *r = new_columns(floats[type], count, columns);
    PyArrayObject *out = r == NULL ? NULL : new_columns(floats[type], rows, count);
    PyObject *both = NULL;
    if (out != NULL) {
        for (npy_intp j = 0; j < columns; j++)
            for (npy_intp i = 0; i < count; i++)
                put(r, j * count + i, i <= j ? a[j * rows + i] : 0, type);
        char *second[3] = {(char *)a, (char *)factors, (char *)q};
        npy_intp of[4] = {1, rows, count, count}, by_all[8] = {0, 0, 0, 8, by, 8, 8, by};
        orthonormal.call(second, of, by_all, orthonormal.data);
        for (npy_intp k = 0; k < rows * count; k++)
            put(out, k, q[k], type);
        if (!PyErr_Occurred())
            both = PyTuple_Pack(2, out, r);
    }
    Py_XDECREF(out);
    Py_XDECREF(r);
    return both;
}

/* The one-sided transform of a dense real array along its last dimension, in double precision, as
   `np.fft` has it. */
static PyObject *take_transform(PyArrayObject *x, PyObject *const *args, int type)
{
    int rank = type < 0 ? 0 : PyArray_NDIM(x);
    if (rank < 1 || rank > 8 || PyArray_SIZE(x) > MOST || !is_dense(x) || args[3] != Py_True ||
        !PyTuple_CheckExact(args[1]) || PyTuple_GET_SIZE(args[1]) != 1 ||
        !PyLong_CheckExact(args[2]) || PyLong_AsLong(args[2]) != 0 || /* normalised: not here */
        !PyLong_CheckExact(PyTuple_GET_ITEM(args[1], 0)) ||
        PyLong_AsLong(PyTuple_GET_ITEM(args[1], 0)) != rank - 1)
        return PyErr_Clear(), NULL;
    npy_intp sizes[8], n = PyArray_DIM(x, rank - 1), half = n / 2 + 1;
    for (int k = 0; k < rank; k++)
        if ((sizes[k] = PyArray_DIM(x, k)) < 2)
            return NULL;
    Special *loop = &transforms[n & 1];
    if (loop->call == NULL)
        return NULL;
    sizes[rank - 1] = half;
    PyArrayObject *out = new_array(pairs[type], rank, sizes);
    if (out == NULL)
        return NULL;
    npy_intp size = PyArray_SIZE(x), of[3] = {size / n, n, half};
    npy_intp steps[5] = {n * 8, 0, half * 16, 8, 16};
    double given[MOST], found[MOST * 2]; /* lines have half as many pairs as elements, and one */
    char *places[3] = {PyArray_BYTES(x), (char *)&one, PyArray_BYTES(out)};
    for (npy_intp k = 0; type == 0 && k < size; k++)
        given[k] = ((const float *)PyArray_BYTES(x))[k];
    if (type == 0)
        places[0] = (char *)given, places[2] = (char *)found;
    loop->call(places, of, steps, loop->data);
    if (PyErr_Occurred())
        Py_CLEAR(out);
    for (npy_intp k = 0; type == 0 && out != NULL && k < PyArray_SIZE(out) * 2; k++)
        ((float *)PyArray_BYTES(out))[k] = (float)found[k];
    return (PyObject *)out;
}

/* "C" for the factor of a matrix, with "u" and "c" for what has to be False; "Q" for Q and R, with
   "m" for what is wanted; "F" for a transform, with the dimensions, the normalisation and whether
   only one side is wanted. */
static PyObject *take_factor(const char *letters, PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    int type = type_of(args[0]);
    if (letters[0] == 'Q')
        return take_qr(x, args[1], type);
    if (letters[0] == 'F')
        return take_transform(x, args, type);
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

/* The loop of a function for operands of these types, where this NumPy has it. */
static void find_special(const char *module, const char *name, const char *signature,
                         const int *types, int count, Special *loop)
{
    PyObject *home = PyImport_ImportModule(module), *said = NULL;
    PyObject *ufunc = home == NULL ? NULL : PyObject_GetAttrString(home, name);
    if (ufunc != NULL && PyObject_TypeCheck(ufunc, &PyUFunc_Type)) {
        PyUFuncObject *known = (PyUFuncObject *)ufunc;
        said = PyObject_GetAttrString(ufunc, "signature");
        int apt = known->nargs == count && said != NULL && PyUnicode_Check(said) &&
                  PyUnicode_CompareWithASCIIString(said, signature) == 0;
        for (int i = 0; apt && loop->call == NULL && i < known->ntypes; i++) {
            int same = known->functions[i] != NULL;
            for (int k = 0; k < count; k++)
                same = same && known->types[i * count + k] == types[k];
            if (same) {
                loop->call = known->functions[i];
                loop->data = known->data == NULL ? NULL : known->data[i];
            }
        }
    }
    PyErr_Clear();
    Py_XDECREF(said);
    Py_XDECREF(ufunc); /* which NumPy keeps, and its loops with it */
    Py_XDECREF(home);
}

static void find_specials(void)
{
    static const int doubles[3] = {NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE};
    static const int whole[3] = {NPY_DOUBLE, NPY_DOUBLE, NPY_CDOUBLE};
    static const char *algebra = "numpy.linalg._umath_linalg", *fft = "numpy.fft._pocketfft_umath";
    find_special(algebra, "qr_r_raw", "(m,n)->(p)", doubles, 2, &reflectors);
    find_special(algebra, "qr_reduced", "(m,n),(k)->(m,k)", doubles, 3, &orthonormal);
    find_special(fft, "rfft_n_even", "(n),()->(m)", whole, 3, &transforms[0]);
    find_special(fft, "rfft_n_odd", "(n),()->(m)", whole, 3, &transforms[1]);
}

PyMODINIT_FUNC PyInit_factors(void)
{
    import_array();
    import_umath();
    codes = PyArray_DescrFromType(NPY_INT32);
    pairs[0] = PyArray_DescrFromType(NPY_CFLOAT);
    pairs[1] = PyArray_DescrFromType(NPY_CDOUBLE);
    if (codes == NULL || pairs[0] == NULL || pairs[1] == NULL || start_loops() < 0 || PyType_Ready(&factor_type) < 0)
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
    find_specials();
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Factor", (PyObject *)&factor_type) < 0)
        return NULL;
    return module;
}
