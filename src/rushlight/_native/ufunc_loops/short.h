/* Functions in front of plain ones, which take what is small and usual: see `__init__.py`. */
#include "arrays.h"

/* What takes a call, or leaves it to the plain function: NULL without an error. */
typedef struct Short Short;
typedef PyObject *(*Way)(const char *letters, PyObject *const *args);

struct Short {
    Front front;
    Way way;
    int count; /* of the arguments, a letter for each */
    char letters[10];
};

static PyObject *call_short(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    Short *self = (Short *)me;
    if (PyVectorcall_NARGS(flags) == self->count && names == NULL) {
        PyObject *found = self->way(self->letters, args);
        if (found != NULL || PyErr_Occurred())
            return found;
    }
    return PyObject_Vectorcall(self->front.plain, args, flags, names);
}

static PyObject *make_short(PyTypeObject *type, PyObject *args, PyObject *names, Way way)
{
    static char *words[] = {"plain", "letters", NULL};
    PyObject *plain;
    const char *letters;
    if (!PyArg_ParseTupleAndKeywords(args, names, "Os", words, &plain, &letters))
        return NULL;
    if (strlen(letters) > 9) {
        PyErr_SetString(PyExc_ValueError, "too many arguments");
        return NULL;
    }
    Short *self = (Short *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->front.call = call_short;
    self->front.plain = Py_NewRef(plain);
    self->way = way;
    self->count = (int)strlen(letters);
    strcpy(self->letters, letters);
    return (PyObject *)self;
}

#define SHORT_TYPE(TEXT, ABOUT, MAKE) FRONT_TYPE(Short, TEXT, ABOUT, MAKE)
