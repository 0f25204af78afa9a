/* Reductions and scans of small arrays by the inner loops of NumPy's ufuncs: see `__init__.py`. */
#include "short.h"
#include "folds.h"
#include <math.h>

#define DIMENSIONS 8
#define MOST 2048    /* elements */
#define MOST_TOP 128 /* elements from which `extreme.py` finds the largest of rows in another way */
#define MOST_FOLDED (1 << 17) /* elements from which other ways have several threads, */
#define MOST_SUMMED (1 << 14) /* and, where all are summed, kernels */

static Loop add, multiply, maximum, minimum, logaddexp, exponential, logarithm, matmul;
static const Wanted wanted[] = {
    {"add", 3, 0, &add}, {"multiply", 3, 0, &multiply}, {"maximum", 3, 0, &maximum},
    {"minimum", 3, 0, &minimum}, {"logaddexp", 3, 0, &logaddexp},
    {"exp", 2, 0, &exponential}, {"log", 2, 0, &logarithm}, {"matmul", 3, 1, &matmul},
};
static PyArray_Descr *integers, *truths;

/* An array as `outer` blocks of `n` rows of `inner` elements, of which the rows are reduced. */
typedef struct {
    npy_intp outer, n, inner;
    npy_intp ahead; /* of what is reduced, too, and lies before; more than 1 for `fold_array` only */
    int whole; /* all dimensions are reduced */
    int named; /* 0: None, 1: an empty tuple, 2: the dimensions */
    int keeps;
    int rank; /* of the result */
    npy_intp sizes[DIMENSIONS];
} Parts;

/* ---- what is asked of arguments ----------------------------------------------------------- */

/* Marks a dimension; whether there is one of that number that isn't marked. */
static int mark(PyObject *dim, int rank, char *marked)
{
    int d = read_dim(dim, rank);
    return d >= 0 && !marked[d] && (marked[d] = 1);
}

/* Reads dimensions, None, a number or a tuple. They must lie side by side, or at both ends. */
static int read_dims(PyArrayObject *x, PyObject *dim, Parts *parts)
{
    char marked[DIMENSIONS] = {0};
    int rank = PyArray_NDIM(x), count = 0, first = 0, last = 0, ahead = 0;
    if (dim == NULL || dim == Py_None)
        count = rank;
    else if (PyTuple_CheckExact(dim)) {
        count = (int)PyTuple_GET_SIZE(dim);
        for (int k = 0; k < count; k++)
            if (!mark(PyTuple_GET_ITEM(dim, k), rank, marked))
                return 0;
        parts->named = count > 0 ? 2 : 1;
        count = count == 0 ? rank : count;
    }
    else {
        if (!mark(dim, rank, marked))
            return 0;
        parts->named = 2;
        count = 1;
    }
    parts->whole = count == rank;
    if (!parts->whole) {
        while (marked[ahead])
            ahead++;
        first = ahead;
        while (first < rank && !marked[first])
            first++;
        if (first == rank)
            last = ahead, first = ahead = 0;
        else
            for (last = first; last < rank && marked[last];)
                last++;
        if (last - first + ahead != count || (ahead > 0 && last != rank))
            return 0;
    }
    else
        last = rank;
    parts->outer = parts->n = parts->inner = parts->ahead = 1;
    parts->rank = 0;
    for (int k = 0; k < rank; k++) {
        npy_intp size = PyArray_DIM(x, k);
        if (k < ahead)
            parts->ahead *= size;
        else if (k < first)
            parts->outer *= size;
        else if (k < last)
            parts->n *= size;
        else
            parts->inner *= size;
        if (k >= ahead && (k < first || k >= last))
            parts->sizes[parts->rank++] = size;
        else if (parts->keeps)
            parts->sizes[parts->rank++] = 1;
    }
    return 1;
}

/* ---- loops -------------------------------------------------------------------------------- */

static double number_at(const char *place, int type)
{
    return type == 0 ? *(const float *)place : *(const double *)place;
}

static void put(char *place, int type, double value)
{
    if (type == 0)
        *(float *)place = (float)value;
    else
        *(double *)place = value;
}

