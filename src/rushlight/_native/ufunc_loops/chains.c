/* Functions on small arrays, by the inner loops of NumPy's ufuncs: see `__init__.py`. */
#include "arrays.h"
#include "expanded.h"
#include <float.h>
#include <math.h>

#define ARGUMENTS 8
#define SLOTS 48 /* arguments, constants, numbers, temporaries and the result */
#define STEPS 40
#define TEMPORARIES 8
#define OPERANDS 4 /* of a step, its result included */
#define DIMENSIONS 8
#define BLOCK 256 /* elements that go through all steps together */
#define ROOMS 3 /* operands of another shape than the result */
#define ROOM 512 /* elements of theirs */
#define FLAT 4096 /* elements of a row of a kernel's flat arrays */
#define EXACT 9007199254740992LL /* up to here each whole number is a double */

#include "blocks.h"

typedef struct {
    /* 'u': a ufunc; 'w': where; 'k': keep; 'E' and 'C': the error function and its complement, by
       the C library in float64; 's': a number spread over a shape, 'd': divided by the
       elements of that first; 'r': a number that the type holds; else arithmetic on numbers, which is Python's */
    char op;
    char count; /* of the operands */
    unsigned char slots[OPERANDS];
    char bools[OPERANDS]; /* whether an operand is one: temporaries hold either */
    PyUFuncGenericFunction loops[2]; /* for float32 and for float64 */
    void *data[2];
    char sign; /* which of + - * / a ufunc is, or 0 */
} Step;

typedef struct {
    int constants, numbers, temporaries, steps, asked;
    int types; /* bit 0: for float32, bit 1: for float64 */
    npy_intp most; /* elements */
    npy_intp least; /* elements from which the kernel is taken, where there is one */
    PyObject *kernel; /* gives it for a type, and the elements from which threads are worth it */
    PyObject *launch[2]; /* of float32 and float64; None where there is none; NULL: not asked */
    npy_intp beyond[2];
    char gives_bool;
    char wide; /* float32 is computed with in float64, and rounded once */
    char even; /* digits might depend on how operands lie */
    unsigned char asked_at[ARGUMENTS]; /* arguments that must be `wanted` */
    double wanted[ARGUMENTS];
    double values[SLOTS];
    Step step[STEPS];
} Chain;

typedef struct {
    Front front;
    PyObject *maker; /* gives the chains; NULL once it has */
    PyObject *dict, *weak;
    int waits; /* calls before it is asked */
    int count; /* of the arguments */
    int chains;
    npy_intp most; /* elements */
    /* 'f': an array or a number; 's': a number; 'o': one or None, until the chains are known; 'b':
       bools; 'n': None; 't': a tuple; '<' and, after it, '>': a bound, or None for one that
       is infinite; '-': anything */
    char kinds[ARGUMENTS];
    Chain *chain[2];
} Function;

static PyArray_Descr *bools;

typedef struct {
    double values[SLOTS];  /* of numbers */
    char *places[SLOTS];
    npy_intp strides[SLOTS];
    union { float f; double d; } cells[SLOTS];
    int rank, uneven; /* whether operands have been written out in the shape of the result */
    npy_intp sizes[DIMENSIONS], size;
    npy_uint64 rooms[ROOMS][ROOM];
} Frame;

/* ---- what is asked of arguments ----------------------------------------------------------- */

static int is_number(PyObject *x, double *value)
{
    if (PyFloat_CheckExact(x)) {
        *value = PyFloat_AS_DOUBLE(x);
        return 1;
    }
    if (PyLong_CheckExact(x)) {
        int overflow;
        long long found = PyLong_AsLongLongAndOverflow(x, &overflow);
        if (overflow || found > EXACT || found < -EXACT)
            return 0;
        *value = (double)found;
        return 1;
    }
    return 0;
}

/* Whether all elements are one, as in what `expand` makes of a number. */
static int is_spread(PyArrayObject *x, int rank)
{
    for (int k = 0; k < rank; k++)
        if (PyArray_STRIDE(x, k) != 0 && PyArray_DIM(x, k) != 1)
            return 0;
    return 1;
}

