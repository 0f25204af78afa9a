/* Updates of many small arrays in place, by the inner loops of NumPy's ufuncs: see `__init__.py`. */
#include "arrays.h"

#define ARRAYS 8
#define SLOTS 40 /* arrays, numbers, constants and temporaries */
#define STEPS 40
#define TEMPORARIES 8
#define OPERANDS 3 /* of a step, its result included */
#define BLOCK 256  /* elements that go through all steps together */

typedef struct {
    /* 'u': a ufunc; 'c': a copy; 'w': a product with a number, in float64; '+' and '-': with such a
       product, rounded once */
    char op;
    char count; /* of the operands */
    unsigned char slots[OPERANDS];
    Loop loop;
} Step;

typedef struct {
    int steps;
    Step step[STEPS];
} Program;

typedef struct {
    Front front;
    int arrays, numbers, constants, temporaries;
    npy_intp tiny, most; /* elements up to which the second program, and the first one, are used */
    double values[SLOTS];
    Program program[2];
} Sweep;

/* The places of one parameter's arrays; how many elements each has, or 0. */
static npy_intp read_arrays(Sweep *self, PyObject *const *lists, Py_ssize_t at, int type,
                            char **places)
{
    PyArrayObject *first = NULL;
    npy_intp size = 0, item = type == 0 ? 4 : 8;
    int rank = 0;
    for (int k = 0; k < self->arrays; k++) {
        PyObject *x = PyList_GET_ITEM(lists[k], at);
        if (type_of(x) != type)
            return 0;
        PyArrayObject *array = (PyArrayObject *)x;
        if (k == 0) {
            first = array;
            rank = PyArray_NDIM(array);
            size = PyArray_SIZE(array);
            if (rank == 0 || size == 0 || size > self->most)
                return 0;
        }
        else if (PyArray_NDIM(array) != rank ||
                 memcmp(PyArray_DIMS(array), PyArray_DIMS(first), rank * sizeof(npy_intp)) != 0)
            return 0;
        if (!is_dense(array) || (k != 1 && !PyArray_ISWRITEABLE(array)))
            return 0;
        places[k] = PyArray_BYTES(array);
        for (int j = 0; j < k; j++) /* arrays lie in one place, or in two */
            if (places[j] != places[k] && places[j] < places[k] + size * item &&
                places[k] < places[j] + size * item)
                return 0;
    }
    return size;
}

#define ONCE(OPERATION)                                                                         \
    for (npy_intp k = 0; k < n; k++, x += steps[0])                                             \
        ((float *)out)[k] = (float)((double)*(float *)x OPERATION((double *)y)[k]);

/* A step of float32 that isn't a ufunc's. */
static void run_apart(const Step *step, npy_intp n, char **places, const npy_intp *steps,
                      npy_intp item)
{
    char *x = places[0], *y = places[1], *out = places[step->count - 1];
    if (step->op == 'c')
        memmove(out, x, n * item);
    else if (step->op == 'w') {
        double factor = *(float *)y;
        for (npy_intp k = 0; k < n; k++, x += steps[0])
            ((double *)out)[k] = (double)*(float *)x * factor;
    }
    else if (step->op == '+') {
        ONCE(+)
    }
    else {
        ONCE(-)
    }
}

static void run(Sweep *self, int type, npy_intp size, char **arrays, char **given)
{
    npy_intp item = type == 0 ? 4 : 8;
    npy_uint64 scratch[TEMPORARIES][BLOCK];
    char *bases[SLOTS];
    npy_intp strides[SLOTS];
    const Program *program = &self->program[type == 0 && size <= self->tiny];
    int first = self->arrays + self->numbers + self->constants;
    for (int k = 0; k < first; k++) {
        bases[k] = k < self->arrays ? arrays[k] : given[k];
        strides[k] = k < self->arrays ? item : 0;
    }
    for (int k = 0; k < self->temporaries; k++) {
        bases[first + k] = (char *)scratch[k];
        strides[first + k] = item;
    }
    for (npy_intp done = 0; done < size; done += BLOCK) {
        npy_intp n = size - done < BLOCK ? size - done : BLOCK;
        for (int s = 0; s < program->steps; s++) {
            const Step *step = &program->step[s];
            char *places[OPERANDS];
            npy_intp steps[OPERANDS], length = n;
            for (int k = 0; k < step->count; k++) {
                places[k] = bases[step->slots[k]];
                steps[k] = strides[step->slots[k]];
            }
            if (step->op == 'u')
                step->loop.call[type](places, &length, steps, step->loop.data[type]);
            else
                run_apart(step, n, places, steps, item);
        }
        for (int k = 0; k < self->arrays; k++)
            bases[k] += n * item;
    }
}

/* One parameter by the plain function. */
static int leave(Sweep *self, PyObject *const *args, Py_ssize_t at)
{
    PyObject *given[ARRAYS + 1] = {NULL}, *found = NULL;
    int k;
    for (k = 0; k < self->arrays; k++) {
        given[k] = PyList_New(1);
        if (given[k] == NULL)
            goto done;
        PyList_SET_ITEM(given[k], 0, Py_NewRef(PyList_GET_ITEM(args[k], at)));
    }
    given[k] = args[k];
    found = PyObject_Vectorcall(self->front.plain, given, self->arrays + 1, NULL);
    Py_XDECREF(found);
done:
    for (k = 0; k < self->arrays; k++)
        Py_XDECREF(given[k]);
    return found == NULL ? -1 : 0;
}

