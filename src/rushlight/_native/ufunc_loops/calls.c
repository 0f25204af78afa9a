/* What calls are looked up by: the types of arguments, and sizes. How planned calls run, and what
   stands before the functions that users call. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <string.h>
#include <structmember.h>

static PyObject *types_of(PyObject *module, PyObject *args)
{
    if (!PyTuple_CheckExact(args)) {
        PyErr_SetString(PyExc_TypeError, "types_of() takes a tuple");
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *found = PyTuple_New(count);
    for (Py_ssize_t k = 0; found != NULL && k < count; k++)
        PyTuple_SET_ITEM(found, k, Py_NewRef((PyObject *)Py_TYPE(PyTuple_GET_ITEM(args, k))));
    return found;
}

static PyObject *sizes_of(PyObject *module, PyObject *args)
{
    if (!PyTuple_CheckExact(args)) {
        PyErr_SetString(PyExc_TypeError, "sizes_of() takes a tuple");
        return NULL;
    }
    PyObject *sizes = args, *only = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (PyTuple_GET_SIZE(args) == 0)
        Py_RETURN_NONE;
    if (only != NULL && (PyTuple_Check(only) || PyList_Check(only))) {
        sizes = PySequence_Tuple(only);
        if (sizes == NULL)
            return NULL;
    }
    else
        Py_INCREF(sizes);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(sizes); k++)
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(sizes, k))) {
            Py_DECREF(sizes);
            Py_RETURN_NONE;
        }
    return sizes;
}

static PyObject *quick; /* a word */

/* Converts values, each by the function that is told with its place. Whether all could be. */
static int convert(PyObject *told, PyObject *values)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(told); k++) {
        PyObject *one = PyTuple_GET_ITEM(told, k); /* as `Plan` makes them */
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(one, 0));
        if (place < 0 || place >= PyList_GET_SIZE(values)) {
            PyErr_SetString(PyExc_ValueError, "no such argument");
            return 0;
        }
        PyObject *value = Py_NewRef(PyList_GET_ITEM(values, place));
        PyObject *made = PyObject_CallOneArg(PyTuple_GET_ITEM(one, 1), value);
        Py_DECREF(value);
        if (made == NULL || PyList_SetItem(values, place, made) < 0)
            return 0;
    }
    return 1;
}

/* The types of some values, as a tuple. */
static PyObject *types_among(PyObject *const *values, Py_ssize_t count)
{
    PyObject *found = PyTuple_New(count);
    for (Py_ssize_t k = 0; found != NULL && k < count; k++)
        PyTuple_SET_ITEM(found, k, Py_NewRef((PyObject *)Py_TYPE(values[k])));
    return found;
}

/* What a call is known by: the types of its arguments; the names of keywords, which follow them,
   and the types of their values, if there are some. */
static PyObject *key_of(PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *types = types_among(args, count);
    if (names == NULL || types == NULL)
        return types;
    PyObject *kinds = types_among(args + count, PyTuple_GET_SIZE(names));
    PyObject *key = kinds == NULL ? NULL : PyTuple_Pack(3, types, names, kinds);
    Py_DECREF(types);
    Py_XDECREF(kinds);
    return key;
}

/* Puts keywords in their places, which are told with their names. Whether all could be. */
static int fill_in(PyObject *told, PyObject *names, PyObject *const *given, PyObject *values)
{
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(told); k++) {
        PyObject *one = PyTuple_GET_ITEM(told, k); /* as `Plan` makes them */
        PyObject *name = PyTuple_GET_ITEM(one, 1), *value = NULL;
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(one, 0));
        for (Py_ssize_t i = 0; value == NULL && i < PyTuple_GET_SIZE(names); i++) {
            PyObject *other = PyTuple_GET_ITEM(names, i);
            if (other == name || PyUnicode_Compare(other, name) == 0)
                value = given[i];
        }
        if (value == NULL || place < 0 || place >= PyList_GET_SIZE(values)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "no such argument");
            return 0;
        }
        if (PyList_SetItem(values, place, Py_NewRef(value)) < 0)
            return 0;
    }
    return 1;
}

/* A call by its plan, where one of `plans` has for these types what runs, its operation, the
   arguments that follow, what is to be converted, from where on arguments are packed, and where
   keywords go; else `plans`, as where a conversion raises one of `misfits`. */