/* Writes out the operands whose shapes or strides aren't those of the result. */
static int take_unevenly(Function *self, PyObject *const *args, Frame *frame)
{
    int used = 0;
    frame->rank = 0;
    frame->uneven = 1;
    frame->size = 1;
    for (int k = 0; k < self->count; k++)
        if (strchr("fb", self->kinds[k]) != NULL && Py_TYPE(args[k]) == &PyArray_Type &&
            !broaden((PyArrayObject *)args[k], DIMENSIONS, &frame->rank, frame->sizes))
            return 0;
    for (int k = 0; k < frame->rank; k++) {
        frame->size *= frame->sizes[k];
        if (frame->size > ROOM)
            return 0;
    }
    for (int k = 0; k < self->count; k++) {
        PyArrayObject *x = (PyArrayObject *)args[k];
        if (strchr("fb", self->kinds[k]) == NULL || Py_TYPE(x) != &PyArray_Type ||
            PyArray_NDIM(x) == 0)
            continue;
        frame->strides[k] = PyArray_ITEMSIZE(x);
        if (PyArray_SIZE(x) == frame->size && PyArray_NDIM(x) == frame->rank && is_dense(x))
            continue;
        if (used == ROOMS ||
            !write_out(x, frame->rank, frame->sizes, frame->size, (char *)frame->rooms[used]))
            return 0;
        frame->places[k] = (char *)frame->rooms[used++];
    }
    return 1;
}

/* Fills the frame's slots of the arguments. The array that gives the shape, or NULL. */
static PyArrayObject *take(Function *self, PyObject *const *args, Frame *frame, int *type)
{
    PyArrayObject *like = NULL, *single = NULL, *first = NULL;
    int rank = 0, uneven = 0;
    npy_intp *sizes = NULL;
    *type = -1;
    for (int k = 0; k < self->count; k++) {
        char kind = self->kinds[k];
        PyObject *x = args[k];
        if (kind == '-' || ((kind == 'n' || kind == 'o') && x == Py_None) ||
            (kind == 't' && PyTuple_CheckExact(x)))
            continue;
        if (Py_TYPE(x) != &PyArray_Type) {
            if (x == Py_None && kind == '>' && args[k - 1] == Py_None)
                return NULL; /* without any bound */
            if (x == Py_None && (kind == '<' || kind == '>'))
                frame->values[k] = kind == '<' ? -HUGE_VAL : HUGE_VAL;
            else if (strchr("fso<>", kind) == NULL || !is_number(x, &frame->values[k]))
                return NULL;
            frame->places[k] = NULL;
            continue;
        }
        if (kind != 'f' && kind != 'b')
            return NULL;
        PyArrayObject *array = (PyArrayObject *)x;
        PyArray_Descr *descr = PyArray_DESCR(array);
        int found = descr == floats[0] ? 0 : descr == floats[1] ? 1 : descr == bools ? 2 : 3;
        if (kind == 'b' ? found != 2 : found > 1)
            return NULL;
        if (kind == 'f') {
            if (*type >= 0 && found != *type)
                return NULL;
            *type = found;
        }
        if (!PyArray_ISALIGNED(array))
            return NULL;
        frame->places[k] = PyArray_BYTES(array);
        frame->strides[k] = 0;
        int of_array = PyArray_NDIM(array);
        if (of_array == 0) {
            single = array;
            continue;
        }
        npy_intp size = PyArray_SIZE(array);
        if (of_array > DIMENSIONS || size > self->most || size == 0)
            return NULL;
        if (rank == 0) {
            first = array;
            rank = of_array;
            sizes = PyArray_DIMS(array);
        }
        else if (of_array != rank ||
                 memcmp(PyArray_DIMS(array), sizes, rank * sizeof(npy_intp)) != 0)
            uneven = 1;
        if (is_dense(array)) {
            frame->strides[k] = PyArray_ITEMSIZE(array);
            like = array;
        }
        else if (!is_spread(array, of_array))
            uneven = 1;
    }
    if (*type < 0)
        return NULL;
    if (uneven)
        return take_unevenly(self, args, frame) ? first : NULL;
    if (rank != 0 && like == NULL)
        return NULL;
    frame->uneven = 0;
    like = like != NULL ? like : single;
    frame->rank = rank;
    copy_sizes(frame->sizes, PyArray_DIMS(like), rank);
    frame->size = PyArray_SIZE(like);
    return like;
}

/* ---- steps -------------------------------------------------------------------------------- */

/* Arithmetic on numbers, as Python does it. Whether it can be done. */
static int on_numbers(const Step *step, int type, double *v)
{
    double a = v[step->slots[0]], b = step->count > 2 ? v[step->slots[1]] : 0;
    double *to = &v[step->slots[step->count - 1]];
    switch (step->op) {
    case '+': *to = a + b; return 1;
    case '-': *to = a - b; return 1;
    case '*': *to = a * b; return 1;
    case '/': *to = a / b; return b != 0;
    case 'n': *to = -a; return 1;
    case 'r': *to = a; return type == 1 || !(fabs(a) > FLT_MAX) || isinf(a);
    case '<': *to = b < a ? b : a; return 1;
    case '>': *to = b > a ? b : a; return 1;
    }
    return 0;
}

