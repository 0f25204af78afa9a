/* What tensors are asked about their arrays: see `__init__.py`. */
#include "short.h"

#define SHORT (1 << 14) /* bytes that are moved at once */

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

/* ---- where an array lies -------------------------------------------------------------------- */

static int refuse_others(PyObject *x)
{
    if (PyArray_Check(x))
        return 0;
    PyErr_Format(PyExc_TypeError, "an array is needed, not %s", Py_TYPE(x)->tp_name);
    return -1;
}

/* The array that owns the memory: a borrowed reference, as `x` or a base that `x` holds. */
static PyArrayObject *find_owner(PyArrayObject *x)
{
    for (PyObject *base; (base = PyArray_BASE(x)) != NULL && PyArray_Check(base);)
        x = (PyArrayObject *)base;
    return x;
}

static PyObject *owner(PyObject *module, PyObject *x)
{
    return Py_NewRef(PyArray_Check(x) ? (PyObject *)find_owner((PyArrayObject *)x) : x);
}

static PyObject *address(PyObject *module, PyObject *x)
{
    if (refuse_others(x) < 0)
        return NULL;
    return PyLong_FromSsize_t(
        PyArray_SIZE((PyArrayObject *)x) == 0 ? 0 : (Py_ssize_t)PyArray_DATA((PyArrayObject *)x));
}

/* As Python divides whole numbers; `size` is positive. */
static npy_intp divide(npy_intp n, npy_intp size)
{
    return n / size - (n % size < 0);
}

static PyObject *storage_offset(PyObject *module, PyObject *array)
{
    if (!PyArray_Check(array)) /* a number has its own memory */
        return PyLong_FromLong(0);
    PyArrayObject *x = (PyArrayObject *)array, *whole = find_owner(x);
    npy_intp size = PyArray_ITEMSIZE(x);
    if (whole == x || PyArray_SIZE(x) == 0 || size == 0)
        return PyLong_FromLong(0);
    return PyLong_FromSsize_t(divide(PyArray_BYTES(x) - PyArray_BYTES(whole), size));
}

static PyObject *element_strides(PyObject *module, PyObject *array)
{
    if (PyArray_IsScalar(array, Generic))
        return PyTuple_New(0);
    if (refuse_others(array) < 0)
        return NULL;
    PyArrayObject *x = (PyArrayObject *)array;
    int rank = PyArray_NDIM(x);
    npy_intp size = PyArray_ITEMSIZE(x);
    PyObject *found = PyTuple_New(rank);
    for (int k = 0; found != NULL && k < rank; k++) {
        PyObject *n = PyLong_FromSsize_t(size == 0 ? 0 : divide(PyArray_STRIDE(x, k), size));
        if (n == NULL)
            Py_CLEAR(found);
        else
            PyTuple_SET_ITEM(found, k, n);
    }
    return found;
}

/* Whether the elements fill their memory without gaps or overlap, in some order. */
static int fills(PyArrayObject *x)
{
    int rank = 0;
    npy_intp sizes[NPY_MAXDIMS], steps[NPY_MAXDIMS], expected = PyArray_ITEMSIZE(x);
    if (PyArray_IS_C_CONTIGUOUS(x))
        return 1;
    for (int k = 0; k < PyArray_NDIM(x); k++) {
        npy_intp n = PyArray_DIM(x, k), step = PyArray_STRIDE(x, k);
        int at = rank;
        if (n == 1)
            continue;
        for (; at > 0 && steps[at - 1] > step; at--)
            sizes[at] = sizes[at - 1], steps[at] = steps[at - 1];
        sizes[at] = n, steps[at] = step;
        rank++;
    }
    for (int k = 0; k < rank; k++) {
        if (steps[k] != expected)
            return 0;
        expected *= sizes[k];
    }
    return 1;
}

/* (a, b): whether one memory has elements of both, where neither leaves gaps; 2 where they are the
   same elements in the same order. */
static PyObject *overlap(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "overlap() takes two arrays");
        return NULL;
    }
    if (!PyArray_Check(args[0]) || !PyArray_Check(args[1]))
        return PyLong_FromLong(0);
    PyArrayObject *a = (PyArrayObject *)args[0], *b = (PyArrayObject *)args[1];
    char *start = PyArray_BYTES(a), *begin = PyArray_BYTES(b);
    if (find_owner(a) != find_owner(b) || PyArray_SIZE(a) == 0 || PyArray_SIZE(b) == 0 ||
        start >= begin + PyArray_NBYTES(b) || begin >= start + PyArray_NBYTES(a) || !fills(a) ||
        !fills(b))
        return PyLong_FromLong(0);
    int same = start == begin && PyArray_NBYTES(a) == PyArray_NBYTES(b) &&
               PyArray_NDIM(a) == PyArray_NDIM(b) &&
               PyArray_CompareLists(PyArray_STRIDES(a), PyArray_STRIDES(b), PyArray_NDIM(a));
    return PyLong_FromLong(1 + same);
}

/* (array, result): writes a result of the same type and shape into an array; False, with nothing
   written, where it is another, or elements of the array share memory. */
static PyObject *put(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || Py_TYPE(args[0]) != &PyArray_Type || Py_TYPE(args[1]) != &PyArray_Type)
        Py_RETURN_FALSE;
    PyArrayObject *to = (PyArrayObject *)args[0], *from = (PyArrayObject *)args[1];
    int rank = PyArray_NDIM(to);
    if (PyArray_DESCR(to) != PyArray_DESCR(from) || PyArray_NDIM(from) != rank ||
        !PyArray_CompareLists(PyArray_DIMS(to), PyArray_DIMS(from), rank))
        Py_RETURN_FALSE;
    for (int k = 0; k < rank; k++)
        if (PyArray_STRIDE(to, k) == 0)
            Py_RETURN_FALSE;
    if (PyArray_IS_C_CONTIGUOUS(to) && PyArray_IS_C_CONTIGUOUS(from) && PyArray_ISWRITEABLE(to) &&
        !PyDataType_REFCHK(PyArray_DESCR(to)) && PyArray_NBYTES(to) <= SHORT)
        memmove(PyArray_BYTES(to), PyArray_BYTES(from), PyArray_NBYTES(to));
    else if (PyArray_CopyInto(to, from) < 0)
        return NULL;
    Py_RETURN_TRUE;
}

static PyMethodDef methods[] = {
    {"put", (PyCFunction)(void (*)(void))put, METH_FASTCALL, "Writes a result into an array."},
    {"overlap", (PyCFunction)overlap, METH_FASTCALL, "Whether one memory has elements of both."},
    {"set_size", set_size, METH_O, "Names the class of shapes."},
    {"owner", owner, METH_O, "The array that owns the memory of a view."},
    {"address", address, METH_O, "The address of the first element; 0 where there is none."},
    {"storage_offset", storage_offset, METH_O, "Elements before the first in the owner's memory."},
    {"element_strides", element_strides, METH_O, "The strides in elements."},
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
