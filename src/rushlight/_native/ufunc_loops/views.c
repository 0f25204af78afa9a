/* Views of arrays of numbers, with the strides that `_array/shape/views.py` gives them. */
#include "short.h"

#define DIMENSIONS 16
#define MOST (1 << 24) /* of a size that is asked for, and of the elements of a result */

typedef struct {
    int rank;
    npy_intp sizes[DIMENSIONS], strides[DIMENSIONS];
    char *first;
} Window;

static int read_number(PyObject *x, npy_intp *value)
{
    if (!PyLong_CheckExact(x))
        return 0;
    *value = PyLong_AsSsize_t(x);
    if (*value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

static void lay_out(Window *w, npy_intp item)
{
    for (int k = w->rank; k-- > 0; item *= w->sizes[k])
        w->strides[k] = item;
}

/* Steps for the sizes of a window over elements that lie apart; whether there are such. Sizes of one
   belong to what follows them, at the end to what goes before; where all sizes are told, and are
   those that it has, its own steps stay. */
static int lay_over(PyArrayObject *x, int told, Window *w)
{
    int from = PyArray_NDIM(x);
    npy_intp left = 1, step = 0; /* of the run of dimensions that is being cut up */
    if (PyArray_FLAGS(x) & NPY_ARRAY_C_CONTIGUOUS)
        return 0; /* sizes of one alone make it look apart */
    if (told && w->rank == from && PyArray_CompareLists(w->sizes, PyArray_DIMS(x), from)) {
        copy_sizes(w->strides, PyArray_STRIDES(x), from);
        return 1;
    }
    while (PyArray_DIM(x, from - 1) == 1) /* not all are: it would be contiguous */
        from--;
    step = PyArray_STRIDE(x, from - 1);
    for (int k = w->rank; k-- > 0; left /= w->sizes[k], step *= w->sizes[k]) {
        while (left % w->sizes[k] != 0) {
            do
                from--; /* there is one: both have as many elements */
            while (PyArray_DIM(x, from) == 1);
            if (left == 1)
                step = PyArray_STRIDE(x, from);
            else if (PyArray_STRIDE(x, from) != left * step)
                return 0;
            left *= PyArray_DIM(x, from);
        }
        w->strides[k] = step;
    }
    return 1;
}

/* Another shape for as many elements, in which -1 may stand for one size. */
static int reshape(PyArrayObject *x, PyObject *size, Window *w)
{
    if (!PyTuple_CheckExact(size) || PyTuple_GET_SIZE(size) > DIMENSIONS)
        return 0;
    npy_intp known = 1, count = PyArray_SIZE(x);
    int open = -1;
    w->rank = (int)PyTuple_GET_SIZE(size);
    for (int k = 0; k < w->rank; k++) {
        npy_intp n;
        if (!read_number(PyTuple_GET_ITEM(size, k), &n) || n < -1 || n == 0 || n > count)
            return 0;
        if (n == -1) {
            if (open >= 0)
                return 0;
            open = k;
            n = 1;
        }
        w->sizes[k] = n;
        if (known > count / n)
            return 0;
        known *= n;
    }
    if (open >= 0 && count % known == 0) {
        w->sizes[open] = count / known;
        known = count;
    }
    if (known != count)
        return 0;
    if (!is_dense(x))
        return lay_over(x, open < 0, w);
    lay_out(w, PyArray_ITEMSIZE(x));
    return 1;
}

/* Dimensions of size one, and new ones, repeated. */
static int expand(PyArrayObject *x, PyObject *size, Window *w)
{
    if (!PyTuple_CheckExact(size) || PyTuple_GET_SIZE(size) > DIMENSIONS)
        return 0;
    w->rank = (int)PyTuple_GET_SIZE(size);
    int lead = w->rank - PyArray_NDIM(x);
    if (lead < 0)
        return 0;
    npy_intp step = PyArray_ITEMSIZE(x), all = 1;
    for (int k = w->rank; k-- > 0;) {
        npy_intp n;
        if (!read_number(PyTuple_GET_ITEM(size, k), &n) || n < -1 || n == 0 || n > MOST)
            return 0;
        npy_intp have = k >= lead ? PyArray_DIM(x, k - lead) : 0;
        w->strides[k] = 0;
        if (k >= lead && (n == -1 || n == have)) {
            n = have;
            w->strides[k] = PyArray_STRIDE(x, k - lead);
        }
        else if (n < 0 || (k >= lead && have != 1))
            return 0;
        else if (k < lead && n == 1)
            w->strides[k] = step;
        w->sizes[k] = n;
        step = w->strides[k] * n;
        if (all > MOST / n)
            return 0;
        all *= n;
    }
    return 1;
}

static int unsqueeze(PyArrayObject *x, PyObject *place, Window *w)
{
    int rank = PyArray_NDIM(x), dense = is_dense(x), dim = read_dim(place, rank + 1);
    if (rank + 1 > DIMENSIONS || dim < 0)
        return 0;
    if (!dense && (PyArray_FLAGS(x) & NPY_ARRAY_C_CONTIGUOUS))
        return 0; /* strides of sizes of one are made anew */
    w->rank = rank + 1;
    for (int k = 0; k < rank; k++) {
        w->sizes[k + (k >= dim)] = PyArray_DIM(x, k);
        w->strides[k + (k >= dim)] = PyArray_STRIDE(x, k);
    }
    w->sizes[dim] = 1;
    w->strides[dim] = dim < rank ? PyArray_DIM(x, dim) * PyArray_STRIDE(x, dim)
                                 : PyArray_ITEMSIZE(x);
    return 1;
}

static void take_all(PyArrayObject *x, Window *w)
{
    w->rank = PyArray_NDIM(x);
    copy_sizes(w->sizes, PyArray_DIMS(x), w->rank);
    copy_sizes(w->strides, PyArray_STRIDES(x), w->rank);
}

static int transpose(PyArrayObject *x, PyObject *const *args, Window *w)
{
    int a = read_dim(args[0], PyArray_NDIM(x)), b = read_dim(args[1], PyArray_NDIM(x));
    if (a < 0 || b < 0)
        return 0;
    take_all(x, w);
    w->sizes[a] = PyArray_DIM(x, b);
    w->sizes[b] = PyArray_DIM(x, a);
    w->strides[a] = PyArray_STRIDE(x, b);
    w->strides[b] = PyArray_STRIDE(x, a);
    return 1;
}

static int permute(PyArrayObject *x, PyObject *dims, Window *w)
{
    int seen = 0;
    w->rank = PyArray_NDIM(x);
    if (!PyTuple_CheckExact(dims) || PyTuple_GET_SIZE(dims) != w->rank)
        return 0;
    for (int k = 0; k < w->rank; k++) {
        int dim = read_dim(PyTuple_GET_ITEM(dims, k), w->rank);
        if (dim < 0 || seen & (1 << dim))
            return 0;
        seen |= 1 << dim;
        w->sizes[k] = PyArray_DIM(x, dim);
        w->strides[k] = PyArray_STRIDE(x, dim);
    }
    return 1;
}

/* What lies between two places of a dimension, for (dim, start, end, step). */
static int slice(PyArrayObject *x, PyObject *const *args, Window *w)
{
    npy_intp start = 0, end = PY_SSIZE_T_MAX, step;
    int dim = read_dim(args[0], PyArray_NDIM(x));
    if (dim < 0 || !read_number(args[3], &step) || step < 1 ||
        step > MOST || (args[1] != Py_None && !read_number(args[1], &start)) ||
        (args[2] != Py_None && !read_number(args[2], &end)))
        return 0;
    npy_intp count = PySlice_AdjustIndices(PyArray_DIM(x, dim), &start, &end, step);
    if (count < 1)
        return 0;
    take_all(x, w);
    w->sizes[dim] = count;
    w->strides[dim] *= step;
    w->first += start * PyArray_STRIDE(x, dim);
    return 1;
}

/* What lies at a place of a dimension. */
static int take_one(PyArrayObject *x, PyObject *const *args, Window *w)
{
    npy_intp place;
    int rank = PyArray_NDIM(x), dim = read_dim(args[0], rank);
    if (dim < 0 || !read_number(args[1], &place) || place < -PyArray_DIM(x, dim) ||
        place >= PyArray_DIM(x, dim))
        return 0;
    w->first += (place < 0 ? place + PyArray_DIM(x, dim) : place) * PyArray_STRIDE(x, dim);
    w->rank = 0;
    for (int k = 0; k < rank; k++)
        if (k != dim) {
            w->sizes[w->rank] = PyArray_DIM(x, k);
            w->strides[w->rank++] = PyArray_STRIDE(x, k);
        }
    return 1;
}

/* The diagonal of two dimensions, for (offset, dim, dim). */
static int diagonal(PyArrayObject *x, PyObject *const *args, Window *w)
{
    npy_intp offset;
    int rank = PyArray_NDIM(x), a = read_dim(args[1], rank), b = read_dim(args[2], rank);
    if (a < 0 || b < 0 || a == b || !read_number(args[0], &offset) || offset > MOST ||
        offset < -MOST)
        return 0;
    npy_intp rows = PyArray_DIM(x, a) + (offset < 0 ? offset : 0);
    npy_intp columns = PyArray_DIM(x, b) - (offset > 0 ? offset : 0);
    if (rows < 1 || columns < 1)
        return 0;
    w->rank = 0;
    for (int k = 0; k < rank; k++)
        if (k != a && k != b) {
            w->sizes[w->rank] = PyArray_DIM(x, k);
            w->strides[w->rank++] = PyArray_STRIDE(x, k);
        }
    w->sizes[w->rank] = rows < columns ? rows : columns;
    w->strides[w->rank++] = PyArray_STRIDE(x, a) + PyArray_STRIDE(x, b);
    w->first += offset > 0 ? offset * PyArray_STRIDE(x, b) : -offset * PyArray_STRIDE(x, a);
    return 1;
}

/* Whether a dimension so far, or one of an array from `dim` on, has one element. */
static int has_one(const Window *w, PyArrayObject *x, int dim)
{
    for (int k = 0; k < w->rank; k++)
        if (w->sizes[k] == 1)
            return 1;
    for (; dim < PyArray_NDIM(x); dim++)
        if (PyArray_DIM(x, dim) == 1)
            return 1;
    return 0;
}

/* What lies at places, between places and along new dimensions, one after the other: ints, slices
   with steps that go on, None and once `...`. */
static int take_part(PyArrayObject *x, PyObject *key, Window *w)
{
    int rank = PyArray_NDIM(x), dim = 0, moved = 0, dense = is_dense(x);
    int left = rank; /* dimensions that `...` stands for */
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) > DIMENSIONS)
        return 0;
    Py_ssize_t count = PyTuple_GET_SIZE(key);
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = PyTuple_GET_ITEM(key, k);
        left -= PyLong_CheckExact(item) || PySlice_Check(item);
    }
    w->rank = 0;
    for (Py_ssize_t k = 0; k <= count; k++) {
        PyObject *item = k < count ? PyTuple_GET_ITEM(key, k) : Py_Ellipsis;
        if (item == Py_Ellipsis) {
            if (left < 0 || w->rank + left > DIMENSIONS)
                return 0;
            for (; left > 0; left--, dim++) {
                w->sizes[w->rank] = PyArray_DIM(x, dim);
                w->strides[w->rank++] = PyArray_STRIDE(x, dim);
            }
        }
        else if (item == Py_None) {
            if (w->rank == DIMENSIONS ||
                (moved ? !PyArray_ISWRITEABLE(x) || has_one(w, x, dim)
                       : !dense && (PyArray_FLAGS(x) & NPY_ARRAY_C_CONTIGUOUS)))
                return 0; /* strides of sizes of one might be made anew */
            w->sizes[w->rank] = 1;
            w->strides[w->rank++] = dim < rank ? PyArray_DIM(x, dim) * PyArray_STRIDE(x, dim)
                                               : PyArray_ITEMSIZE(x);
        }
        else if (dim >= rank)
            return 0;
        else if (PyLong_CheckExact(item)) {
            npy_intp place, size = PyArray_DIM(x, dim);
            if (!read_number(item, &place) || place < -size || place >= size)
                return 0;
            w->first += (place < 0 ? place + size : place) * PyArray_STRIDE(x, dim++);
            moved = 1;
        }
        else if (PySlice_Check(item) && w->rank < DIMENSIONS) {
            PySliceObject *given = (PySliceObject *)item;
            npy_intp start = 0, end = PY_SSIZE_T_MAX, step = 1, size = PyArray_DIM(x, dim);
            if ((given->start != Py_None && !read_number(given->start, &start)) ||
                (given->stop != Py_None && !read_number(given->stop, &end)) ||
                (given->step != Py_None && !read_number(given->step, &step)) || step < 1 ||
                step > MOST)
                return 0;
            npy_intp many = PySlice_AdjustIndices(size, &start, &end, step);
            if (many < 1)
                return 0;
            moved = moved || many != size || step != 1;
            w->first += start * PyArray_STRIDE(x, dim);
            w->sizes[w->rank] = many;
            w->strides[w->rank++] = PyArray_STRIDE(x, dim++) * step;
        }
        else
            return 0;
    }
    return 1;
}