/* By the bits of both sides where elements follow each other or are one: no branch has to be
   foreseen, and compilers make vectors of it. */
#define BY_BITS(TYPE, LEFT, RIGHT)                                                              \
    for (npy_intp k = 0; k < n; k++) {                                                          \
        TYPE mask = (TYPE)0 - (TYPE)(((const npy_bool *)c)[k] != 0);                            \
        ((TYPE *)out)[k] = (TYPE)((LEFT & mask) | (RIGHT & ~mask));                             \
    }

#define CHOOSE(TYPE)                                                                            \
    const TYPE *x = (const TYPE *)a, *y = (const TYPE *)b, one = *x, other = *y;                \
    npy_intp item = sizeof(TYPE);                                                               \
    if (sc == 1 && sa == item && sb == item) {                                                  \
        BY_BITS(TYPE, x[k], y[k])                                                               \
    }                                                                                           \
    else if (sc == 1 && sa == item && sb == 0) {                                                \
        BY_BITS(TYPE, x[k], other)                                                              \
    }                                                                                           \
    else if (sc == 1 && sa == 0 && sb == item) {                                                \
        BY_BITS(TYPE, one, y[k])                                                                \
    }                                                                                           \
    else                                                                                        \
        for (npy_intp k = 0; k < n; k++, c += sc, a += sa, b += sb)                             \
            ((TYPE *)out)[k] = *(npy_bool *)c ? *(TYPE *)a : *(TYPE *)b;

static void choose(int type, npy_intp n, char *c, npy_intp sc, char *a, npy_intp sa, char *b,
                   npy_intp sb, char *out)
{
    if (type == 0) {
        CHOOSE(npy_uint32)
    }
    else {
        CHOOSE(npy_uint64)
    }
}

static void call_each(double (*function)(double), int type, npy_intp n, const char *x, npy_intp step,
                      char *out)
{
    for (npy_intp k = 0; k < n; k++, x += step)
        if (type == 0)
            ((float *)out)[k] = (float)function(*(const float *)x);
        else
            ((double *)out)[k] = function(*(const double *)x);
}

static double zero = 0;

static int run(const Chain *chain, int count, Frame *frame, int type, npy_intp size, char *out)
{
    npy_intp item = type == 0 ? 4 : 8;
    npy_uint64 scratch[TEMPORARIES][BLOCK];
    int first = count + chain->constants + chain->numbers;
    int last = first + chain->temporaries;
    int start = 0;
    for (int k = count; k < count + chain->constants; k++) {
        double value = chain->values[k]; /* the limits of doubles stand for those of the type */
        frame->values[k] = type == 0 && (value == DBL_MAX || value == -DBL_MAX)
                               ? (value > 0 ? FLT_MAX : -FLT_MAX)
                               : value;
        frame->places[k] = NULL;
    }
    for (; start < chain->steps && strchr("uwkEC", chain->step[start].op) == NULL; start++) {
        const Step *step = &chain->step[start];
        if (!on_numbers(step, type, frame->values))
            return 0;
        frame->places[step->slots[step->count - 1]] = NULL;
    }
    for (int k = 0; k < first; k++)
        if (frame->places[k] == NULL) {
            if (type == 0)
                frame->cells[k].f = (float)frame->values[k];
            else
                frame->cells[k].d = frame->values[k];
            frame->places[k] = (char *)&frame->cells[k];
            frame->strides[k] = 0;
        }
    for (int k = first; k < last; k++) {
        frame->places[k] = (char *)scratch[k - first];
        frame->strides[k] = item;
    }
    frame->places[last] = out;
    frame->strides[last] = chain->gives_bool ? 1 : item;
    for (npy_intp done = 0; done < size; done += BLOCK) {
        npy_intp n = size - done < BLOCK ? size - done : BLOCK;
        for (int s = start; s < chain->steps; s++) {
            const Step *step = &chain->step[s];
            char *places[OPERANDS];
            npy_intp strides[OPERANDS], length = n;
            for (int k = 0; k < step->count; k++) {
                places[k] = frame->places[step->slots[k]];
                strides[k] = frame->strides[step->slots[k]];
                if (step->bools[k] && strides[k])
                    strides[k] = 1;
            }
            if (step->op == 'u')
                step->loops[type](places, &length, strides, step->data[type]);
            else if (step->op == 'E' || step->op == 'C')
                call_each(step->op == 'E' ? erf : erfc, type, n, places[0], strides[0], places[1]);
            else if (step->op == 'w')
                choose(type, n, places[0], strides[0], places[1], strides[1], places[2],
                       strides[2], places[3]);
            else
                choose(type, n, places[1], strides[1], places[0], strides[0], (char *)&zero, 0,
                       places[2]);
        }
        for (int k = 0; k < count; k++)
            frame->places[k] += BLOCK * frame->strides[k];
        frame->places[last] += BLOCK * frame->strides[last];
    }
    return 1;
}