/* As `ufunc.reduce` does it: from `start`, or where there is none from the first element. */
static void reduce(const Loop *loop, int type, const Parts *parts, char *x, char *out,
                   const double *start)
{
    npy_intp item = type == 0 ? 4 : 8, row = parts->inner * item;
    for (npy_intp o = 0; o < parts->outer; o++, out += row, x += parts->n * row) {
        npy_intp first = start == NULL;
        if (first)
            memcpy(out, x, row);
        else
            for (npy_intp k = 0; k < parts->inner; k++)
                put(out + k * item, type, *start);
        if (parts->inner == 1) {
            npy_intp count = parts->n - first, steps[3] = {0, item, 0};
            char *places[3] = {out, x + first * item, out};
            if (count > 0)
                loop->call[type](places, &count, steps, loop->data[type]);
            continue;
        }
        for (npy_intp k = first; k < parts->n; k++) {
            npy_intp count = parts->inner, steps[3] = {item, item, item};
            char *places[3] = {out, x + k * row, out};
            loop->call[type](places, &count, steps, loop->data[type]);
        }
    }
}

static const double zero = 0, one = 1;

/* The elements in float64. */
static void widen(double *wide, const char *x, int type, npy_intp size)
{
    if (type == 1)
        memcpy(wide, x, size * 8);
    else
        for (npy_intp k = 0; k < size; k++)
            wide[k] = ((const float *)x)[k];
}

static void dot(int type, char *x, npy_intp size, char *out)
{
    npy_intp item = type == 0 ? 4 : 8;
    PyDataType_GetArrFuncs(floats[type])->dotfunc(x, item, x, item, out, size, NULL);
}

/* The variance as `variance.py` has it, and maybe the mean. Whether it has one. */
static int variance(const Parts *parts, int type, double freedom, char *x, char *out, int root,
                    char *means)
{
    double wide[MOST], mean[MOST], found[MOST];
    npy_intp size = parts->outer * parts->n * parts->inner, row = parts->inner;
    if (freedom <= 0 || size < 2)
        return 0;
    widen(wide, x, type, size);
    reduce(&add, 1, parts, (char *)wide, (char *)mean, &zero);
    for (npy_intp k = 0; k < parts->outer * row; k++)
        mean[k] /= (double)parts->n;
    for (npy_intp k = 0; means != NULL && k < parts->outer * row; k++)
        put(means + k * (type == 0 ? 4 : 8), type, mean[k]);
    double *w = wide;
    for (npy_intp o = 0; o < parts->outer; o++)
        for (npy_intp k = 0; k < parts->n; k++)
            for (npy_intp i = 0; i < row; i++)
                *w++ -= mean[o * row + i];
    if (parts->whole && parts->named < 2 && !parts->keeps)
        dot(1, (char *)wide, size, (char *)found);
    else {
        for (npy_intp k = 0; k < size; k++)
            wide[k] *= wide[k];
        reduce(&add, 1, parts, (char *)wide, (char *)found, &zero);
    }
    for (npy_intp k = 0; k < parts->outer * row; k++) {
        double value = found[k] / freedom;
        put(out + k * (type == 0 ? 4 : 8), type, root ? sqrt(value) : value);
    }
    return 1;
}

/* The norm of order 2 as `norm.py` has it. Whether it has one. */
static int norm(const Parts *parts, int type, int rank, char *x, char *out)
{
    npy_intp item = type == 0 ? 4 : 8, size = parts->outer * parts->n * parts->inner;
    double squares[MOST];
    if (parts->n < 2)
        return 0;
    if (parts->whole && !parts->keeps && (parts->named == 0 || (parts->named == 2 && rank == 2)))
        dot(type, x, size, out);
    else {
        npy_intp steps[3] = {item, item, item}, count = size;
        char *places[3] = {x, x, (char *)squares};
        multiply.call[type](places, &count, steps, multiply.data[type]);
        reduce(&add, type, parts, (char *)squares, out, &zero);
    }
    for (npy_intp k = 0; k < parts->outer * parts->inner; k++, out += item)
        if (type == 0)
            *(float *)out = sqrtf(*(float *)out);
        else
            *(double *)out = sqrt(*(double *)out);
    return 1;
}

static void call_unary(const Loop *loop, int type, char *from, char *to, npy_intp size)
{
    npy_intp item = type == 0 ? 4 : 8, steps[2] = {item, item};
    char *places[2] = {from, to};
    loop->call[type](places, &size, steps, loop->data[type]);
}

