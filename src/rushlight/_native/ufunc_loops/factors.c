/* Factors of small matrices: of positive ones by the loops of NumPy's linear algebra, which call
   its LAPACK; of others by reflections. See `__init__.py`. */
#include "short.h"
#include <math.h>

#define LARGEST 32 /* rows of a positive matrix */
#define SIDE 8 /* rows and columns of one that is reflected */

static Loop lower_factor;
static PyArray_Descr *codes;

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

static double read_at(const char *place, int type)
{
    return type == 0 ? *(const float *)place : *(const double *)place;
}

/* Columns of `count` elements each, which are SIDE apart, times 1 - tau v v', where v begins with
   1, which isn't written there. */
static void reflect(const double *v, double tau, double *x, npy_intp count, npy_intp columns)
{
    for (npy_intp j = 0; j < columns; j++, x += SIDE) {
        double part = x[0];
        for (npy_intp i = 1; i < count; i++)
            part += v[i] * x[i];
        part *= tau;
        x[0] -= part;
        for (npy_intp i = 1; i < count; i++)
            x[i] -= part * v[i];
    }
}

/* Turns the columns of a matrix into those of R, with the reflections below, as LAPACK does. Not
   where rounding would decide the direction of one: then it has to be LAPACK's. */
static int triangulate(double *a, double *taus, npy_intp rows, npy_intp columns, double least)
{
    npy_intp sides = rows < columns ? rows : columns;
    for (npy_intp k = 0; k < sides; k++) {
        double *v = a + k * SIDE + k, squares = 0, first = v[0];
        for (npy_intp i = 1; i < rows - k; i++)
            squares += v[i] * v[i];
        double length = sqrt(first * first + squares);
        if (length <= least)
            return 0;
        taus[k] = 0;
        if (squares == 0)
            continue;
        double end = -copysign(length, first);
        taus[k] = (end - first) / end;
        for (npy_intp i = 1; i < rows - k; i++)
            v[i] /= first - end;
        reflect(v, taus[k], v + SIDE, rows - k, columns - k - 1);
        v[0] = end;
    }
    return 1;
}

/* A new matrix of the first rows and columns; with zeros below the diagonal for R. */
static PyArrayObject *put_down(const double *a, npy_intp rows, npy_intp columns, int type,
                               int upper)
{
    PyArrayObject *out = new_columns(floats[type], rows, columns);
    for (npy_intp j = 0; out != NULL && j < columns; j++)
        for (npy_intp i = 0; i < rows; i++) {
            double value = upper && i > j ? 0 : a[j * SIDE + i];
            if (type == 0)
                ((float *)PyArray_DATA(out))[j * rows + i] = (float)value;
            else
                ((double *)PyArray_DATA(out))[j * rows + i] = value;
        }
    return out;
}

/* Q with orthonormal columns and R upper triangular, whose product a matrix is. */
static PyObject *reflect_matrix(PyArrayObject *x, int type)
{
    npy_intp rows = PyArray_DIM(x, 0), columns = PyArray_DIM(x, 1);
    npy_intp count = rows < columns ? rows : columns;
    double a[SIDE * SIDE], q[SIDE * SIDE] = {0}, taus[SIDE], most = 0;
    double far = type == 0 ? 1e18 : 1e100; /* its square is in range, and that of its inverse */
    if (rows < 1 || rows > SIDE || columns < 1 || columns > SIDE)
        return NULL;
    for (npy_intp j = 0; j < columns; j++)
        for (npy_intp i = 0; i < rows; i++) {
            double value = read_at(PyArray_GETPTR2(x, i, j), type), size = fabs(value);
            if (!(size <= far) || (size < 1 / far && size != 0))
                return NULL; /* not a number, too */
            a[j * SIDE + i] = value;
            most = size > most ? size : most;
        }
    if (!triangulate(a, taus, rows, columns, most * (type == 0 ? 1e-4 : 1e-12)))
        return NULL;
    for (npy_intp k = 0; k < count; k++)
        q[k * SIDE + k] = 1;
    for (npy_intp k = count; k-- > 0;)
        reflect(a + k * SIDE + k, taus[k], q + k * SIDE + k, rows - k, count - k);
    PyArrayObject *first = put_down(q, rows, count, type, 0);
    PyArrayObject *second = first == NULL ? NULL : put_down(a, count, columns, type, 1);
    PyObject *both = second == NULL ? NULL : PyTuple_Pack(2, first, second);
    Py_XDECREF(first);
    Py_XDECREF(second);
    return both;
}

/* "C" for the factor of a positive matrix, with "u" and "c" for what has to be False; "Q" for
   reflections, with "m" for how much is wanted of Q. */
static PyObject *take_factor(const char *letters, PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    int type = type_of(args[0]);
    if (type < 0 || PyArray_NDIM(x) != 2)
        return NULL;
    if (letters[0] == 'Q') {
        if (!PyUnicode_CheckExact(args[1]) ||
            PyUnicode_CompareWithASCIIString(args[1], "reduced") != 0)
            return NULL;
        return reflect_matrix(x, type);
    }
    if (PyArray_DIM(x, 0) != PyArray_DIM(x, 1) || PyArray_DIM(x, 0) < 1 ||
        PyArray_DIM(x, 0) > LARGEST || letters[0] != 'C')
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