/* Whether views are made here of an array. */
static int is_apt(PyObject *array)
{
    PyArrayObject *x = (PyArrayObject *)array;
    return Py_TYPE(array) == &PyArray_Type && PyArray_SIZE(x) > 0 &&
           PyArray_NDIM(x) <= DIMENSIONS &&
           (PyTypeNum_ISNUMBER(PyArray_TYPE(x)) || PyTypeNum_ISBOOL(PyArray_TYPE(x)));
}

/* Whether it may be a spread number, whose memory may be written though the array may not. */
static int is_spread(PyArrayObject *x)
{
    return !PyArray_ISWRITEABLE(x) &&
           !(PyArray_FLAGS(x) & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS));
}

static PyObject *look_through(PyArrayObject *x, Window *w)
{
    PyArray_Descr *descr = PyArray_DESCR(x);
    Py_INCREF(descr);
    PyObject *out = PyArray_NewFromDescr(&PyArray_Type, descr, w->rank, w->sizes, w->strides,
                                         w->first, PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE, NULL);
    if (out == NULL)
        return NULL;
    Py_INCREF(x);
    if (PyArray_SetBaseObject((PyArrayObject *)out, (PyObject *)x) < 0) {
        Py_DECREF(out);
        return NULL;
    }
    return out;
}

