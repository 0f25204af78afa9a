/* The number type bfloat16 for NumPy: the upper half of a float32. See `__init__.py`. */
#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#include <Python.h>
#include <stdlib.h>
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>
#include "bits.h"

typedef struct {
    PyObject_HEAD
    half bits;
} Scalar;

static PyTypeObject *scalar_type; /* with `number`: made once in a process, for NumPy keeps it */
static PyArray_DescrProto proto;
static int number;

/* ---- from and to Python ------------------------------------------------------------------- */

/* What a number of Python or NumPy is here. 0, or -1 with a TypeError. */
static int read_number(PyObject *value, half *bits)
{
    if (PyObject_TypeCheck(value, scalar_type)) {
        *bits = ((Scalar *)value)->bits;
        return 0;
    }
    int apt = PyFloat_Check(value) || PyLong_Check(value) || PyArray_IsScalar(value, Bool) ||
              PyArray_IsScalar(value, Integer) || PyArray_IsScalar(value, Floating) ||
              (PyArray_Check(value) && PyArray_NDIM((PyArrayObject *)value) == 0);
    double found = apt ? PyFloat_AsDouble(value) : -1.0;
    if (found == -1.0 && (!apt || PyErr_Occurred())) {
        if (!apt || PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_TypeError, "expected number, got %s", Py_TYPE(value)->tp_name);
        return -1;
    }
    *bits = narrow((float)found);
    return 0;
}

static PyObject *make_scalar(PyTypeObject *type, half bits)
{
    Scalar *made = (Scalar *)type->tp_alloc(type, 0);
    if (made != NULL)
        made->bits = bits;
    return (PyObject *)made;
}

static PyObject *new_scalar(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *value = NULL;
    half bits = 0;
    if (names != NULL && PyDict_GET_SIZE(names))
        return PyErr_Format(PyExc_TypeError, "bfloat16() takes no keyword arguments");
    if (!PyArg_UnpackTuple(args, "bfloat16", 0, 1, &value))
        return NULL;
    if (value != NULL && PyUnicode_Check(value)) {
        PyObject *read = PyFloat_FromString(value);
        if (read == NULL)
            return NULL;
        bits = narrow((float)PyFloat_AS_DOUBLE(read));
        Py_DECREF(read);
    }
    else if (value != NULL && PyArray_Check(value)) {
        PyArray_Descr *descr = PyArray_DescrFromType(number);
        PyObject *made = PyArray_CastToType((PyArrayObject *)value, descr, 0);
        return made == NULL ? NULL : PyArray_Return((PyArrayObject *)made);
    }
    else if (value != NULL && read_number(value, &bits) < 0)
        return NULL;
    return make_scalar(type, bits);
}

static PyObject *text_of(PyObject *self)
{
    char *text = PyOS_double_to_string(wide(((Scalar *)self)->bits), 'g', 6, 0, NULL);
    if (text == NULL)
        return NULL;
    PyObject *made = PyUnicode_FromString(text);
    PyMem_Free(text);
    return made;
}

static PyObject *float_of(PyObject *self)
{
    return PyFloat_FromDouble(wide(((Scalar *)self)->bits));
}

static Py_hash_t hash_of(PyObject *self)
{
    PyObject *value = float_of(self);
    Py_hash_t hash = value == NULL ? -1 : PyObject_Hash(value);
    Py_XDECREF(value);
    return hash;
}

/* As all of NumPy's scalars: a type with a hash of its own doesn't inherit it. */
static PyObject *compare_scalar(PyObject *self, PyObject *other, int what)
{
    return PyGenericArrType_Type.tp_richcompare(self, other, what);
}

static PyObject *format_scalar(PyObject *self, PyObject *spec)
{
    PyObject *value = float_of(self);
    PyObject *made = value == NULL ? NULL : PyObject_Format(value, spec);
    Py_XDECREF(value);
    return made;
}