/* ---- gradients of sums -------------------------------------------------------------------- */

static double number_at(const char *place, int type)
{
    return type == 0 ? *(const float *)place : *(const double *)place;
}

/* x / count in the type of x, at a place. */
static void divide(char *to, const char *from, npy_intp count, int type)
{
    if (type == 0)
        *(float *)to = *(const float *)from / (float)count;
    else
        *(double *)to = number_at(from, type) / (double)count;
}

static PyObject *new_number(int type)
{
    Py_INCREF(floats[type]);
    return PyArray_NewFromDescr(&PyArray_Type, floats[type], 0, NULL, NULL, NULL, 0, NULL);
}

/* A read-only view of one element over a shape, or NULL without an error. */
static PyObject *spread(const Step *step, PyArrayObject *g, PyObject *shape, int type)
{
    npy_intp dims[DIMENSIONS], strides[DIMENSIONS] = {0}, size = 1;
    Py_ssize_t rank = PyTuple_GET_SIZE(shape);
    if (PyArray_NDIM(g) != 0 || rank == 0 || rank > DIMENSIONS)
        return NULL;
    for (Py_ssize_t k = 0; k < rank; k++) {
        PyObject *one = PyTuple_GET_ITEM(shape, k);
        int overflow;
        if (!PyLong_CheckExact(one))
            return NULL;
        dims[k] = (npy_intp)PyLong_AsLongLongAndOverflow(one, &overflow);
        if (overflow || dims[k] <= 0 || dims[k] > (1 << 24) || size > (1 << 24))
            return NULL;
        size *= dims[k];
    }
    if (size == 1 || size > (1 << 24))
        return NULL;
    PyObject *held = (PyObject *)g;
    if (step->op == 'd') {
        held = new_number(type);
        if (held == NULL)
            return NULL;
        divide(PyArray_BYTES((PyArrayObject *)held), PyArray_BYTES(g), size, type);
    }
    else
        Py_INCREF(held);
    Py_INCREF(floats[type]);
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, floats[type], (int)rank, dims, strides,
                                         PyArray_BYTES((PyArrayObject *)held), 0, NULL);
    if (out == NULL) {
        Py_DECREF(held);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)out, held) < 0) {
        Py_DECREF(out);
        return NULL;
    }
    return out;
}

/* ---- calls -------------------------------------------------------------------------------- */

static int learn(Function *self);

/* Asks for the kernel of a type, once. 0 with an error. */
static int load_kernel(Chain *chain, int type)
{
    PyObject *launch;
    Py_ssize_t beyond;
    PyObject *found = PyObject_CallFunction(chain->kernel, "O", (PyObject *)floats[type]);
    if (found == NULL)
        return 0;
    if (found == Py_None) {
        launch = Py_None;
        beyond = 0;
    }
    else if (!PyArg_ParseTuple(found, "On", &launch, &beyond)) {
        Py_DECREF(found);
        return 0;
    }
    if (chain->launch[type] == NULL) { /* nobody else has asked meanwhile */
        chain->launch[type] = Py_NewRef(launch);
        chain->beyond[type] = beyond;
    }
    Py_DECREF(found);
    return 1;
}

/* What the kernel makes of arrays of one shape, in order; NULL without an error where it doesn't take
   them. It is the one that the plain function calls. */