static PyObject *by_plan(PyObject *plans, PyObject *misfits, PyObject *const *args,
                         Py_ssize_t count, PyObject *names)
{
    PyObject *key = key_of(args, count, names);
    if (key == NULL)
        return NULL;
    PyObject *plan = Py_XNewRef(PyDict_GetItemWithError(plans, key));
    Py_DECREF(key);
    if (plan == NULL)
        return PyErr_Occurred() ? NULL : Py_NewRef(plans);
    PyObject *all = PyObject_GetAttr(plan, quick);
    Py_DECREF(plan);
    if (all == NULL)
        return NULL;
    if (!PyTuple_CheckExact(all) || PyTuple_GET_SIZE(all) != 6) { /* None */
        Py_DECREF(all);
        return Py_NewRef(plans);
    }
    PyObject *found = NULL, *rest = PyTuple_GET_ITEM(all, 2);
    Py_ssize_t more = PyTuple_GET_SIZE(rest);
    Py_ssize_t single = PyLong_AsSsize_t(PyTuple_GET_ITEM(all, 4)); /* what follows is packed */
    int packs = single >= 0 && single <= count;
    if (!packs)
        single = count;
    PyObject *values = PyList_New(single + packs + more);
    if (values == NULL)
        goto done;
    for (Py_ssize_t k = 0; k < single; k++)
        PyList_SET_ITEM(values, k, Py_NewRef(args[k]));
    for (Py_ssize_t k = 0; k < more; k++)
        PyList_SET_ITEM(values, single + packs + k, Py_NewRef(PyTuple_GET_ITEM(rest, k)));
    if (packs) {
        PyObject *packed = PyTuple_New(count - single);
        if (packed == NULL)
            goto done;
        for (Py_ssize_t k = single; k < count; k++)
            PyTuple_SET_ITEM(packed, k - single, Py_NewRef(args[k]));
        PyList_SET_ITEM(values, single, packed);
    }
    if (names != NULL && !fill_in(PyTuple_GET_ITEM(all, 5), names, args + count, values))
        goto done;
    if (!convert(PyTuple_GET_ITEM(all, 3), values)) {
        if (PyErr_ExceptionMatches(misfits)) {
            PyErr_Clear(); /* who finds no quick way says why */
            found = Py_NewRef(plans);
        }
        goto done;
    }
    PyObject *call[2] = {PyTuple_GET_ITEM(all, 1), values};
    found = PyObject_Vectorcall(PyTuple_GET_ITEM(all, 0), call, 2, NULL);
done:
    Py_XDECREF(values);
    Py_DECREF(all);
    return found;
}

#define MOST_GIVEN 32 /* arguments and keywords of a call */

/* The same for arguments as a tuple and keywords as a dict. */
static PyObject *run_plan(PyObject *module, PyObject *const *given, Py_ssize_t number)
{
    if (number < 3 || number > 4 || !PyDict_CheckExact(given[0]) ||
        !PyTuple_CheckExact(given[1]) || !PyTuple_CheckExact(given[2]) ||
        (number == 4 && !PyDict_CheckExact(given[3]))) {
        PyErr_SetString(PyExc_TypeError, "run_plan() takes a dict, two tuples and maybe keywords");
        return NULL;
    }
    PyObject *plans = given[0], *args = given[1], *name, *value, *all[MOST_GIVEN];
    Py_ssize_t count = PyTuple_GET_SIZE(args), at = 0, k = 0;
    Py_ssize_t words = number == 4 ? PyDict_GET_SIZE(given[3]) : 0;
    if (words == 0)
        return by_plan(plans, given[2], ((PyTupleObject *)args)->ob_item, count, NULL);
    if (count + words > MOST_GIVEN)
        return Py_NewRef(plans);
    PyObject *names = PyTuple_New(words);
    if (names == NULL)
        return NULL;
    for (; k < count; k++)
        all[k] = PyTuple_GET_ITEM(args, k);
    for (; PyDict_Next(given[3], &at, &name, &value); k++) {
        PyTuple_SET_ITEM(names, k - count, Py_NewRef(name));
        all[k] = value;
    }
    PyObject *found = by_plan(plans, given[2], all, count, names);
    Py_DECREF(names);
    return found;
}

/* ---- what users call ---------------------------------------------------------------------- */

#define PARTS 5

