/* What the extension modules for small arrays ask of arrays and of ufuncs: see `__init__.py`. */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#include <Python.h>
#include <structmember.h>
#include <string.h>
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

/* Baseline code knows no comparison of 64-bit integers. Products and sums are rounded alike. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_MACHINE __attribute__((target_clones("avx2", "default"), noinline))
#else
#define FOR_MACHINE
#endif

/* For what some of the modules have no use for. */
#ifdef __GNUC__
#define PERHAPS __attribute__((unused))
#else
#define PERHAPS
#endif

/* What stands in front of a plain function, and takes some of its calls. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *plain; /* takes everything else */
} Front;

static inline int traverse_front(Front *self, visitproc visit, void *arg)
{
    Py_VISIT(self->plain);
    return 0;
}

static inline void dealloc_front(Front *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->plain);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

PERHAPS static PyMemberDef members_of_front[] = {
    {"plain", T_OBJECT, offsetof(Front, plain), READONLY, "What takes everything else."},
    {NULL}
};

#define FRONT_TYPE(STRUCT, TEXT, ABOUT, MAKE)                                                   \
    {                                                                                           \
        PyVarObject_HEAD_INIT(NULL, 0)                                                          \
        .tp_name = TEXT, .tp_doc = ABOUT, .tp_basicsize = sizeof(STRUCT),                       \
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,       \
        .tp_vectorcall_offset = offsetof(Front, call), .tp_call = PyVectorcall_Call,            \
        .tp_new = MAKE, .tp_traverse = (traverseproc)traverse_front,                            \
        .tp_dealloc = (destructor)dealloc_front, .tp_members = members_of_front,                \
    }

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

/* Whether elements lie one after the other, as in a new array: even where sizes are 1. */
static inline int is_dense(PyArrayObject *x)
{
    npy_intp expected = PyArray_ITEMSIZE(x);
    for (int k = PyArray_NDIM(x); k-- > 0;) {
        if (PyArray_STRIDE(x, k) != expected)
            return 0;
        expected *= PyArray_DIM(x, k);
    }
    return 1;
}

/* A dimension, counted from the front; -1 where there is none of that number. */
static inline int read_dim(PyObject *x, int rank)
{
    int overflow;
    long dim = PyLong_CheckExact(x) ? PyLong_AsLongAndOverflow(x, &overflow) : rank;
    if (!PyLong_CheckExact(x) || overflow || dim < -rank || dim >= rank)
        return -1;
    return (int)(dim < 0 ? dim + rank : dim);
}

/* A size from 1 to the most that there may be. Whether it is one. */
static inline int read_size(PyObject *x, npy_intp most, npy_intp *size)
{
    int overflow;
    if (!PyLong_CheckExact(x))
        return 0;
    *size = PyLong_AsLongAndOverflow(x, &overflow);
    return !overflow && *size >= 1 && *size <= most;
}

/* A shape as a tuple of at most eight sizes, none of them 0, and how many elements it has, of which
   there may be so many. The rank, or -1. */
static inline int read_shape(PyObject *x, npy_intp most, npy_intp *sizes, npy_intp *size)
{
    if (!PyTuple_CheckExact(x) || PyTuple_GET_SIZE(x) > 8)
        return -1;
    int rank = (int)PyTuple_GET_SIZE(x);
    *size = 1;
    for (int k = 0; k < rank; k++) {
        if (!read_size(PyTuple_GET_ITEM(x, k), most, &sizes[k]) || *size > most / sizes[k])
            return -1;
        *size *= sizes[k];
    }
    return rank;
}

/* Copies numbers of dimensions, of which there may be none. */
static inline void copy_sizes(npy_intp *to, const npy_intp *from, int rank)
{
    for (int k = 0; k < rank; k++)
        to[k] = from[k];
}

static inline PyArrayObject *new_array(PyArray_Descr *descr, int rank, npy_intp *sizes)
{
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, rank, sizes, NULL, NULL, 0,
                                                 NULL);
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

/* A function of NumPy, by name, and where its loops go. */
typedef struct {
    const char *name;
    int count, core; /* of operands; whether it goes over whole dimensions */
    Loop *loop;
} Wanted;

/* Finds the loops of functions of NumPy. 0, or -1 with an error where there are others. */
static inline int find_loops(const Wanted *wanted, size_t count)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    int found = numpy != NULL;
    for (; found && count > 0; count--, wanted++) {
        PyObject *ufunc = PyObject_GetAttrString(numpy, wanted->name);
        found = ufunc != NULL && read_loops(ufunc, wanted->count, wanted->core, wanted->loop);
        Py_XDECREF(ufunc); /* which NumPy keeps, and its loops with it */
    }
    Py_XDECREF(numpy);
    if (!found) /* an older NumPy hasn't all of them */
        PyErr_SetString(PyExc_ImportError, "this NumPy has other loops");
    return found ? 0 : -1;
}

static inline int start_loops(void)
{
    floats[0] = PyArray_DescrFromType(NPY_FLOAT);
    floats[1] = PyArray_DescrFromType(NPY_DOUBLE);
    return floats[0] != NULL && floats[1] != NULL ? 0 : -1;
}