static PyMethodDef methods[] = {
    {"__format__", format_scalar, METH_O, "Formats it as a float."},
    {NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, new_scalar},
    {Py_tp_repr, text_of},
    {Py_tp_str, text_of},
    {Py_tp_hash, hash_of},
    {Py_tp_richcompare, compare_scalar},
    {Py_tp_methods, methods},
    {Py_nb_float, float_of},
    {Py_tp_doc, "A number with the exponent of float32 and eight digits."},
    {0, NULL},
};

static PyType_Spec spec = {
    /* Where pickles look for it: the module gives the type that is in use. */
    .name = "rushlight._array.bfloat16.bfloat16",
    .basicsize = sizeof(Scalar),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

/* ---- what NumPy asks of elements ---------------------------------------------------------- */

static inline half swapped(half bits) { return (half)(bits << 8 | bits >> 8); }

static int is_swapped(void *array)
{
    return array != NULL && PyArray_ISBYTESWAPPED((PyArrayObject *)array);
}

static PyObject *get_item(void *place, void *array)
{
    half bits;
    memcpy(&bits, place, 2);
    return PyFloat_FromDouble(wide(is_swapped(array) ? swapped(bits) : bits));
}

static int set_item(PyObject *value, void *place, void *array)
{
    half bits;
    if (read_number(value, &bits) < 0)
        return -1;
    bits = is_swapped(array) ? swapped(bits) : bits;
    memcpy(place, &bits, 2);
    return 0;
}

static void copy_items(void *to, npy_intp to_step, void *from, npy_intp from_step, npy_intp count,
                       int swap, void *array)
{
    for (npy_intp i = 0; i < count; i++) {
        char *place = (char *)to + i * to_step;
        half bits;
        memcpy(&bits, from == NULL ? place : (char *)from + i * from_step, 2);
        bits = swap ? swapped(bits) : bits;
        memcpy(place, &bits, 2);
    }
}

static void copy_item(void *to, void *from, int swap, void *array)
{
    copy_items(to, 0, from, 0, 1, swap, array);
}

static npy_bool is_nonzero(void *place, void *array)
{
    half bits;
    memcpy(&bits, place, 2);
    return ((is_swapped(array) ? swapped(bits) : bits) & 0x7fff) != 0;
}

/* By size, with nan behind all others. */
static int compare_items(const void *first, const void *second, void *array)
{
    float a = wide(*(const half *)first), b = wide(*(const half *)second);
    if (isnan(a) || isnan(b))
        return !!isnan(a) - !!isnan(b);
    return (a > b) - (a < b);
}

/* The first nan, else the first of the largest, or of the smallest where `turn` is the sign. */
static int find_extreme(const half *items, npy_intp count, npy_intp *found, half turn)
{
    float best = -INFINITY;
    *found = 0;
    for (npy_intp i = 0; i < count; i++) {
        float value = wide(items[i] ^ turn);
        if (isnan(value)) {
            *found = i;
            break;
        }
        if (value > best) {
            best = value;
            *found = i;
        }
    }
    return 0;
}

static int find_largest(void *items, npy_intp count, npy_intp *found, void *array)
{
    return find_extreme(items, count, found, 0);
}

static int find_smallest(void *items, npy_intp count, npy_intp *found, void *array)
{
    return find_extreme(items, count, found, 0x8000);
}

static void multiply_rows(void *a, npy_intp a_step, void *b, npy_intp b_step, void *to,
                          npy_intp count, void *array)
{
    float sum = 0;
    for (npy_intp i = 0; i < count; i++)
        sum += wide(*(half *)((char *)a + i * a_step)) * wide(*(half *)((char *)b + i * b_step));
    *(half *)to = narrow(sum);
}

/* The rest of a range of which two numbers are there. */
static int fill_range(void *place, npy_intp count, void *array)
{
    half *items = place;
    float first = wide(items[0]), step = wide(items[1]) - first;
    for (npy_intp i = 2; i < count; i++)
        items[i] = narrow(first + (float)i * step);
    return 0;
}

static int fill_items(void *place, npy_intp count, void *value, void *array)
{
    for (npy_intp i = 0; i < count; i++)
        ((half *)place)[i] = *(half *)value;
    return 0;
}

/* ---- conversions and ufuncs ---------------------------------------------------------------- */

/* 0, or -1 with an error. */
static int add_conversions(PyArray_Descr *descr)
{
    for (size_t k = 0; k < sizeof conversions / sizeof *conversions; k++) {
        const Conversion *one = conversions + k;
        PyArray_Descr *other = PyArray_DescrFromType(one->type);
        int failed = PyArray_RegisterCastFunc(other, number, one->from) < 0 ||
                     PyArray_RegisterCastFunc(descr, one->type, one->to) < 0 ||
                     (one->comes && PyArray_RegisterCanCast(other, number, NPY_NOSCALAR) < 0) ||
                     (one->goes && PyArray_RegisterCanCast(descr, one->type, NPY_NOSCALAR) < 0);
        Py_DECREF(other);
        if (failed)
            return -1;
    }
    return PyArray_RegisterCanCast(descr, NPY_OBJECT, NPY_NOSCALAR);
}

enum { BLOCK = 512, OPERANDS = 4 };

/* A loop of NumPy's for float32. */
typedef struct {
    PyUFuncGenericFunction call;
    void *data;
    int inputs, count;
    int folds; /* two floats to one */
    int picks; /* one of its operands, so that nothing is rounded */
    int types[OPERANDS]; /* NPY_FLOAT for what is bfloat16 here */
} Loop;

FOR_MACHINE static void widen(const char *from, npy_intp step, npy_intp count, float *to)
{
    if (step == 2)
        for (npy_intp i = 0; i < count; i++)
            to[i] = wide(((const half *)from)[i]);
    else
        for (npy_intp i = 0; i < count; i++)
            to[i] = wide(*(const half *)(from + i * step));
}

FOR_MACHINE static void narrow_all(const float *from, char *to, npy_intp step, npy_intp count)
{
    if (step == 2)
        for (npy_intp i = 0; i < count; i++)
            ((half *)to)[i] = narrow(from[i]);
    else
        for (npy_intp i = 0; i < count; i++)
            *(half *)(to + i * step) = narrow(from[i]);
}

/* Each result is the first operand of the next step: `reduce`, in one place, and `accumulate`. */
static void run_in_turn(const Loop *loop, char **args, npy_intp size, npy_intp const *steps)
{
    float room[BLOCK], value = wide(*(const half *)args[0]);
    char *from = args[1], *to = args[2];
    npy_intp one = 1, count, strides[] = {sizeof(float), sizeof(float), sizeof(float)};
    for (npy_intp left = size; left > 0; left -= count) {
        count = left < BLOCK ? left : BLOCK;
        widen(from, steps[1], count, room);
        if (loop->picks && steps[2] == 0) {
            char *places[] = {(char *)&value, (char *)room, (char *)&value};
            loop->call(places, &count, (npy_intp[]){0, sizeof(float), 0}, loop->data);
            *(half *)to = narrow(value);
        }
        else
            for (npy_intp i = 0; i < count; i++, to += steps[2]) {
                char *places[] = {(char *)&value, (char *)(room + i), (char *)&value};
                loop->call(places, &one, strides, loop->data);
                *(half *)to = narrow(value);
                value = wide(*(half *)to);
            }
        from += count * steps[1];
    }
}

/* Whether elements of an input may be results of earlier steps. Where a result takes its own
   input's place, the block has been read before. */
static int depends(char *input, npy_intp in_step, char *output, npy_intp out_step, npy_intp count)
{
    if (input == output && in_step == out_step && in_step != 0)
        return 0;
    npy_intp in_last = in_step * (count - 1), out_last = out_step * (count - 1);
    char *in_low = input + (in_last < 0 ? in_last : 0);
    char *low = output + (out_last < 0 ? out_last : 0);
    const int most = sizeof(npy_int32); /* bytes of an element */
    return in_low < low + llabs(out_last) + most && low < in_low + llabs(in_last) + most;
}

/* A function of NumPy's for float32, block by block, rounded at the end. */
static void run_wide(char **args, npy_intp const *sizes, npy_intp const *steps, void *data)
{
    const Loop *loop = data;
    float room[OPERANDS][BLOCK];
    char *places[OPERANDS], *at[OPERANDS];
    npy_intp strides[OPERANDS], count, most = BLOCK;
    if (loop->folds && args[2] == args[0] + steps[0] && steps[0] == steps[2]) {
        run_in_turn(loop, args, sizes[0], steps);
        return;
    }
    for (int k = 0; k < loop->count; k++)
        at[k] = args[k];
    for (int k = 0; k < loop->inputs; k++)
        for (int o = loop->inputs; o < loop->count; o++)
            if (depends(args[k], steps[k], args[o], steps[o], sizes[0]))
                most = 1;
    for (npy_intp left = sizes[0]; left > 0; left -= count) {
        count = left < most ? left : most;
        for (int k = 0; k < loop->count; k++) {
            int is_wide = loop->types[k] == NPY_FLOAT, is_number = k < loop->inputs && !steps[k];
            places[k] = is_wide ? (char *)room[k] : at[k];
            strides[k] = !is_wide ? steps[k] : is_number ? 0 : (npy_intp)sizeof(float);
            if (is_wide && k < loop->inputs)
                widen(at[k], steps[k], is_number ? 1 : count, room[k]);
        }
        loop->call(places, &count, strides, loop->data);
        for (int k = 0; k < loop->count; k++) {
            if (k >= loop->inputs && loop->types[k] == NPY_FLOAT)
                narrow_all(room[k], at[k], steps[k], count);
            at[k] += count * steps[k];
        }
    }
}

/* The functions whose result is of the numbers' own fineness, which float32 doesn't know. */
static void run_next_after(char **args, npy_intp const *sizes, npy_intp const *steps, void *data)
{
    for (npy_intp i = 0; i < sizes[0]; i++)
        *(half *)(args[2] + i * steps[2]) =
            next_after(*(half *)(args[0] + i * steps[0]), *(half *)(args[1] + i * steps[1]));
}

static void run_spacing(char **args, npy_intp const *sizes, npy_intp const *steps, void *data)
{
    for (npy_intp i = 0; i < sizes[0]; i++)
        *(half *)(args[1] + i * steps[1]) = space_after(*(half *)(args[0] + i * steps[0]));
}

static const char *const names[] = {
    "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "cbrt", "ceil", "conjugate", "copysign", "cos", "cosh", "deg2rad", "degrees", "divide",
    "divmod", "equal", "exp", "exp2", "expm1", "fabs", "floor", "floor_divide", "fmax", "fmin",
    "fmod", "frexp", "greater", "greater_equal", "heaviside", "hypot", "isfinite", "isinf", "isnan",
    "ldexp", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "modf",
    "multiply", "negative", "nextafter", "not_equal", "positive", "power", "rad2deg", "radians",
    "reciprocal", "remainder", "rint", "sign", "signbit", "sin", "sinh", "spacing", "sqrt",
    "square", "subtract", "tan", "tanh", "trunc",
};
static Loop loops[sizeof names / sizeof *names];

/* Finds the first loop of floats, bools and ints whose first operand is float32. */
static int find_loop(const PyUFuncObject *known, Loop *loop)
{
    loop->count = known->nargs;
    loop->inputs = known->nin;
    for (int i = 0; i < known->ntypes && known->nargs <= OPERANDS; i++) {
        int fits = known->functions[i] != NULL;
        for (int k = 0; k < known->nargs; k++) {
            int type = known->types[i * known->nargs + k];
            fits = fits && (type == NPY_FLOAT || (k && (type == NPY_BOOL || type == NPY_INT)));
            loop->types[k] = type;
        }
        if (fits) {
            loop->folds = known->nin == 2 && known->nargs == 3 && loop->types[1] == NPY_FLOAT &&
                          loop->types[2] == NPY_FLOAT;
            loop->picks = strstr("maximum minimum fmax fmin", known->name) != NULL;
            loop->call = known->functions[i];
            loop->data = known->data == NULL ? NULL : known->data[i];
            return 0;
        }
    }
    PyErr_Format(PyExc_ImportError, "NumPy's %s is not known", known->name);
    return -1;
}

/* 0, or -1 with an error. */
static int add_loops(PyObject *numpy)
{
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        PyObject *found = PyObject_GetAttrString(numpy, names[n]);
        if (found == NULL)
            return -1;
        if (!PyObject_TypeCheck(found, &PyUFunc_Type)) {
            Py_DECREF(found);
            PyErr_Format(PyExc_ImportError, "NumPy's %s is not known", names[n]);
            return -1;
        }
        PyUFuncObject *known = (PyUFuncObject *)found;
        PyUFuncGenericFunction call = strcmp(names[n], "nextafter") == 0 ? run_next_after
                                      : strcmp(names[n], "spacing") == 0 ? run_spacing
                                                                         : run_wide;
        int types[OPERANDS], failed = find_loop(known, loops + n) < 0;
        for (int k = 0; !failed && k < known->nargs; k++)
            types[k] = loops[n].types[k] == NPY_FLOAT ? number : loops[n].types[k];
        failed = failed || PyUFunc_RegisterLoopForType(known, number, call, types, loops + n) < 0;
        Py_DECREF(found);
        if (failed)
            return -1;
    }
    return 0;
}