static PyObject *by_kernel(Function *self, Chain *chain, PyObject *const *args, Frame *frame, int type)
{
    if (chain->launch[type] == NULL && !load_kernel(chain, type))
        return NULL;
    if (chain->launch[type] == Py_None || frame->size >= chain->beyond[type])
        return NULL;
    PyObject *given[ARGUMENTS + 4], *owned[ARGUMENTS + 3], *found = NULL;
    int count = 0, mine = 0;
    for (int k = 0; k < self->count; k++) /* before anything is made */
        if (strchr("fb", self->kinds[k]) != NULL &&
            (frame->places[k] == NULL || frame->strides[k] == 0))
            return NULL;
        else if (strchr("s<>", self->kinds[k]) != NULL && !(fabs(frame->values[k]) <= FLT_MAX))
            return NULL;
    npy_intp sizes[] = {frame->size, FLAT, 0};
    for (int k = 0; k < 3; k++)
        owned[mine++] = given[count++] = PyLong_FromSsize_t(sizes[k]);
    for (int k = 0; k < self->count; k++) {
        if (strchr("fb", self->kinds[k]) != NULL)
            given[count++] = args[k];
        else if (strchr("s<>", self->kinds[k]) != NULL)
            owned[mine++] = given[count++] = PyFloat_FromDouble(frame->values[k]);
    }
    PyArrayObject *out = new_array(floats[type], frame->rank, frame->sizes);
    given[count++] = (PyObject *)out;
    int fine = out != NULL;
    for (int k = 0; k < mine; k++)
        fine = fine && owned[k] != NULL;
    PyObject *launch = Py_NewRef(chain->launch[type]);
    if (fine)
        found = PyObject_Vectorcall(launch, given, count, NULL);
    Py_DECREF(launch);
    for (int k = 0; k < mine; k++)
        Py_XDECREF(owned[k]);
    int done = found == Py_None;
    Py_XDECREF(found);
    if (done)
        return (PyObject *)out;
    Py_XDECREF(out);
    return NULL;
}

/* As `run`, of few float32, with the steps of float64. */
static int run_wide(const Chain *chain, int count, Frame *frame, npy_intp size, float *out)
{
    double found[ROOM];
    int used = 0;
    for (int k = 0; k < count; k++) {
        if (frame->places[k] == NULL)
            continue;
        if (used == ROOMS)
            return 0;
        double *to = (double *)frame->rooms[used++];
        const char *from = frame->places[k];
        npy_intp elements = frame->strides[k] == 0 ? 1 : size;
        for (npy_intp i = 0; i < elements; i++)
            to[i] = ((const float *)from)[i];
        frame->places[k] = (char *)to;
        frame->strides[k] *= 2;
    }
    if (!run(chain, count, frame, 1, size, (char *)found))
        return 0;
    for (npy_intp i = 0; i < size; i++)
        out[i] = (float)found[i];
    return 1;
}

/* One ufunc of two arrays that broadcast, or of many elements. NULL without an error for all else. */
static PyObject *call_by_blocks(Function *self, PyObject *const *args)
{
    const Chain *chain = self->chains == 1 ? self->chain[0] : NULL;
    if (chain == NULL || self->count != 2 || strcmp(self->kinds, "ff") != 0 || chain->asked ||
        chain->wide || chain->constants || chain->numbers || chain->temporaries ||
        chain->steps != 1 || chain->step[0].op != 'u')
        return NULL;
    const Step *step = &chain->step[0];
    int type = type_of(args[0]), rank = 0;
    if (type < 0 || type_of(args[1]) != type || !(chain->types >> type & 1) || step->count != 3 ||
        step->slots[0] != 0 || step->slots[1] != 1 || step->slots[2] != 2)
        return NULL;
    PyArrayObject *both[] = {(PyArrayObject *)args[0], (PyArrayObject *)args[1]};
    npy_intp sizes[DIMENSIONS], size = 1;
    if (!broaden(both[0], DIMENSIONS, &rank, sizes) || !broaden(both[1], DIMENSIONS, &rank, sizes))
        return NULL;
    for (int k = 0; k < rank; k++) {
        if (sizes[k] == 0 || size > MOST_ELEMENTS / sizes[k])
            return NULL;
        size *= sizes[k];
    }
    Blocks b;
    b.op = chain->gives_bool ? 0 : step->sign;
    b.item = type == 0 ? 4 : 8;
    b.out_item = chain->gives_bool ? 1 : b.item;
    npy_intp steps[2][DIMENSIONS];
    int order[DIMENSIONS];
    if (!read_steps(both, rank, steps))
        return NULL;
    sort_dims(both, rank, sizes, steps, order);
    read_axes(&b, rank, sizes, steps, order);
    /* What rounds in ways of its own gets what NumPy's loop would get, row by row. */
    if (chain->even && (size > self->most || size > chain->most || b.axes == 0 || b.sizes[0] < 8))
        return NULL;
    cut_blocks(&b, chain->even);
    PyArrayObject *out = new_in_order(chain->gives_bool ? bools : floats[type], rank, sizes, order);
    if (out == NULL)
        return NULL;
    b.call = step->loops[type];
    b.data = step->data[type];
    b.from[0] = PyArray_BYTES(both[0]);
    b.from[1] = PyArray_BYTES(both[1]);
    b.to = PyArray_BYTES(out);
    if (run_all(&b, size) && !PyErr_Occurred())
        return (PyObject *)out;
    Py_DECREF(out);
    return NULL;
}