/* A function, and what takes its usual calls without a frame of Python: see Note [Entries]. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function; /* which this stands for */
    PyObject *others; /* takes everything else */
    PyObject *parts[PARTS];
    PyObject *failed; /* says what comes of an error; NULL: the error itself */
} Entry;

static PyObject *pass_on(Entry *self, PyObject *const *args, size_t flags, PyObject *names)
{
    return PyObject_Vectorcall(self->others, args, flags, names);
}

/* The exception that is set, as an object. */
static PyObject *take_error(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != NULL)
        PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
#endif
}

/* What `failed` makes of an error, which it gets in a list, and of the arguments. */
static PyObject *ask_of_error(Entry *self, PyObject *const *args, Py_ssize_t count,
                              PyObject *names)
{
    if (self->failed == NULL || !PyErr_ExceptionMatches(PyExc_Exception))
        return NULL;
    PyObject *error = take_error(), *found = NULL, *box = error == NULL ? NULL : PyList_New(1);
    PyObject *given = PyTuple_New(count), *words = PyDict_New();
    if (box != NULL)
        PyList_SET_ITEM(box, 0, error);
    else
        Py_XDECREF(error);
    int fine = box != NULL && given != NULL && words != NULL;
    for (Py_ssize_t k = 0; given != NULL && k < count; k++)
        PyTuple_SET_ITEM(given, k, Py_NewRef(args[k]));
    for (Py_ssize_t k = 0; fine && names != NULL && k < PyTuple_GET_SIZE(names); k++)
        fine = PyDict_SetItem(words, PyTuple_GET_ITEM(names, k), args[count + k]) == 0;
    if (fine) {
        PyObject *call[3] = {given, words, box};
        found = PyObject_Vectorcall(self->failed, call, 3, NULL);
    }
    Py_XDECREF(box);
    Py_XDECREF(given);
    Py_XDECREF(words);
    return found;
}

/* An operation on tensors alone, as many as `want`: its parts are their class, what runs, and the
   operation. */
static PyObject *call_on(Entry *self, PyObject *const *args, size_t flags, PyObject *names,
                         Py_ssize_t want)
{
    if (PyVectorcall_NARGS(flags) != want || (names != NULL && PyTuple_GET_SIZE(names) > 0))
        return pass_on(self, args, flags, names);
    PyObject *all[3] = {self->parts[2], args[0], args[want - 1]};
    for (Py_ssize_t k = 0; k < want; k++)
        if (!PyObject_TypeCheck(args[k], (PyTypeObject *)self->parts[0]))
            return pass_on(self, args, flags, names);
    return PyObject_Vectorcall(self->parts[1], all, want + 1, NULL);
}

static PyObject *call_on_one(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    return call_on((Entry *)me, args, flags, names, 1);
}

static PyObject *call_on_two(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    return call_on((Entry *)me, args, flags, names, 2);
}

/* An operation by a plan: its parts are the plans, and the misfits. */
static PyObject *call_planned(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    Entry *self = (Entry *)me;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (names != NULL && PyTuple_GET_SIZE(names) == 0)
        names = NULL;
    PyObject *found = by_plan(self->parts[0], self->parts[1], args, count, names);
    if (found == NULL)
        return ask_of_error(self, args, count, names);
    if (found != self->parts[0])
        return found;
    Py_DECREF(found);
    return pass_on(self, args, flags, names);
}

/* Whether somebody is on: the list is empty until somebody was, then it has what says so; -1 with an
   error. */
static int somebody_is_on(PyObject *list)
{
    if (PyList_GET_SIZE(list) == 0)
        return 0;
    PyObject *ask = Py_NewRef(PyList_GET_ITEM(list, 0)), *found = PyObject_CallNoArgs(ask);
    int on = found == NULL ? -1 : PyObject_IsTrue(found);
    Py_DECREF(ask);
    Py_XDECREF(found);
    return on;
}

/* Whether a list or a tuple holds nothing but ints; -1 with an error. */
static int holds_ints(PyObject *list)
{
    if (!PyTuple_CheckExact(list) && !PyList_CheckExact(list))
        return 0;
    PyObject *items = PySequence_Tuple(list); /* a list may change meanwhile */
    if (items == NULL)
        return -1;
    int fine = 1;
    for (Py_ssize_t k = 0; fine && k < PyTuple_GET_SIZE(items); k++)
        fine = PyLong_CheckExact(PyTuple_GET_ITEM(items, k));
    Py_DECREF(items);
    return fine;
}

