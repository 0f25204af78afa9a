/* Nodes of the graph that Python's collector doesn't walk through: see `__init__.py`. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define DEEP 4 /* tuples in tuples that are looked into */

static PyTypeObject *node_type, *tensor_type, *operation_type; /* NULL: nothing is done */
static PyObject *get_objects, *youngest;
static PyObject *next_of_node, *plain_of_tensor; /* descriptors, which run no code of a subclass */

/* What a descriptor gives for `x`: a new reference, or NULL without an error. */
static PyObject *get(PyObject *descriptor, PyObject *x)
{
    PyObject *found = Py_TYPE(descriptor)->tp_descr_get(descriptor, x, (PyObject *)Py_TYPE(x));
    if (found == NULL)
        PyErr_Clear(); /* it isn't finished */
    return found;
}

/* Whether a tensor has no layer, tangent or rules of its own: with those a node saves its result,
   which leads back to it. */
static int is_plain(PyObject *tensor)
{
    PyObject *found = get(plain_of_tensor, tensor);
    Py_XDECREF(found);
    return found == Py_True;
}

/* Whether a value leads back by no way: a plain tensor, a number, a text, an array, tuples of such. */
static int is_value(PyObject *x, int depth)
{
    if (!PyObject_IS_GC(x))
        return 1;
    if (PyObject_TypeCheck(x, tensor_type))
        return is_plain(x);
    if (!PyTuple_CheckExact(x) || depth == DEEP)
        return 0;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(x); k++) {
        PyObject *item = PyTuple_GET_ITEM(x, k);
        if (item != NULL && !PyObject_TypeCheck(item, node_type) && !is_value(item, depth + 1))
            return 0;
    }
    return 1;
}

/* What a node refers to: 1, which ends the walk, for what could lead back to it by a way of the
   user's own, such as hooks. */
static int refuse_others(PyObject *x, void *unused)
{
    return !(is_value(x, 0) || PyType_Check(x) || PyObject_TypeCheck(x, operation_type));
}

static int untrack_tuple(PyObject *x, void *unused)
{
    /* The core made it for this node, or for all nodes of a kind. */
    if (PyTuple_CheckExact(x) && PyObject_GC_IsTracked(x))
        PyObject_GC_UnTrack(x);
    return 0;
}

/* Whether gradients go to nodes only: who refers to a leaf must be found. */
static int leads_to_nodes(PyObject *x)
{
    PyObject *next = get(next_of_node, x);
    int found = next != NULL && PyTuple_CheckExact(next);
    for (Py_ssize_t k = 0; found && k < PyTuple_GET_SIZE(next); k++) {
        PyObject *item = PyTuple_GET_ITEM(next, k);
        found = item == Py_None || PyObject_TypeCheck(item, node_type);
    }
    Py_XDECREF(next);
    return found;
}

static void untrack_plain(PyObject *x)
{
    PyTypeObject *type = Py_TYPE(x);
    /* A class of the table's: it adds no memory and no dictionary to a node's. */
    if (type->tp_base != node_type || type->tp_basicsize != node_type->tp_basicsize ||
        type->tp_dictoffset != 0 || !leads_to_nodes(x) ||
        type->tp_traverse(x, refuse_others, NULL) != 0)
        return;
    type->tp_traverse(x, untrack_tuple, NULL);
    PyObject_GC_UnTrack(x);
}

static PyObject *prepare(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    const char *phase = count == 2 && PyUnicode_Check(args[0]) ? PyUnicode_AsUTF8(args[0]) : NULL;
    if (phase == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "prepare() takes a phase and what is known of it");
        return NULL;
    }
    if (phase[0] == 's' && node_type != NULL) {
        PyObject *young = PyObject_CallOneArg(get_objects, youngest);
        if (young == NULL)
            return NULL;
        for (Py_ssize_t k = 0; PyList_Check(young) && k < PyList_GET_SIZE(young); k++)
            untrack_plain(PyList_GET_ITEM(young, k));
        Py_DECREF(young);
    }
    Py_RETURN_NONE;
}

static PyObject *track(PyObject *module, PyObject *x)
{
    if (node_type != NULL && PyObject_TypeCheck(x, node_type) && !PyObject_GC_IsTracked(x))
        PyObject_GC_Track(x);
    Py_RETURN_NONE;
}

static PyObject *set_classes(PyObject *module, PyObject *args)
{
    PyObject *node, *tensor, *operation;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyType_Type, &node, &PyType_Type, &tensor, &PyType_Type,
                          &operation))
        return NULL;
    if (!PyType_IS_GC((PyTypeObject *)node)) {
        PyErr_SetString(PyExc_TypeError, "the collector doesn't know such nodes");
        return NULL;
    }
    PyObject *collector = PyImport_ImportModule("gc");
    PyObject *asked = collector ? PyObject_GetAttrString(collector, "get_objects") : NULL;
    PyObject *next = asked ? PyObject_GetAttrString(node, "next") : NULL;
    PyObject *plain = next ? PyObject_GetAttrString(tensor, "_plain") : NULL;
    Py_XDECREF(collector);
    if (plain == NULL || !Py_TYPE(next)->tp_descr_get || !Py_TYPE(plain)->tp_descr_get) {
        Py_XDECREF(asked);
        Py_XDECREF(next);
        Py_XDECREF(plain);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "`next` and `_plain` are no descriptors");
        return NULL;
    }
    Py_XSETREF(get_objects, asked);
    Py_XSETREF(next_of_node, next);
    Py_XSETREF(plain_of_tensor, plain);
    Py_XSETREF(tensor_type, (PyTypeObject *)Py_NewRef(tensor));
    Py_XSETREF(operation_type, (PyTypeObject *)Py_NewRef(operation));
#ifndef Py_GIL_DISABLED /* there other threads may hold and change what is walked through */
    Py_XSETREF(node_type, (PyTypeObject *)Py_NewRef(node));
#endif
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"prepare", (PyCFunction)(void (*)(void))prepare, METH_FASTCALL,
     "Leaves plain young nodes out of the collection that begins: one of `gc.callbacks`."},
    {"set_classes", set_classes, METH_VARARGS, "Names the classes of nodes, tensors and ops."},
    {"track", track, METH_O, "Has the collector see a node again."},
    {NULL}
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "rushlight._native.collector.untracking",
    "Nodes that the collector of garbage leaves out.", -1, functions,
};

PyMODINIT_FUNC PyInit_untracking(void)
{
    youngest = PyLong_FromLong(0);
    return youngest == NULL ? NULL : PyModule_Create(&definition);
}