static PyObject *call(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    Function *self = (Function *)me;
    Frame frame;
    int type;
    PyArrayObject *like;
    if (PyVectorcall_NARGS(flags) != self->count || names != NULL ||
        (self->chains == 0 && self->maker == NULL))
        goto plain;
    like = take(self, args, &frame, &type);
    if (like == NULL) {
        if (self->chains == 0 && self->count == 2 && type_of(args[0]) >= 0 &&
            type_of(args[1]) == type_of(args[0]) && self->waits-- <= 0 && learn(self) < 0)
            return NULL;
        PyObject *found = self->chains == 0 ? NULL : call_by_blocks(self, args);
        if (found != NULL || PyErr_Occurred())
            return found;
        goto plain;
    }
    if (self->chains == 0) {
        if (self->waits-- > 0)
            goto plain;
        int found = learn(self);
        if (found < 0)
            return NULL;
        goto plain; /* the next call knows the kinds of arguments */
    }
    Chain *chain = NULL;
    for (int c = 0; c < self->chains && chain == NULL; c++) {
        chain = self->chain[c];
        if (!(chain->types >> type & 1) || (frame.uneven && chain->even)) {
            chain = NULL;
            continue;
        }
        for (int k = 0; k < chain->asked; k++)
            if (frame.values[chain->asked_at[k]] != chain->wanted[k]) {
                chain = NULL;
                break;
            }
    }
    if (chain == NULL)
        goto plain;
    if (chain->kernel != NULL && frame.size >= chain->least && !frame.uneven) {
        PyObject *found = by_kernel(self, chain, args, &frame, type);
        if (found != NULL || PyErr_Occurred())
            return found;
    }
    if (frame.size > chain->most) {
        PyObject *found = call_by_blocks(self, args);
        if (found != NULL || PyErr_Occurred())
            return found;
        goto plain;
    }
    const Step *only = &chain->step[0];
    if (only->op == 's' || only->op == 'd') {
        if (frame.places[1] == NULL)
            goto plain;
        PyObject *found = spread(only, like, args[2], type);
        if (found != NULL || PyErr_Occurred())
            return found;
        goto plain;
    }
    PyArray_Descr *descr = chain->gives_bool ? bools : floats[type];
    Py_INCREF(descr);
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, descr, frame.rank, frame.sizes, NULL, NULL,
                                         0, NULL);
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES((PyArrayObject *)out);
    if (chain->wide && type == 0 ? run_wide(chain, self->count, &frame, frame.size, (float *)to)
                                 : run(chain, self->count, &frame, type, frame.size, to)) {
        if (!PyErr_Occurred()) /* which loops of other libraries may set */
            return out;
        Py_DECREF(out);
        return NULL;
    }
    Py_DECREF(out);
plain:
    return PyObject_Vectorcall(self->front.plain, args, flags, names);
}

/* ---- how one is made ---------------------------------------------------------------------- */

/* Whose digits are one, however operands lie. */
static const char *const exact[] = {
    "add", "subtract", "multiply", "divide", "negative", "absolute", "square", "sqrt", "floor",
    "ceil", "trunc", "rint", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "isnan", "isinf", "isfinite", "signbit", "copysign",
};

static int is_exact(PyObject *ufunc)
{
    for (size_t k = 0; k < sizeof exact / sizeof *exact; k++)
        if (strcmp(((PyUFuncObject *)ufunc)->name, exact[k]) == 0)
            return 1;
    return 0;
}

static char sign_of(PyObject *ufunc)
{
#if defined(__GNUC__)
    const char *name = ((PyUFuncObject *)ufunc)->name;
    return strcmp(name, "add") == 0        ? '+'
           : strcmp(name, "subtract") == 0 ? '-'
           : strcmp(name, "multiply") == 0 ? '*'
           : strcmp(name, "divide") == 0   ? '/'
                                           : 0;
#else
    return 0;
#endif
}

