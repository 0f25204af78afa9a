/* What calls are looked up by: the types of arguments, and sizes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *types_of(PyObject *module, PyObject *args)
{
    if (!PyTuple_CheckExact(args)) {
        PyErr_SetString(PyExc_TypeError, "types_of() takes a tuple");
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *found = PyTuple_New(count);
    for (Py_ssize_t k = 0; found != NULL && k < count; k++)
        PyTuple_SET_ITEM(found, k, Py_NewRef((PyObject *)Py_TYPE(PyTuple_GET_ITEM(args, k))));
    return found;
}

static PyObject *sizes_of(PyObject *module, PyObject *args)
{
    if (!PyTuple_CheckExact(args)) {
        PyErr_SetString(PyExc_TypeError, "sizes_of() takes a tuple");
        return NULL;
    }
    PyObject *sizes = args, *only = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (PyTuple_GET_SIZE(args) == 0)
        Py_RETURN_NONE;
    if (only != NULL && (PyTuple_Check(only) || PyList_Check(only))) {
        sizes = PySequence_Tuple(only);
        if (sizes == NULL)
            return NULL;
    }
    else
        Py_INCREF(sizes);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(sizes); k++)
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(sizes, k))) {
            Py_DECREF(sizes);
            Py_RETURN_NONE;
        }
    return sizes;
}

static PyMethodDef methods[] = {
    {"types_of", types_of, METH_O, "The types of the items of a tuple."},
    {"sizes_of", sizes_of, METH_O,
     "The sizes that arguments give one by one or as one sequence; None unless all are ints."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "calls", "What calls are looked up by.", -1, methods
};

PyMODINIT_FUNC PyInit_calls(void)
{
    return PyModule_Create(&definition);
}
