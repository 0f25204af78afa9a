/* What the extension modules for small arrays ask of arrays and of ufuncs: see `__init__.py`. */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#include <Python.h>
#include <structmember.h>
#include <string.h>
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

typedef struct {
    PyUFuncGenericFunction call[2]; /* for float32 and for float64 */
    void *data[2];
} Loop;

static PyArray_Descr *floats[2];

/* 0 for an aligned ndarray of float32, 1 for one of float64, else -1. */
static inline int type_of(PyObject *x)
{
    if (Py_TYPE(x) != &PyArray_Type || !PyArray_ISALIGNED((PyArrayObject *)x))
        return -1;
    PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)x);
    return descr == floats[0] ? 0 : descr == floats[1] ? 1 : -1;
}

/* The loops of a ufunc whose operands, `count` of them, all have one type. Whether it has them. */
static inline int read_loops(PyObject *ufunc, int count, int core, Loop *loop)
{
    int found = 0;
    if (!PyObject_TypeCheck(ufunc, &PyUFunc_Type))
        return 0;
    PyUFuncObject *known = (PyUFuncObject *)ufunc;
    if (known->nout != 1 || known->nargs != count || !known->core_enabled != !core)
        return 0;
    for (int i = 0; i < known->ntypes; i++)
        for (int type = 0; type < 2; type++) {
            int same = known->functions[i] != NULL;
            for (int k = 0; k < count; k++)
                same = same && known->types[i * count + k] == (type == 0 ? NPY_FLOAT : NPY_DOUBLE);
            if (same && !(found & (1 << type))) {
                loop->call[type] = known->functions[i];
                loop->data[type] = known->data == NULL ? NULL : known->data[i];
                found |= 1 << type;
            }
        }
    return found == 3;
}

static inline int start_loops(void)
{
    floats[0] = PyArray_DescrFromType(NPY_FLOAT);
    floats[1] = PyArray_DescrFromType(NPY_DOUBLE);
    return floats[0] != NULL && floats[1] != NULL ? 0 : -1;
}