static PyObject *call(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    Sweep *self = (Sweep *)me;
    int count = self->arrays, type = -1;
    union { float f; double d; } cells[SLOTS];
    char *given[SLOTS], *places[ARRAYS];
    if (PyVectorcall_NARGS(flags) != count + 1 || names != NULL)
        goto plain;
    for (int k = 0; k <= count; k++)
        if (!PyList_CheckExact(args[k]) ||
            (k && k < count && PyList_GET_SIZE(args[k]) != PyList_GET_SIZE(args[0])))
            goto plain;
    if (PyList_GET_SIZE(args[0]) == 0 || PyList_GET_SIZE(args[count]) != self->numbers)
        goto plain;
    type = type_of(PyList_GET_ITEM(args[0], 0));
    if (type < 0)
        goto plain;
    for (int k = 0; k < self->numbers; k++) {
        PyArrayObject *x = (PyArrayObject *)PyList_GET_ITEM(args[count], k);
        if (type_of((PyObject *)x) != type || PyArray_NDIM(x) != 0)
            goto plain;
        if (type == 0)
            cells[count + k].f = *(float *)PyArray_BYTES(x);
        else
            cells[count + k].d = *(double *)PyArray_BYTES(x);
    }
    for (int k = count + self->numbers; k < count + self->numbers + self->constants; k++)
        if (type == 0)
            cells[k].f = (float)self->values[k];
        else
            cells[k].d = self->values[k];
    for (int k = 0; k < SLOTS; k++)
        given[k] = (char *)&cells[k];
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(args[0]); at++) {
        for (int k = 1; k < count; k++) /* the plain function may run anything */
            if (at >= PyList_GET_SIZE(args[k])) {
                PyErr_SetString(PyExc_RuntimeError, "a list of arrays has changed");
                return NULL;
            }
        npy_intp size = read_arrays(self, args, at, type, places);
        if (size > 0)
            run(self, type, size, places, given);
        else if (leave(self, args, at) < 0)
            return NULL;
    }
    Py_RETURN_NONE;
plain:
    return PyObject_Vectorcall(self->front.plain, args, flags, names);
}

/* ---- how one is made ---------------------------------------------------------------------- */

/* A program of steps (op, ufunc or None, slots). 1, 0 or -1. */
static int read_program(PyObject *told, int slots, Program *program)
{
    program->steps = (int)PyTuple_GET_SIZE(told);
    if (program->steps > STEPS)
        return 0;
    for (int s = 0; s < program->steps; s++) {
        Step *step = &program->step[s];
        PyObject *ufunc;
        const char *op;
        Py_buffer places;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(told, s), "sOy*", &op, &ufunc, &places))
            return -1;
        step->op = *op;
        step->count = (char)places.len;
        int fine = places.len == (step->op == 'c' ? 2 : 3) || (step->op == 'u' && places.len == 2);
        for (Py_ssize_t k = 0; fine && k < places.len; k++) {
            step->slots[k] = ((unsigned char *)places.buf)[k];
            fine = step->slots[k] < slots;
        }
        PyBuffer_Release(&places);
        if (!fine || strchr("ucw+-", step->op) == NULL)
            return 0;
        if (step->op == 'u' && read_loops(ufunc, step->count, 0, &step->loop) != 1)
            return 0;
    }
    return 1;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *plain, *constants, *small, *tiny;
    int arrays, numbers, temporaries;
    Py_ssize_t least, most;
    if (!PyArg_ParseTuple(args, "OiiO!iO!O!nn", &plain, &arrays, &numbers, &PyTuple_Type,
                          &constants, &temporaries, &PyTuple_Type, &small, &PyTuple_Type, &tiny,
                          &least, &most))
        return NULL;
    int count = (int)PyTuple_GET_SIZE(constants);
    int slots = arrays + numbers + count + temporaries;
    int fine = arrays >= 2 && arrays <= ARRAYS && numbers >= 0 && temporaries >= 0 &&
               temporaries <= TEMPORARIES && numbers <= SLOTS && count <= SLOTS && slots <= SLOTS;
    Sweep *self = fine ? (Sweep *)type->tp_alloc(type, 0) : NULL;
    if (self == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "too many operands");
        return NULL;
    }
    self->front.call = call;
    self->front.plain = Py_NewRef(plain);
    self->arrays = arrays;
    self->numbers = numbers;
    self->constants = count;
    self->temporaries = temporaries;
    self->tiny = least;
    self->most = most;
    for (int k = 0; k < count; k++)
        self->values[arrays + numbers + k] = PyFloat_AsDouble(PyTuple_GET_ITEM(constants, k));
    int found = PyErr_Occurred() ? -1 : read_program(small, slots, &self->program[0]);
    found = found == 1 ? read_program(tiny, slots, &self->program[1]) : found;
    if (found == 1)
        return (PyObject *)self;
    if (found == 0)
        PyErr_SetString(PyExc_ValueError, "a step that isn't known");
    Py_DECREF(self);
    return NULL;
}

static PyTypeObject sweep_type = FRONT_TYPE(
    Sweep, "rushlight._native.ufunc_loops.sweeps.Sweep",
    "Updates many arrays in place; small ones by the inner loops of ufuncs.", make);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "sweeps", "Updates of many small arrays in place.", -1
};

PyMODINIT_FUNC PyInit_sweeps(void)
{
    import_array();
    import_umath();
    if (start_loops() < 0 || PyType_Ready(&sweep_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Sweep", (PyObject *)&sweep_type) < 0)
        return NULL;
    return module;
}