/* The pieces of `size` along a dimension, of which the last may be smaller; 0: the parts at all its
   places, without it. */
static PyObject *cut_up(PyArrayObject *x, npy_intp size, PyObject *place)
{
    int rank = PyArray_NDIM(x), dim = read_dim(place, rank);
    if (dim < 0)
        return NULL;
    npy_intp n = PyArray_DIM(x, dim), each = size > 0 ? size : 1;
    Window w;
    take_all(x, &w);
    if (size < 1) {
        w.rank--;
        copy_sizes(w.sizes + dim, PyArray_DIMS(x) + dim + 1, rank - dim - 1);
        copy_sizes(w.strides + dim, PyArray_STRIDES(x) + dim + 1, rank - dim - 1);
    }
    Py_ssize_t count = (n - 1) / each + 1;
    PyObject *pieces = PyList_New(count);
    for (Py_ssize_t k = 0; pieces != NULL && k < count; k++) {
        w.first = PyArray_BYTES(x) + k * each * PyArray_STRIDE(x, dim);
        if (size > 0)
            w.sizes[dim] = k == count - 1 ? n - k * each : each;
        PyObject *piece = look_through(x, &w);
        if (piece == NULL)
            Py_CLEAR(pieces);
        else
            PyList_SET_ITEM(pieces, k, piece);
    }
    return pieces;
}