/* The sums of rows of a matrix, by its product with ones. */
static void sum_rows(int type, char *x, npy_intp rows, npy_intp columns, char *out)
{
    double room[MOST];
    char *ones = (char *)room;
    npy_intp item = type == 0 ? 4 : 8, sizes[4] = {1, rows, columns, 1};
    npy_intp steps[9] = {0, 0, 0, item * columns, item, item, item, item, item};
    char *places[3] = {x, ones, out};
    for (npy_intp k = 0; k < columns; k++)
        put(ones + k * item, type, 1);
    matmul.call[type](places, sizes, steps, matmul.data[type]);
}

#define LOWER(TYPE)                                                                             \
    for (npy_intp k = 0; k < count; k++)                                                        \
        ((TYPE *)shift)[k] = isfinite(((TYPE *)shift)[k]) ? ((TYPE *)shift)[k] : 0;             \
    for (npy_intp o = 0, at = 0; o < parts->outer; o++)                                         \
        for (npy_intp k = 0; k < parts->n; k++)                                                 \
            for (npy_intp i = 0; i < parts->inner; i++, at++)                                   \
                ((TYPE *)e)[at] = ((const TYPE *)x)[at] - ((TYPE *)shift)[o * parts->inner + i];

#define RAISE(TYPE)                                                                             \
    for (npy_intp k = 0; k < count; k++)                                                        \
        ((TYPE *)out)[k] += ((TYPE *)shift)[k];

/* Logarithms of sums of exponentials, of the rows of a matrix or along another dimension than the
   last, as `generated_rows.py` has them. Whether it has them so. */
static int log_of_sums(const Parts *parts, int type, int rank, PyObject *dim, char *x, char *out)
{
    double shifts[MOST], exponentials[MOST];
    char *shift = (char *)shifts, *e = (char *)exponentials;
    npy_intp count = parts->outer * parts->inner, size = count * parts->n;
    if (parts->named != 2 || (PyTuple_CheckExact(dim) && PyTuple_GET_SIZE(dim) > 1) ||
        (parts->inner == 1 && (rank != 2 || count < 2 || parts->n < 2)))
        return 0;
    reduce(&maximum, type, parts, x, shift, NULL);
    if (type == 0) {
        LOWER(float)
    }
    else {
        LOWER(double)
    }
    call_unary(&exponential, type, e, e, size);
    if (parts->inner == 1)
        sum_rows(type, e, count, parts->n, out);
    else
        reduce(&add, type, parts, e, out, &zero);
    call_unary(&logarithm, type, out, out, count);
    if (type == 0) {
        RAISE(float)
    }
    else {
        RAISE(double)
    }
    return 1;
}

/* The place of the first of the largest, or of the smallest, elements; NaN stands before all. */
static void find(const Parts *parts, int type, const char *x, npy_int64 *out, double sign)
{
    npy_intp item = type == 0 ? 4 : 8;
    for (npy_intp o = 0; o < parts->outer; o++)
        for (npy_intp i = 0; i < parts->inner; i++) {
            const char *lane = x + (o * parts->n * parts->inner + i) * item;
            double best = number_at(lane, type) * sign;
            npy_int64 place = 0;
            for (npy_intp k = 1; k < parts->n && best == best; k++) {
                double value = number_at(lane + k * parts->inner * item, type) * sign;
                if (!(value <= best))
                    best = value, place = k;
            }
            *out++ = place;
        }
}

/* How many elements aren't zero: all of them, some, or the number itself. */
static void count(char which, const Parts *parts, int type, const char *x, char *out)
{
    npy_intp item = type == 0 ? 4 : 8;
    for (npy_intp o = 0; o < parts->outer; o++)
        for (npy_intp i = 0; i < parts->inner; i++) {
            const char *lane = x + (o * parts->n * parts->inner + i) * item;
            npy_int64 found = 0;
            for (npy_intp k = 0; k < parts->n; k++)
                found += number_at(lane + k * parts->inner * item, type) != 0;
            npy_intp place = o * parts->inner + i;
            if (which == 'Z')
                ((npy_int64 *)out)[place] = found;
            else
                ((npy_bool *)out)[place] = which == 'A' ? found == parts->n : found > 0;
        }
}

