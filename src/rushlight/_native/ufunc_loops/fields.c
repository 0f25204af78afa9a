/* What tensors are asked about their arrays: see `__init__.py`. */
#include "short.h"

static PyObject *raw, *size_type; /* the name of a tensor's array; the class of shapes */

/* A shape of the class that was named. */
static PyObject *shape_of(PyArrayObject *x)
{
    PyTypeObject *type = (PyTypeObject *)size_type;
    PyObject *found = type == NULL ? NULL : type->tp_alloc(type, PyArray_NDIM(x));
    for (int k = 0; found != NULL && k < PyArray_NDIM(x); k++) {
        PyObject *n = PyLong_FromSsize_t(PyArray_DIM(x, k));
        if (n == NULL)
            Py_CLEAR(found);
        else
            PyTuple_SET_ITEM(found, k, n);
    }
    return found;
}

/* "S": the shape, "D": how many dimensions, "N": how many elements, "C": whether they lie in order,
   "T": the tensor itself if they do. */
static PyObject *ask(const char *letters, PyObject *const *args)
{
    PyObject *found = NULL, *array = PyObject_GetAttr(args[0], raw);
    if (array == NULL) {
        PyErr_Clear(); /* who is asked otherwise says why */
        return NULL;
    }
    if (Py_TYPE(array) == &PyArray_Type) {
        PyArrayObject *x = (PyArrayObject *)array;
        switch (letters[0]) {
        case 'S': found = shape_of(x); break;
        case 'D': found = PyLong_FromLong(PyArray_NDIM(x)); break;
        case 'N': found = PyLong_FromSsize_t(PyArray_SIZE(x)); break;
        case 'C': found = PyBool_FromLong(PyArray_IS_C_CONTIGUOUS(x)); break;
        case 'T': found = PyArray_IS_C_CONTIGUOUS(x) ? Py_NewRef(args[0]) : NULL;
        }
    }
    Py_DECREF(array);
    return found;
}

static PyObject *make_field(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, ask);
}

static PyTypeObject field_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.fields.Field", "What a tensor is asked.", make_field);

/* ---- as an attribute ------------------------------------------------------------------------ */

/* In a class: what a property gives, asked in C. Who looks it up in the class gets the property. */
static PyObject *get(PyObject *me, PyObject *instance, PyObject *owner)
{
    Short *self = (Short *)me;
    PyObject *property = self->front.plain;
    if (instance == NULL)
        return Py_NewRef(property);
    PyObject *found = ask(self->letters, &instance);
    if (found != NULL || PyErr_Occurred())
        return found;
    return Py_TYPE(property)->tp_descr_get(property, instance, owner);
}

static int set(PyObject *me, PyObject *instance, PyObject *value)
{
    PyObject *property = ((Short *)me)->front.plain;
    return Py_TYPE(property)->tp_descr_set(property, instance, value);
}

static PyObject *make_attribute(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *made = make_short(type, args, names, ask);
    PyTypeObject *kind = made == NULL ? NULL : Py_TYPE(((Short *)made)->front.plain);
    if (kind != NULL && (kind->tp_descr_get == NULL || kind->tp_descr_set == NULL)) {
        Py_DECREF(made);
        PyErr_SetString(PyExc_TypeError, "an attribute stands before a property");
        return NULL;
    }
    return made;
}

static PyMemberDef members[] = {
    {"function", T_OBJECT, offsetof(Front, plain), READONLY, "The property that it stands for."},
    {NULL}
};

static PyTypeObject attribute_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "rushlight._native.ufunc_loops.fields.Attribute",
    .tp_doc = "What a tensor is asked as an attribute.",
    .tp_basicsize = sizeof(Short),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = make_attribute,
    .tp_traverse = (traverseproc)traverse_front,
    .tp_dealloc = (destructor)dealloc_front,
    .tp_descr_get = get,
    .tp_descr_set = set,
    .tp_members = members,
};

/* Names the class of shapes, a class of tuples without anything of its own. */
static PyObject *set_size(PyObject *module, PyObject *type)
{
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &PyTuple_Type) ||
        ((PyTypeObject *)type)->tp_basicsize != PyTuple_Type.tp_basicsize) {
        PyErr_SetString(PyExc_TypeError, "set_size() takes a class of tuples");
        return NULL;
    }
    Py_XSETREF(size_type, Py_NewRef(type));
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_size", set_size, METH_O, "Names the class of shapes."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "fields", "What tensors are asked about their arrays.", -1, methods
};

PyMODINIT_FUNC PyInit_fields(void)
{
    import_array();
    raw = PyUnicode_InternFromString("_raw");
    if (raw == NULL || start_loops() < 0 || PyType_Ready(&field_type) < 0 ||
        PyType_Ready(&attribute_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Field", (PyObject *)&field_type) < 0 ||
        PyModule_AddObjectRef(module, "Attribute", (PyObject *)&attribute_type) < 0)
        return NULL;
    return module;
}