/* Whether a call is among those that are settled: by its types and keywords, with the places of
   lists that must hold nothing but ints; -1 with an error. */
static int is_settled(PyObject *settled, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *key = key_of(args, count, names);
    if (key == NULL)
        return -1;
    PyObject *places = Py_XNewRef(PyDict_GetItemWithError(settled, key));
    Py_DECREF(key);
    if (places == NULL)
        return PyErr_Occurred() ? -1 : 0;
    Py_ssize_t given = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    int fine = PyTuple_CheckExact(places);
    for (Py_ssize_t k = 0; fine > 0 && k < PyTuple_GET_SIZE(places); k++) {
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(places, k));
        if (place == -1 && PyErr_Occurred())
            fine = -1;
        else
            fine = place >= 0 && place < given ? holds_ints(args[place]) : 0;
    }
    Py_DECREF(places);
    return fine;
}

/* A function made of several operations, where nobody is on and the types are settled: its parts
   are the list that says who is on, what is settled (or None: anything), what runs, and the last
   two again for calls with keywords. */
static PyObject *call_whole(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    Entry *self = (Entry *)me;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (names != NULL && PyTuple_GET_SIZE(names) == 0)
        names = NULL;
    PyObject *settled = self->parts[names == NULL ? 1 : 3];
    int on = somebody_is_on(self->parts[0]);
    if (on == 0 && settled != Py_None) {
        int known = is_settled(settled, args, count, names);
        on = known < 0 ? -1 : !known;
    }
    if (on != 0)
        return on < 0 ? NULL : pass_on(self, args, flags, names);
    PyObject *found = PyObject_Vectorcall(self->parts[names == NULL ? 2 : 4], args, count, names);
    return found != NULL ? found : ask_of_error(self, args, count, names);
}

/* A view by integers alone, as `x.transpose(0, 1)`: its parts are the class of tensors, what runs,
   and a tuple of operations, of which the one for so many integers is taken (None: there is none).
   A view changes nothing: who says what is wrong makes it again. */
static PyObject *call_view(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    Entry *self = (Entry *)me;
    Py_ssize_t count = PyVectorcall_NARGS(flags), more = count - 1;
    if (count < 1 || (names != NULL && PyTuple_GET_SIZE(names) > 0) ||
        more >= PyTuple_GET_SIZE(self->parts[2]) ||
        !PyObject_TypeCheck(args[0], (PyTypeObject *)self->parts[0]))
        return pass_on(self, args, flags, names);
    PyObject *op = PyTuple_GET_ITEM(self->parts[2], more);
    int fine = op != Py_None;
    for (Py_ssize_t k = 1; k < count; k++)
        fine = fine && PyLong_CheckExact(args[k]);
    if (!fine)
        return pass_on(self, args, flags, names);
    PyObject *places = PyTuple_New(more);
    if (places == NULL)
        return NULL;
    for (Py_ssize_t k = 0; k < more; k++)
        PyTuple_SET_ITEM(places, k, Py_NewRef(args[k + 1]));
    PyObject *call[3] = {op, args[0], places};
    PyObject *found = PyObject_Vectorcall(self->parts[1], call, 3, NULL);
    Py_DECREF(places);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_Exception))
        return found;
    PyErr_Clear();
    return pass_on(self, args, flags, names);
}

/* A method: its parts are the list that says who is on, and what takes its calls where there is
   nobody. */
static PyObject *call_method(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    Entry *self = (Entry *)me;
    int on = somebody_is_on(self->parts[0]);
    if (on != 0)
        return on < 0 ? NULL : pass_on(self, args, flags, names);
    return PyObject_Vectorcall(self->parts[1], args, flags, names);
}

/* In a class an entry is a method: what looks it up gets the function, and only a call, which the
   interpreter makes without binding, comes here. */
static PyObject *bind_entry(PyObject *me, PyObject *instance, PyObject *owner)
{
    PyObject *function = ((Entry *)me)->function;
    return instance == NULL ? Py_NewRef(function) : PyMethod_New(function, instance);
}

/* A function without usual calls: all are handed on as they came. */
static PyObject *call_any(PyObject *me, PyObject *const *args, size_t flags, PyObject *names)
{
    return pass_on((Entry *)me, args, flags, names);
}