/* Running sums and products, in float64 as `scan.py` has them. */
static void scan(const Loop *loop, const Parts *parts, int type, const char *x, char *out)
{
    double room[MOST], *wide = type == 1 ? (double *)out : room;
    npy_intp size = parts->outer * parts->n * parts->inner, step = parts->inner * 8;
    npy_intp steps[3] = {step, step, step};
    widen(wide, x, type, size);
    for (npy_intp o = 0; o < parts->outer; o++)
        for (npy_intp i = 0; i < parts->inner; i++) {
            char *lane = (char *)(wide + o * parts->n * parts->inner + i);
            char *places[3] = {lane, lane + step, lane + step};
            npy_intp rest = parts->n - 1;
            if (rest > 0)
                loop->call[1](places, &rest, steps, loop->data[1]);
        }
    for (npy_intp k = 0; type == 0 && k < size; k++)
        ((float *)out)[k] = (float)wide[k];
}

/* Whether no result is NaN. */
static int are_numbers(const Parts *parts, int type, const char *x)
{
    for (npy_intp k = 0; k < parts->outer * parts->inner; k++, x += type == 0 ? 4 : 8)
        if (number_at(x, type) != number_at(x, type))
            return 0;
    return 1;
}

/* The sum of the diagonal of a matrix. */
static void trace(PyArrayObject *x, int type, char *out)
{
    npy_intp rows = PyArray_DIM(x, 0), columns = PyArray_DIM(x, 1);
    npy_intp count = rows < columns ? rows : columns;
    npy_intp steps[3] = {0, PyArray_STRIDE(x, 0) + PyArray_STRIDE(x, 1), 0};
    char *places[3] = {out, PyArray_BYTES(x), out};
    put(out, type, 0);
    add.call[type](places, &count, steps, add.data[type]);
}

/* ---- folds of more elements, or of integers ------------------------------------------------- */

FOLD(add_floats, float, float, ITSELF, PLUS, double, BLOCK, VECTOR_LINE)
FOLD(add_doubles, double, double, ITSELF, PLUS, double, ANY_SIZE, VECTOR_LINE)
FOLD(widen_floats, float, double, ITSELF, PLUS, double, ANY_SIZE, VECTOR_LINE)
FOLD(square_floats, float, double, SQUARE, PLUS, double, ANY_SIZE, VECTOR_LINE)
FOLD(square_doubles, double, double, SQUARE, PLUS, double, ANY_SIZE, VECTOR_LINE)
FOLD(square_singles, float, float, SQUARE, PLUS, double, BLOCK, VECTOR_LINE)
FOLD(add_counts, npy_uint32, npy_uint32, ITSELF, PLUS, npy_uint32, ANY_SIZE, VECTOR_LINE)
FOLD(deviate_floats, float, double, DEVIATION, PLUS, double, ANY_SIZE, VECTOR_LINE)
FOLD(deviate_doubles, double, double, DEVIATION, PLUS, double, ANY_SIZE, VECTOR_LINE)
FOLD(count_floats, float, npy_uint32, IS_TRUE, PLUS, npy_uint32, ANY_SIZE, PLAIN_LINE)
FOLD(count_doubles, double, whole, IS_TRUE, PLUS, whole, ANY_SIZE, PLAIN_LINE)
FOLD(count_integers, whole, whole, IS_TRUE, PLUS, whole, ANY_SIZE, PLAIN_LINE)
FOLD(count_truths, npy_bool, npy_uint32, IS_TRUE, PLUS, npy_uint32, ANY_SIZE, PLAIN_LINE)

/* What there is for float32, float64, int64 and bool. */
static const struct {
    const char *letters;
    Work work[4];
} folds[] = {
    {"SMs", {add_floats, add_doubles, add_integers, NULL}},
    {"P", {multiply_floats, multiply_doubles, multiply_integers, NULL}},
    {"T", {largest_floats, largest_doubles, largest_integers, NULL}},
    {"Ba", {smallest_floats, smallest_doubles, smallest_integers, NULL}},
    {"AOZ", {count_floats, count_doubles, count_integers, count_truths}},
    {"N", {square_floats, square_doubles, NULL, NULL}},
    {"VWUQ", {deviate_floats, deviate_doubles, NULL, NULL}},
};