static int read_ufunc(PyObject *ufunc, const char *sorts, Step *step)
{
    if (!PyObject_TypeCheck(ufunc, &PyUFunc_Type)) {
        PyErr_SetString(PyExc_TypeError, "a step is no ufunc");
        return -1;
    }
    PyUFuncObject *known = (PyUFuncObject *)ufunc;
    if (known->nargs != step->count || known->nout != 1 || known->core_enabled)
        return 0;
    for (int type = 0; type < 2; type++) {
        int found = 0;
        for (int i = 0; i < known->ntypes && !found; i++) {
            int same = 1;
            for (int k = 0; k < known->nargs; k++) {
                int wanted = sorts[k] == 'b' ? NPY_BOOL : type == 0 ? NPY_FLOAT : NPY_DOUBLE;
                same = same && known->types[i * known->nargs + k] == wanted;
            }
            if (same && known->functions[i] != NULL) {
                step->loops[type] = known->functions[i];
                step->data[type] = known->data == NULL ? NULL : known->data[i];
                found = 1;
            }
        }
        if (!found)
            return 0;
    }
    return 1;
}

/* (asked, constants, numbers, temporaries, gives_bool, steps) and maybe (types, most, wide, kernel,
   least), see `chains_of`. 1, 0 or -1. */
static int read_chain(PyObject *told, int count, Chain *chain)
{
    PyObject *asked, *constants, *steps;
    int gives_bool;
    chain->types = 3;
    chain->most = PY_SSIZE_T_MAX;
    int wide = 0;
    PyObject *kernel = Py_None;
    if (!PyArg_ParseTuple(told, "O!O!iipO!|inpOn", &PyTuple_Type, &asked, &PyTuple_Type, &constants,
                          &chain->numbers, &chain->temporaries, &gives_bool, &PyTuple_Type, &steps,
                          &chain->types, &chain->most, &wide, &kernel, &chain->least))
        return -1;
    if (wide) {
        chain->wide = chain->even = 1;
        chain->most = chain->most < ROOM ? chain->most : ROOM;
    }
    chain->gives_bool = (char)gives_bool;
    chain->asked = (int)PyTuple_GET_SIZE(asked);
    chain->constants = (int)PyTuple_GET_SIZE(constants);
    chain->steps = (int)PyTuple_GET_SIZE(steps);
    int slots = count + chain->constants + chain->numbers + chain->temporaries + 1;
    if (wide && gives_bool)
        return 0;
    if (chain->asked > ARGUMENTS || chain->steps > STEPS || chain->temporaries > TEMPORARIES ||
        chain->numbers < 0 || chain->temporaries < 0 || slots > SLOTS)
        return 0;
    for (int k = 0; k < chain->asked; k++) {
        int place;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(asked, k), "id", &place, &chain->wanted[k]))
            return -1;
        if (place < 0 || place >= count)
            return 0;
        chain->asked_at[k] = (unsigned char)place;
    }
    for (int k = 0; k < chain->constants; k++) {
        chain->values[count + k] = PyFloat_AsDouble(PyTuple_GET_ITEM(constants, k));
        if (PyErr_Occurred())
            return -1;
    }
    for (int s = 0; s < chain->steps; s++) {
        Step *step = &chain->step[s];
        PyObject *ufunc;
        const char *op, *sorts;
        Py_buffer places;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(steps, s), "sOsy*", &op, &ufunc, &sorts, &places))
            return -1;
        Py_ssize_t length = places.len;
        step->op = *op;
        step->count = (char)length;
        int fine = length > 0 && length <= OPERANDS && (Py_ssize_t)strlen(sorts) == length;
        for (Py_ssize_t k = 0; fine && k < length; k++) {
            int place = ((unsigned char *)places.buf)[k];
            fine = place < slots;
            step->slots[k] = (unsigned char)place;
            step->bools[k] = sorts[k] == 'b';
        }
        PyBuffer_Release(&places);
        if (!fine)
            return 0;
        if (step->op == 'u') {
            int found = read_ufunc(ufunc, sorts, step);
            step->sign = found > 0 ? sign_of(ufunc) : 0;
            if (found <= 0)
                return found;
        }
        if (step->op == 'u' ? !is_exact(ufunc) : strchr("wk", step->op) == NULL)
            chain->even = chain->even || strchr("uEC", step->op) != NULL;
    }
    if (kernel != Py_None && !gives_bool)
        chain->kernel = Py_NewRef(kernel);
    return 1;
}

static void forget(Function *self)
{
    while (self->chains > 0) {
        Chain *chain = self->chain[--self->chains];
        Py_XDECREF(chain->kernel);
        Py_XDECREF(chain->launch[0]);
        Py_XDECREF(chain->launch[1]);
        PyMem_Free(chain);
    }
}