static const struct {
    const char *kind;
    vectorcallfunc call;
    Py_ssize_t parts;
} ways[] = {
    {"one", call_on_one, 3}, {"two", call_on_two, 3}, {"plan", call_planned, 2},
    {"whole", call_whole, 5}, {"any", call_any, 0}, {"view", call_view, 3},
    {"method", call_method, 2},
};

static int are_apt(const char *kind, PyObject *const *parts)
{
    if (kind[0] == 'a')
        return 1;
    if (kind[0] == 'm')
        return PyList_CheckExact(parts[0]);
    if (kind[0] == 'v')
        return PyType_Check(parts[0]) && PyTuple_CheckExact(parts[2]);
    if (kind[0] == 'o' || kind[0] == 't')
        return PyType_Check(parts[0]);
    if (kind[0] == 'p')
        return PyDict_CheckExact(parts[0]) && PyTuple_CheckExact(parts[1]);
    return PyList_CheckExact(parts[0]) && (parts[1] == Py_None || PyDict_CheckExact(parts[1])) &&
           (parts[3] == Py_None || PyDict_CheckExact(parts[3]));
}

static PyObject *make_entry(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *words[] = {"function", "others", "kind", "parts", "failed", NULL};
    PyObject *function, *others, *parts, *failed = Py_None;
    const char *kind;
    if (!PyArg_ParseTupleAndKeywords(args, names, "OOsO!|O", words, &function, &others, &kind,
                                     &PyTuple_Type, &parts, &failed))
        return NULL;
    for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
        if (strcmp(kind, ways[k].kind) != 0 || PyTuple_GET_SIZE(parts) != ways[k].parts ||
            !are_apt(kind, ((PyTupleObject *)parts)->ob_item))
            continue;
        Entry *self = (Entry *)type->tp_alloc(type, 0);
        if (self == NULL)
            return NULL;
        self->call = ways[k].call;
        self->function = Py_NewRef(function);
        self->others = Py_NewRef(others);
        for (Py_ssize_t i = 0; i < ways[k].parts; i++)
            self->parts[i] = Py_NewRef(PyTuple_GET_ITEM(parts, i));
        self->failed = failed == Py_None ? NULL : Py_NewRef(failed);
        return (PyObject *)self;
    }
    PyErr_SetString(PyExc_ValueError, "there is no such kind of entries");
    return NULL;
}

static int traverse_entry(Entry *self, visitproc visit, void *arg)
{
    Py_VISIT(self->function);
    Py_VISIT(self->others);
    for (int k = 0; k < PARTS; k++)
        Py_VISIT(self->parts[k]);
    Py_VISIT(self->failed);
    return 0;
}

static void dealloc_entry(Entry *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->function);
    Py_CLEAR(self->others);
    for (int k = 0; k < PARTS; k++)
        Py_CLEAR(self->parts[k]);
    Py_CLEAR(self->failed);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef members_of_entry[] = {
    {"function", T_OBJECT, offsetof(Entry, function), READONLY, "The function that it stands for."},
    {NULL}
};

static PyTypeObject entry_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "type", /* what PyTorch's builtins say that they are methods of */
    .tp_doc = "What takes the usual calls of a function.",
    .tp_basicsize = sizeof(Entry),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(Entry, call),
    .tp_descr_get = bind_entry,
    .tp_call = PyVectorcall_Call,
    .tp_new = make_entry,
    .tp_traverse = (traverseproc)traverse_entry,
    .tp_dealloc = (destructor)dealloc_entry,
    .tp_members = members_of_entry,
};

static PyMethodDef methods[] = {
    {"run_plan", (PyCFunction)(void (*)(void))run_plan, METH_FASTCALL,
     "Runs a call by its plan for the types of its arguments; gives the plans where that can't."},
    {"types_of", types_of, METH_O, "The types of the items of a tuple."},
    {"sizes_of", sizes_of, METH_O,
     "The sizes that arguments give one by one or as one sequence; None unless all are ints."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "calls", "What calls are looked up by.", -1, methods
};

PyMODINIT_FUNC PyInit_calls(void)
{
    quick = PyUnicode_InternFromString("quick");
    if (quick == NULL || PyType_Ready(&entry_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Entry", (PyObject *)&entry_type) < 0)
        return NULL;
    return module;
}