/* Folds an array, of which both ends one after the other: the last one into `room`, if it is both. */
static void run(Work work, Work second, const Parts *parts, const char *x, char *out, char *room)
{
    Lanes lanes = {parts->ahead * parts->outer, parts->n, parts->inner};
    work(&lanes, x, NULL, parts->ahead > 1 ? room : out, NULL);
    if (parts->ahead > 1) {
        Lanes rest = {1, parts->ahead, parts->outer};
        second(&rest, room, NULL, out, NULL);
    }
}

/* Divides accumulators, and writes them as numbers of a type, maybe their roots. */
static void write_numbers(char *out, int type, const double *found, npy_intp size, double by, int root)
{
    for (npy_intp k = 0; k < size; k++) {
        double value = found[k] / by;
        put(out + k * (type == 0 ? 4 : 8), type, root ? sqrt(value) : value);
    }
}

/* Norms of lines in single precision; whether all have its digits. */
static int find_norms(const Lanes *lanes, const char *x, float *out)
{
    if (lanes->inner > 1)
        return 0;
    square_singles(lanes, x, NULL, out, NULL);
    for (npy_intp k = 0; k < lanes->outer; k++) {
        if (!(out[k] > 1e-30f && out[k] < 3e38f))
            return 0;
        out[k] = sqrtf(out[k]);
    }
    return 1;
}

/* Counts as bools, or as numbers. */
static void write_counts(char which, char *out, int type, const void *found, npy_intp size, npy_intp n)
{
    for (npy_intp k = 0; k < size; k++) {
        npy_int64 count = type == 0 || type == 3 ? (npy_int64)((const npy_uint32 *)found)[k]
                                                 : (npy_int64)((const whole *)found)[k];
        if (which == 'Z')
            ((npy_int64 *)out)[k] = count;
        else
            ((npy_bool *)out)[k] = which == 'A' ? count == n : count > 0;
    }
}

/* As `reduce_array`, of which it is the rest; `type` 2 is int64, 3 bool. Accuracy is at least that
   of the plain functions, whose order isn't kept. NULL for what is left to them. */