/* The letter says which: "V" another shape, "E" an expanded one (and what isn't read), "U" a new
   dimension, "T" two dimensions exchanged, "P" another order, "L" a slice, "I" one place, "D" a
   diagonal, "B" what basic indices leave, "A" all of it; "S" pieces of a size along a dimension,
   "N" the parts at all places of one, as lists. */
static PyObject *take_view(const char *letters, PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    Window w;
    int fine = 0;
    if (!is_apt(args[0]) || (strchr("VEUDB", letters[0]) != NULL && is_spread(x)))
        return NULL;
    if (letters[0] == 'N')
        return cut_up(x, 0, args[1]);
    npy_intp size;
    if (letters[0] == 'S')
        return read_number(args[1], &size) && size > 0 ? cut_up(x, size, args[2]) : NULL;
    w.first = PyArray_BYTES(x);
    switch (letters[0]) {
    case 'V': fine = reshape(x, args[1], &w); break;
    case 'E': fine = expand(x, args[1], &w); break;
    case 'U': fine = unsqueeze(x, args[1], &w); break;
    case 'T': fine = transpose(x, args + 1, &w); break;
    case 'P': fine = permute(x, args[1], &w); break;
    case 'L': fine = slice(x, args + 1, &w); break;
    case 'I': fine = take_one(x, args + 1, &w); break;
    case 'D': fine = diagonal(x, args + 1, &w); break;
    case 'B': fine = take_part(x, args[1], &w); break;
    case 'A': take_all(x, &w), fine = 1;
    }
    return fine ? look_through(x, &w) : NULL;
}