/* Asks for the chains, once. 1: they are there; 0: there are none; -1: an error. */
static int learn(Function *self)
{
    PyObject *maker = self->maker;
    self->maker = NULL;
    PyObject *told = PyObject_CallNoArgs(maker);
    Py_DECREF(maker);
    if (told == NULL)
        return -1;
    if (told == Py_None) {
        Py_DECREF(told);
        return 0;
    }
    const char *kinds;
    PyObject *chains;
    int result = -1;
    if (!PyArg_ParseTuple(told, "sO!", &kinds, &PyTuple_Type, &chains))
        goto done;
    result = 0;
    if ((int)strlen(kinds) != self->count || PyTuple_GET_SIZE(chains) > 2)
        goto done;
    memcpy(self->kinds, kinds, self->count);
    for (Py_ssize_t c = 0; c < PyTuple_GET_SIZE(chains); c++) {
        Chain *chain = PyMem_Calloc(1, sizeof(Chain));
        if (chain == NULL) {
            PyErr_NoMemory();
            result = -1;
            goto done;
        }
        int found = read_chain(PyTuple_GET_ITEM(chains, c), self->count, chain);
        if (found <= 0) {
            PyMem_Free(chain);
            result = found;
            goto done;
        }
        self->chain[self->chains++] = chain;
    }
    result = self->chains > 0;
done:
    if (result <= 0)
        forget(self);
    Py_DECREF(told);
    return result;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *words[] = {"plain", "maker", "kinds", "waits", "most", NULL};
    PyObject *plain, *maker;
    const char *kinds;
    int waits;
    Py_ssize_t most;
    if (!PyArg_ParseTupleAndKeywords(args, names, "OOsin", words, &plain, &maker, &kinds, &waits,
                                     &most))
        return NULL;
    if (strlen(kinds) > ARGUMENTS) {
        PyErr_SetString(PyExc_ValueError, "too many arguments");
        return NULL;
    }
    Function *self = (Function *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->front.call = call;
    self->front.plain = Py_NewRef(plain);
    self->maker = Py_NewRef(maker);
    self->waits = waits;
    self->most = most;
    self->count = (int)strlen(kinds);
    memcpy(self->kinds, kinds, self->count);
    return (PyObject *)self;
}

static int traverse(Function *self, visitproc visit, void *arg)
{
    Py_VISIT(self->maker);
    for (int c = 0; c < self->chains; c++) {
        Py_VISIT(self->chain[c]->kernel);
        Py_VISIT(self->chain[c]->launch[0]);
        Py_VISIT(self->chain[c]->launch[1]);
    }
    return traverse_front(&self->front, visit, arg);
}

static int clear(Function *self)
{
    Py_CLEAR(self->maker);
    forget(self);
    return 0;
}

static void dealloc(Function *self)
{
    PyObject_GC_UnTrack(self);
    forget(self);
    Py_CLEAR(self->maker);
    dealloc_front(&self->front);
}

static PyObject *is_known(Function *self, void *unused)
{
    return PyBool_FromLong(self->chains > 0);
}

static PyGetSetDef getters[] = {
    {"known", (getter)is_known, NULL, "Whether small arrays go by ufuncs' loops by now.", NULL},
    {NULL}
};

static PyTypeObject function_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "rushlight._native.ufunc_loops.chains.Function",
    .tp_doc = "A function on arrays; small ones go by the inner loops of ufuncs.",
    .tp_basicsize = sizeof(Function),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Front, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = make,
    .tp_traverse = (traverseproc)traverse,
    .tp_clear = (inquiry)clear,
    .tp_dealloc = (destructor)dealloc,
    .tp_members = members_of_front,
    .tp_getset = getters,
};

/* Sets who is asked about threads that share the work. */
static PyObject *set_pool(PyObject *module, PyObject *ask)
{
    PyObject *last = pool;
    pool = Py_NewRef(ask);
    Py_XDECREF(last);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_pool", set_pool, METH_O, "Sets who is asked about threads that share the work."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "chains", "Functions on small arrays by the inner loops of ufuncs.", -1,
    methods
};

PyMODINIT_FUNC PyInit_chains(void)
{
    import_array();
    import_umath();
    bools = PyArray_DescrFromType(NPY_BOOL);
    if (start_loops() < 0 || PyType_Ready(&function_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Function", (PyObject *)&function_type) < 0)
        return NULL;
    return module;
}