static PyObject *fold_array(char what, const Parts *parts, int type, double taken_off, char *x)
{
    npy_intp size = parts->outer * parts->inner, all = size * parts->n * parts->ahead, which = 0;
    int moments = strchr("VWUQ", what) != NULL, counts = strchr("AOZ", what) != NULL;
    double freedom = (double)parts->n - taken_off;
    if (type == 3 && what == 'S')
        what = 'Z', counts = 1;
    while (which < 7 && strchr(folds[which].letters, what) == NULL)
        which++;
    Work work = which == 7 ? NULL : folds[which].work[type];
    if (work == NULL || (what == 'M' && type > 1) || all >= MOST_FOLDED ||
        (parts->whole && all > MOST_SUMMED && type < 2) ||
        ((moments || what == 'N' || what == 'a') && parts->ahead > 1) ||
        (moments && (freedom <= 0 || parts->n < 2)))
        return NULL;
    PyArray_Descr *descr = what == 'Z'             ? integers
                           : counts                ? truths
                           : type == 2             ? integers
                                                   : floats[type];
    int two = what == 'a' || what == 'U' || what == 'Q', wide = moments || what == 'N';
    PyArrayObject *out = new_array(descr, parts->rank, (npy_intp *)parts->sizes);
    PyArrayObject *next = out != NULL && two ? new_array(descr, parts->rank, (npy_intp *)parts->sizes)
                                             : NULL;
    npy_intp rooms = (parts->ahead > 1 ? parts->ahead : wide) * size + (counts || wide ? size : 0);
    double *room = rooms > 0 ? PyMem_RawMalloc(rooms * sizeof(double)) : NULL;
    if (out == NULL || (two && next == NULL) || (rooms > 0 && room == NULL)) {
        Py_XDECREF(out);
        Py_XDECREF(next);
        PyMem_RawFree(room);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    char *to = PyArray_BYTES(out), *second = two ? PyArray_BYTES(next) : NULL;
    PyThreadState *others = all >= LONG ? PyEval_SaveThread() : NULL;
    Lanes lanes = {parts->outer, parts->n, parts->inner};
    if (moments) {
        (type == 0 ? widen_floats : add_doubles)(&lanes, x, NULL, room, NULL);
        for (npy_intp k = 0; k < size; k++)
            room[k] /= (double)parts->n;
        work(&lanes, x, room, room + size, NULL);
        write_numbers(to, type, room + size, size, freedom, what == 'W' || what == 'Q');
        if (two)
            write_numbers(second, type, room, size, 1, 0);
    }
    else if (what == 'N') {
        if (type == 1 || !find_norms(&lanes, x, (float *)to)) {
            work(&lanes, x, NULL, room, NULL);
            write_numbers(to, type, room, size, 1, 1);
        }
    }
    else if (counts) {
        Work sum = type == 1 || type == 2 ? add_integers : add_counts;
        run(work, sum, parts, x, (char *)room, (char *)(room + size));
        write_counts(what, to, type, room, size, parts->n * parts->ahead);
    }
    else {
        run(work, work, parts, x, to, (char *)room);
        if (what == 'a')
            folds[2].work[type](&lanes, x, NULL, second, NULL);
        double by = (double)parts->n * (double)parts->ahead;
        for (npy_intp k = 0; what == 'M' && k < size; k++)
            if (type == 0)
                ((float *)to)[k] /= (float)by;
            else
                ((double *)to)[k] /= by;
    }
    if (others != NULL)
        PyEval_RestoreThread(others);
    PyMem_RawFree(room);
    int fine = what != 's' || type > 1 || are_numbers(parts, type, to);
    PyObject *found = !fine ? NULL : !two ? Py_NewRef((PyObject *)out)
                                          : PyTuple_Pack(2, (PyObject *)out, (PyObject *)next);
    Py_DECREF(out);
    Py_XDECREF(next);
    return found;
}

/* ---- calls -------------------------------------------------------------------------------- */

/* 0, 1, 2 or 3 for an aligned ndarray of float32, float64, int64 or bool, else -1. */
static int number_type(PyObject *x)
{
    int type = type_of(x);
    if (type >= 0 || Py_TYPE(x) != &PyArray_Type || !PyArray_ISALIGNED((PyArrayObject *)x))
        return type;
    PyArray_Descr *descr = PyArray_DESCR((PyArrayObject *)x);
    return descr == integers ? 2 : descr == truths ? 3 : -1;
}

/* The first letter says what: "S" a sum, "M" a mean, "P" a product, "T" the largest element (top),
   "B" the smallest, "t" and "b" where they are, "V" a variance, "W" its root, "N" the norm of order
   2, "C" running sums, "D" running products, "A" whether all are true, "O" whether one is, "Z" how
   many, "s" a sum without NaN, "E" that of a diagonal, "G" running logarithms of sums of
   exponentials, "L" logarithms of such sums; and "a" the smallest and the largest element, "U" a
   variance, "Q" its root, and the mean. Then come "d" for dimensions, "k" for whether they are kept, "c" for what is taken off the
   number of elements, "2" for a number that must be 2, "n" for None. */
static PyObject *reduce_array(const char *letters, PyObject *const *args)
{
    Parts parts = {0};
    PyObject *dim = NULL;
    int type = number_type(args[0]), overflow;
    double taken_off = 1;
    char what = letters[0];
    if (type < 0)
        return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    npy_intp size = PyArray_SIZE(x);
    int rank = PyArray_NDIM(x);
    if (size < 1 || rank > DIMENSIONS || !is_dense(x) ||
        (rank == 0 && what != 'S' && what != 'M'))
        return NULL;
    for (int k = 1; letters[k]; k++) {
        PyObject *arg = args[k];
        switch (letters[k]) {
        case 'd': dim = arg; break;
        case 'k':
            if (!PyBool_Check(arg))
                return NULL;
            parts.keeps = arg == Py_True;
            break;
        case 'c':
            if (arg == Py_None)
                break;
            if (!PyLong_CheckExact(arg))
                return NULL;
            long given = PyLong_AsLongAndOverflow(arg, &overflow);
            if (overflow || given > MOST || given < -MOST)
                return NULL;
            taken_off = (double)given;
            break;
        case '2':
            if (!(PyFloat_CheckExact(arg) && PyFloat_AS_DOUBLE(arg) == 2) &&
                !(PyLong_CheckExact(arg) && PyLong_AsLongAndOverflow(arg, &overflow) == 2))
                return NULL;
            break;
        default:
            if (arg != Py_None)
                return NULL;
        }
    }
    int scans = what == 'C' || what == 'D' || what == 'G', places = what == 't' || what == 'b';
    int two = what == 'a' || what == 'U' || what == 'Q';
    if (what == 'E' && rank != 2)
        return NULL;
    if (dim != NULL && PyTuple_CheckExact(dim) &&
        (scans || places || ((what == 'A' || what == 'O') && PyTuple_GET_SIZE(dim) == 0)))
        return NULL;
    if (scans && (dim == NULL || dim == Py_None))
        return NULL;
    if (!read_dims(x, dim, &parts))
        return NULL;
    if ((size > MOST && what != 'E') || type > 1)
        return fold_array(what, &parts, type, taken_off, PyArray_BYTES(x));
    if (((what == 'T' || what == 'B' || what == 'a') && !parts.whole && size > MOST_TOP) ||
        parts.ahead > 1)
        return NULL;
    PyArray_Descr *descr = places || what == 'Z'         ? integers
                           : what == 'A' || what == 'O' ? truths
                                                        : floats[type];
    PyArrayObject *out = scans ? new_array(descr, rank, PyArray_DIMS(x))
                               : new_array(descr, parts.rank, parts.sizes);
    if (out == NULL)
        return NULL;
    PyArrayObject *second = two ? new_array(descr, parts.rank, parts.sizes) : NULL;
    if (two && second == NULL) {
        Py_DECREF(out);
        return NULL;
    }
    char *from = PyArray_BYTES(x), *to = PyArray_BYTES(out);
    char *next = two ? PyArray_BYTES(second) : NULL;
    int fine = 1;
    switch (what) {
    case 'S': reduce(&add, type, &parts, from, to, &zero); break;
    case 'M':
        reduce(&add, type, &parts, from, to, &zero);
        for (npy_intp k = 0; k < parts.outer * parts.inner; k++)
            if (type == 0)
                ((float *)to)[k] /= (float)parts.n;
            else
                ((double *)to)[k] /= (double)parts.n;
        break;
    case 'P': reduce(&multiply, type, &parts, from, to, &one); break;
    case 'T': reduce(&maximum, type, &parts, from, to, NULL); break;
    case 'B': reduce(&minimum, type, &parts, from, to, NULL); break;
    case 't': find(&parts, type, from, (npy_int64 *)to, 1); break;
    case 'b': find(&parts, type, from, (npy_int64 *)to, -1); break;
    case 'V':
    case 'U': fine = variance(&parts, type, parts.n - taken_off, from, to, 0, next); break;
    case 'W':
    case 'Q': fine = variance(&parts, type, parts.n - taken_off, from, to, 1, next); break;
    case 'a':
        reduce(&minimum, type, &parts, from, to, NULL);
        reduce(&maximum, type, &parts, from, next, NULL);
        break;
    case 's':
        reduce(&add, type, &parts, from, to, &zero);
        fine = are_numbers(&parts, type, to);
        break;
    case 'E': trace(x, type, to); break;
    case 'G': scan(&logaddexp, &parts, type, from, to); break;
    case 'L': fine = log_of_sums(&parts, type, rank, dim, from, to); break;
    case 'N': fine = norm(&parts, type, rank, from, to); break;
    case 'C': scan(&add, &parts, type, from, to); break;
    case 'D': scan(&multiply, &parts, type, from, to); break;
    default: count(what, &parts, type, from, to);
    }
    PyObject *found = !fine ? NULL : !two ? Py_NewRef((PyObject *)out)
                                          : PyTuple_Pack(2, (PyObject *)out, (PyObject *)second);
    Py_DECREF(out);
    Py_XDECREF(second);
    return found;
}

static PyObject *make_reduction(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, reduce_array);
}

static PyTypeObject reduction_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.reductions.Reduction", "Reductions of small arrays.",
    make_reduction);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "reductions", "Reductions of small arrays by ufuncs' loops.", -1
};

PyMODINIT_FUNC PyInit_reductions(void)
{
    import_array();
    import_umath();
    if (start_loops() < 0)
        return NULL;
    integers = PyArray_DescrFromType(NPY_INT64);
    truths = PyArray_DescrFromType(NPY_BOOL);
    if (find_loops(wanted, sizeof wanted / sizeof *wanted) < 0 || PyType_Ready(&reduction_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL ||
        PyModule_AddObjectRef(module, "Reduction", (PyObject *)&reduction_type) < 0)
        return NULL;
    return module;
}