/* ---- the module --------------------------------------------------------------------------- */

/* Makes the type and tells NumPy of it. 0, or -1 with an error. */
static int add_type(PyObject *numpy)
{
    static PyArray_ArrFuncs functions;
    PyArray_InitArrFuncs(&functions);
    functions.getitem = get_item;
    functions.setitem = set_item;
    functions.copyswapn = copy_items;
    functions.copyswap = copy_item;
    functions.nonzero = is_nonzero;
    functions.compare = compare_items;
    functions.argmax = find_largest;
    functions.argmin = find_smallest;
    functions.dotfunc = multiply_rows;
    functions.fill = fill_range;
    functions.fillwithscalar = fill_items;
    PyObject *base = (PyObject *)&PyGenericArrType_Type;
    scalar_type = (PyTypeObject *)PyType_FromSpecWithBases(&spec, base);
    if (scalar_type == NULL)
        return -1;
    Py_SET_TYPE(&proto, &PyArrayDescr_Type);
    proto.typeobj = scalar_type;
    proto.kind = 'V';
    proto.type = 'E';
    proto.byteorder = '=';
    proto.flags = NPY_USE_SETITEM;
    proto.elsize = sizeof(half);
    proto.alignment = sizeof(half);
    proto.f = &functions;
    proto.hash = -1;
    number = PyArray_RegisterDataType(&proto);
    if (number < 0)
        return -1;
    PyArray_Descr *descr = PyArray_DescrFromType(number);
    int failed = PyObject_SetAttrString((PyObject *)scalar_type, "dtype", (PyObject *)descr) < 0 ||
                 add_conversions(descr) < 0 || add_loops(numpy) < 0;
    Py_DECREF(descr);
    return failed ? -1 : 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bfloat16", "The number type bfloat16 for NumPy.", -1
};

PyMODINIT_FUNC PyInit_bfloat16(void)
{
    static int done;
    import_array();
    import_umath();
    PyObject *numpy = done ? NULL : PyImport_ImportModule("numpy");
    if (!done && (numpy == NULL || add_type(numpy) < 0)) {
        Py_XDECREF(numpy);
        return NULL;
    }
    Py_XDECREF(numpy);
    done = 1;
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && PyModule_AddObjectRef(module, "bfloat16", (PyObject *)scalar_type) < 0)
        Py_CLEAR(module);
    return module;
}
