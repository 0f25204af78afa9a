/* What calls are looked up by: the types of arguments, and sizes. And how planned calls run. */
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

static PyObject *quick; /* a word */

/* Converts values, each by the function that is told with its place. Whether all could be. */
static int convert(PyObject *told, PyObject *values)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(told); k++) {
        PyObject *one = PyTuple_GET_ITEM(told, k); /* as `Plan` makes them */
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(one, 0));
        if (place < 0 || place >= PyList_GET_SIZE(values)) {
            PyErr_SetString(PyExc_ValueError, "no such argument");
            return 0;
        }
        PyObject *value = Py_NewRef(PyList_GET_ITEM(values, place));
        PyObject *made = PyObject_CallOneArg(PyTuple_GET_ITEM(one, 1), value);
        Py_DECREF(value);
        if (made == NULL || PyList_SetItem(values, place, made) < 0)
            return 0;
    }
    return 1;
}

/* The types of arguments, the names of keywords, and the types of their values. */
static PyObject *key_of(PyObject *module, PyObject *args, PyObject *words)
{
    Py_ssize_t count = PyDict_GET_SIZE(words), at = 0, k = 0;
    PyObject *types = types_of(module, args), *names = PyTuple_New(count);
    PyObject *kinds = PyTuple_New(count), *key = NULL, *name, *value;
    if (types != NULL && names != NULL && kinds != NULL) {
        for (; PyDict_Next(words, &at, &name, &value); k++) {
            PyTuple_SET_ITEM(names, k, Py_NewRef(name));
            PyTuple_SET_ITEM(kinds, k, Py_NewRef((PyObject *)Py_TYPE(value)));
        }
        key = PyTuple_Pack(3, types, names, kinds);
    }
    Py_XDECREF(types);
    Py_XDECREF(names);
    Py_XDECREF(kinds);
    return key;
}

/* Puts keywords in their places, which are told with their names. Whether all could be. */
static int fill_in(PyObject *told, PyObject *words, PyObject *values)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(told); k++) {
        PyObject *one = PyTuple_GET_ITEM(told, k); /* as `Plan` makes them */
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(one, 0));
        PyObject *value = PyDict_GetItemWithError(words, PyTuple_GET_ITEM(one, 1));
        if (value == NULL || place < 0 || place >= PyList_GET_SIZE(values)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "no such argument");
            return 0;
        }
        if (PyList_SetItem(values, place, Py_NewRef(value)) < 0)
            return 0;
    }
    return 1;
}

/* A call by its plan, where one of `plans` has for these types what runs, its operation, the
   arguments that follow, what is to be converted, from where on arguments are packed, and where
   keywords go; else `plans`, as where a conversion raises one of `misfits`. */
static PyObject *run_plan(PyObject *module, PyObject *const *given, Py_ssize_t number)
{
    if (number < 3 || number > 4 || !PyDict_CheckExact(given[0]) ||
        !PyTuple_CheckExact(given[1]) || !PyTuple_CheckExact(given[2]) ||
        (number == 4 && !PyDict_CheckExact(given[3]))) {
        PyErr_SetString(PyExc_TypeError, "run_plan() takes a dict, two tuples and maybe keywords");
        return NULL;
    }
    PyObject *plans = given[0], *args = given[1], *misfits = given[2];
    PyObject *words = number == 4 && PyDict_GET_SIZE(given[3]) > 0 ? given[3] : NULL;
    PyObject *key = words == NULL ? types_of(module, args) : key_of(module, args, words);
    if (key == NULL)
        return NULL;
    PyObject *plan = PyDict_GetItemWithError(plans, key);
    Py_DECREF(key);
    if (plan == NULL)
        return PyErr_Occurred() ? NULL : Py_NewRef(plans);
    PyObject *all = PyObject_GetAttr(plan, quick);
    if (all == NULL)
        return NULL;
    if (!PyTuple_CheckExact(all) || PyTuple_GET_SIZE(all) != 6) { /* None */
        Py_DECREF(all);
        return Py_NewRef(plans);
    }
    PyObject *found = NULL, *rest = PyTuple_GET_ITEM(all, 2);
    Py_ssize_t count = PyTuple_GET_SIZE(args), more = PyTuple_GET_SIZE(rest);
    Py_ssize_t single = PyLong_AsSsize_t(PyTuple_GET_ITEM(all, 4)); /* what follows is packed */
    int packs = single >= 0 && single <= count;
    if (!packs)
        single = count;
    PyObject *values = PyList_New(single + packs + more);
    if (values == NULL)
        goto done;
    for (Py_ssize_t k = 0; k < single; k++)
        PyList_SET_ITEM(values, k, Py_NewRef(PyTuple_GET_ITEM(args, k)));
    for (Py_ssize_t k = 0; k < more; k++)
        PyList_SET_ITEM(values, single + packs + k, Py_NewRef(PyTuple_GET_ITEM(rest, k)));
    if (packs) {
        PyObject *packed = PyTuple_GetSlice(args, single, count);
        if (packed == NULL)
            goto done;
        PyList_SET_ITEM(values, single, packed);
    }
    if (words != NULL && !fill_in(PyTuple_GET_ITEM(all, 5), words, values))
        goto done;
    if (!convert(PyTuple_GET_ITEM(all, 3), values)) {
        if (PyErr_ExceptionMatches(misfits)) {
            PyErr_Clear(); /* who finds no quick way says why */
            found = Py_NewRef(plans);
        }
        goto done;
    }
    PyObject *call[2] = {PyTuple_GET_ITEM(all, 1), values};
    found = PyObject_Vectorcall(PyTuple_GET_ITEM(all, 0), call, 2, NULL);
done:
    Py_XDECREF(values);
    Py_DECREF(all);
    return found;
}

static PyMethodDef methods[] = {
    {"run_plan", (PyCFunction)(void (*)(void))run_plan, METH_FASTCALL,
     "Runs a call by its plan for the types of its arguments; gives the plans where that can't."},
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
    quick = PyUnicode_InternFromString("quick");
    return quick == NULL ? NULL : PyModule_Create(&definition);
}
