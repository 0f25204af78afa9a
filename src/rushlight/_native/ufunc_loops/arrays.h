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
static int type_of(PyObject *x)
{
    if (Py_TYPE(x) != &PyArray_Type || !PyArray_ISALIGNED((PyArrayObject *)x))
        return -1;
    PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)x);
    return descr == floats[0] ? 0 : descr == floats[1] ? 1 : -1;
}

static PyArrayObject *new_array(PyArray_Descr *descr, int rank, npy_intp *sizes)
{
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, rank, sizes, NULL, NULL, 0,
                                                 NULL);
}

/* The loops of a ufunc of NumPy whose operands all have one type. Whether it has them. */
static int find_loops(const char *name, int core, Loop *loop)
{
    int found = 0;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *ufunc = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, name);
    Py_XDECREF(numpy);
    if (ufunc == NULL)
        return -1;
    if (PyObject_TypeCheck(ufunc, &PyUFunc_Type)) {
        PyUFuncObject *known = (PyUFuncObject *)ufunc;
        if (known->nout == 1 && !known->core_enabled == !core)
            for (int i = 0; i < known->ntypes; i++)
                for (int type = 0; type < 2; type++) {
                    int same = known->functions[i] != NULL;
                    for (int k = 0; k < known->nargs; k++)
                        same = same && known->types[i * known->nargs + k] ==
                                           (type == 0 ? NPY_FLOAT : NPY_DOUBLE);
                    if (same && !(found & (1 << type))) {
                        loop->call[type] = known->functions[i];
                        loop->data[type] = known->data == NULL ? NULL : known->data[i];
                        found |= 1 << type;
                    }
                }
    }
    Py_DECREF(ufunc); /* which NumPy keeps, and its loops with it */
    return found == 3;
}

static int start_loops(void)
{
    floats[0] = PyArray_DescrFromType(NPY_FLOAT);
    floats[1] = PyArray_DescrFromType(NPY_DOUBLE);
    return floats[0] != NULL && floats[1] != NULL ? 0 : -1;
}

/* ---- functions in front of plain ones ----------------------------------------------------- */

/* What takes a call, or leaves it to the plain function: NULL without an error. */
typedef struct Short Short;
typedef PyObject *(*Way)(const char *letters, PyObject *const *args);

struct Short {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *plain;
    Way way;
    int count; /* of the arguments, a letter for each */
    char letters[9];
};

static PyObject *call_short(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    Short *self = (Short *)me;
    if (PyVectorcall_NARGS(flags) == self->count && names == NULL) {
        PyObject *found = self->way(self->letters, args);
        if (found != NULL || PyErr_Occurred())
            return found;
    }
    return PyObject_Vectorcall(self->plain, args, flags, names);
}

static PyObject *make_short(PyTypeObject *type, PyObject *args, PyObject *names, Way way)
{
    static char *words[] = {"plain", "letters", NULL};
    PyObject *plain;
    const char *letters;
    if (!PyArg_ParseTupleAndKeywords(args, names, "Os", words, &plain, &letters))
        return NULL;
    if (strlen(letters) > 8) {
        PyErr_SetString(PyExc_ValueError, "too many arguments");
        return NULL;
    }
    Short *self = (Short *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->call = call_short;
    self->plain = Py_NewRef(plain);
    self->way = way;
    self->count = (int)strlen(letters);
    strcpy(self->letters, letters);
    return (PyObject *)self;
}

static int traverse_short(Short *self, visitproc visit, void *arg)
{
    Py_VISIT(self->plain);
    return 0;
}

static void dealloc_short(Short *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->plain);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef members_of_short[] = {
    {"plain", T_OBJECT, offsetof(Short, plain), READONLY, "What takes everything else."},
    {NULL}
};

#define SHORT_TYPE(TEXT, ABOUT, MAKE)                                                           \
    {                                                                                           \
        PyVarObject_HEAD_INIT(NULL, 0)                                                          \
        .tp_name = TEXT, .tp_doc = ABOUT, .tp_basicsize = sizeof(Short),                        \
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,       \
        .tp_vectorcall_offset = offsetof(Short, call), .tp_call = PyVectorcall_Call,            \
        .tp_new = MAKE, .tp_traverse = (traverseproc)traverse_short,                            \
        .tp_dealloc = (destructor)dealloc_short, .tp_members = members_of_short,                \
    }