/* Whether an array has another shape over the same memory, for sure. */
static PyObject *has_shape(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Window w;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "has_shape() takes an array and a shape");
        return NULL;
    }
    return PyBool_FromLong(is_apt(args[0]) && !is_spread((PyArrayObject *)args[0]) &&
                           reshape((PyArrayObject *)args[0], args[1], &w));
}

/* A tuple of ints, slices that go on, None and once `...` as a key, with `...` at its end where it
   has none; None where it has other items. */
static PyObject *basic_key(PyObject *module, PyObject *items)
{
    if (!PyTuple_CheckExact(items)) {
        PyErr_SetString(PyExc_TypeError, "basic_key() takes a tuple");
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(items);
    int dots = 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = PyTuple_GET_ITEM(items, k);
        if (PySlice_Check(item)) {
            PySliceObject *given = (PySliceObject *)item;
            if ((given->start != Py_None && !PyLong_CheckExact(given->start)) ||
                (given->stop != Py_None && !PyLong_CheckExact(given->stop)) ||
                (given->step != Py_None &&
                 (!PyLong_CheckExact(given->step) || PyLong_AsLong(given->step) < 1))) {
                PyErr_Clear();
                Py_RETURN_NONE;
            }
        }
        else if (item == Py_Ellipsis && !dots)
            dots = 1;
        else if (item != Py_None && !PyLong_CheckExact(item))
            Py_RETURN_NONE;
    }
    if (dots)
        return Py_NewRef(items);
    PyObject *key = PyTuple_New(count + 1);
    if (key == NULL)
        return NULL;
    for (Py_ssize_t k = 0; k < count; k++)
        PyTuple_SET_ITEM(key, k, Py_NewRef(PyTuple_GET_ITEM(items, k)));
    PyTuple_SET_ITEM(key, count, Py_NewRef(Py_Ellipsis));
    return key;
}

static PyMethodDef methods[] = {
    {"basic_key", basic_key, METH_O, "Basic indices as a key; None where there are others."},
    {"has_shape", (PyCFunction)(void (*)(void))has_shape, METH_FASTCALL,
     "Whether an array has another shape over the same memory, for sure."},
    {NULL}
};

static PyObject *make_view(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, take_view);
}

static PyTypeObject view_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.views.View", "Views of arrays of numbers.", make_view);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "views", "Views of arrays of numbers.", -1, methods
};

PyMODINIT_FUNC PyInit_views(void)
{
    import_array();
    if (PyType_Ready(&view_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "View", (PyObject *)&view_type) < 0)
        return NULL;
    return module;
}
