/* Functions in front of plain ones, which take what is small and usual: see `__init__.py`. */
#include "arrays.h"

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

static inline PyArrayObject *new_array(PyArray_Descr *descr, int rank, npy_intp *sizes)
{
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, rank, sizes, NULL, NULL, 0,
                                                 NULL);
}

/* The loops of a function of NumPy, and whether there are any. */
static inline int find_loops(const char *name, int count, int core, Loop *loop)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *ufunc = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, name);
    Py_XDECREF(numpy);
    if (ufunc == NULL) { /* an older NumPy hasn't all of them */
        PyErr_Clear();
        return 0;
    }
    int found = read_loops(ufunc, count, core, loop);
    Py_DECREF(ufunc); /* which NumPy keeps, and its loops with it */
    return found;
}
