/* Products of small matrices by the loop of NumPy's `matmul`, which calls NumPy's BLAS, and softmax
   and losses of few rows: see `__init__.py`. */
#include "short.h"

#define WORK (1 << 18) /* multiplications, up to which BLAS stays in one thread */
#define TINY 512       /* multiplications, and columns, that others round: see `tiny_matmul.py` */
#define TINY_WIDTH 12
/* Rows, elements and depth of products in pieces: see Note [Few rows times a turned matrix] in
   `kernels/openblas.py`. */
#define FEW_ROWS 12
#define PIECE 1200
#define DEEP 64
#define ROWS 2048
#define ELEMENTS 8192 /* of logits */

static Loop matmul, inner, add, exponential, logarithm;
static const Wanted wanted[] = {
    {"matmul", 3, 1, &matmul}, {"vecdot", 3, 1, &inner}, {"add", 3, 0, &add},
    {"exp", 2, 0, &exponential}, {"log", 2, 0, &logarithm},
};
static float single_ones[ROWS];
static double double_ones[ROWS];
/* What totals of exponentials, and a loss, may be: see `small_rows.py`. Nothing fits before. */
static double least, most, sure;
static PyArray_Descr *integers;

/* ---- products ----------------------------------------------------------------------------- */

typedef struct {
    char *place;
    npy_intp rows, columns, by_row, by_column;
} Matrix;

/* Reads a matrix whose elements lie in the order of rows or of columns, without gaps. */
static int read_matrix(PyObject *x, int transposed, Matrix *m, int *type)
{
    int found = type_of(x);
    PyArrayObject *array = (PyArrayObject *)x;
    if (found < 0 || (*type >= 0 && found != *type) || PyArray_NDIM(array) != 2)
        return 0;
    *type = found;
    npy_intp item = found == 0 ? 4 : 8;
    npy_intp rows = PyArray_DIM(array, 0), columns = PyArray_DIM(array, 1);
    npy_intp by_row = PyArray_STRIDE(array, 0), by_column = PyArray_STRIDE(array, 1);
    if (!((by_column == item && by_row == item * columns) ||
          (by_row == item && by_column == item * rows)))
        return 0;
    m->place = PyArray_BYTES(array);
    m->rows = transposed ? columns : rows;
    m->columns = transposed ? rows : columns;
    m->by_row = transposed ? by_column : by_row;
    m->by_column = transposed ? by_row : by_column;
    return 1;
}

/* Reads a vector without gaps as one column. */
static int read_vector(PyObject *x, Matrix *m, int type)
{
    npy_intp item = type == 0 ? 4 : 8;
    PyArrayObject *array = (PyArrayObject *)x;
    if (type < 0 || type_of(x) != type || PyArray_NDIM(array) != 1 ||
        PyArray_STRIDE(array, 0) != item)
        return 0;
    *m = (Matrix){PyArray_BYTES(array), PyArray_DIM(array, 0), 1, item, item};
    return 1;
}

static void call_matmul(int type, const Matrix *a, const Matrix *b, char *out)
{
    npy_intp item = type == 0 ? 4 : 8, columns = b->columns, width = columns;
    npy_intp steps[9] = {0, 0, 0, a->by_row, a->by_column, b->by_row, b->by_column,
                         item * columns, item};
    if (a->rows > 1 && a->rows <= FEW_ROWS && a->rows * columns > PIECE && b->rows >= DEEP &&
        a->by_column == item && b->by_row == item)
        width = PIECE / a->rows / 16 * 16;
    for (npy_intp start = 0; start < columns; start += width) {
        char *places[3] = {a->place, b->place + start * b->by_column, out + start * item};
        npy_intp sizes[4] = {1, a->rows, a->columns,
                             columns - start < width ? columns - start : width};
        matmul.call[type](places, sizes, steps, matmul.data[type]);
    }
}

/* A product of few multiplications, each rounded by itself, in the order of `tiny_matmul.py`. */
static void multiply_tiny(const Matrix *a, const Matrix *b, float *out)
{
    npy_intp n = b->columns, depth = b->rows;
    int four = depth % 4 == 0 && a->rows > 1 && n > 2 && b->by_row == 4 &&
               b->by_column == 4 * depth && a->by_column == 4 && a->by_row == 4 * depth;
    for (npy_intp i = 0; i < a->rows; i++, out += n) {
        const char *row = a->place + i * a->by_row;
        if (four) {
            for (npy_intp k = 0; k < n; k++) {
                const float *x = (const float *)row;
                const float *y = (const float *)(b->place + k * b->by_column);
                float sums[4] = {0, 0, 0, 0};
                for (npy_intp j = 0; j < depth; j += 4)
                    for (int s = 0; s < 4; s++)
                        sums[s] += x[j + s] * y[j + s];
                out[k] = (sums[0] + sums[2]) + (sums[1] + sums[3]);
            }
            continue;
        }
        for (npy_intp k = 0; k < n; k++)
            out[k] = 0;
        for (npy_intp j = 0; j < depth; j++) {
            float x = *(const float *)(row + j * a->by_column);
            const char *y = b->place + j * b->by_row;
            for (npy_intp k = 0; k < n; k++)
                out[k] += x * *(const float *)(y + k * b->by_column);
        }
    }
}

static char *ones_of(int type)
{
    return type == 0 ? (char *)single_ones : (char *)double_ones;
}

/* The sums of the columns, as `numpy_namespace._column_sums` has them, for the letters "-gs". */
static PyObject *column_sums(PyObject *g, PyObject *shape)
{
    Matrix m, ones;
    int type = -1;
    if (!PyTuple_CheckExact(shape) || PyTuple_GET_SIZE(shape) != 1 ||
        !read_matrix(g, 0, &m, &type))
        return NULL;
    PyObject *wanted = PyTuple_GET_ITEM(shape, 0);
    if (m.rows < 1 || m.columns < 1 || m.rows > ROWS || m.columns > WORK ||
        m.rows * m.columns > WORK ||
        !PyLong_CheckExact(wanted) || PyLong_AsSsize_t(wanted) != m.columns) {
        PyErr_Clear(); /* a size that no array has */
        return NULL;
    }
    ones.place = ones_of(type);
    ones.rows = 1;
    ones.columns = m.rows;
    ones.by_column = type == 0 ? 4 : 8;
    ones.by_row = ones.by_column * m.rows;
    PyArrayObject *out = new_array(floats[type], 1, &m.columns);
    if (out != NULL)
        call_matmul(type, &ones, &m, PyArray_BYTES(out));
    return (PyObject *)out;
}

/* Adds a bias to each row; `first`: it stands before the product in the sum. */
static void add_bias(int type, char *out, npy_intp rows, npy_intp columns, char *bias, int first)
{
    npy_intp item = type == 0 ? 4 : 8, steps[3] = {item, item, item};
    for (npy_intp k = 0; k < rows; k++, out += item * columns) {
        char *places[3] = {first ? bias : out, first ? out : bias, out};
        npy_intp size = columns;
        add.call[type](places, &size, steps, add.data[type]);
    }
}

static int is_one(PyObject *x)
{
    if (PyFloat_CheckExact(x))
        return PyFloat_AS_DOUBLE(x) == 1;
    int overflow;
    return PyLong_CheckExact(x) && PyLong_AsLongAndOverflow(x, &overflow) == 1;
}

/* Reads a stack of matrices, each of which lies as `read_matrix` has it; how many there are, or 0. */
static npy_intp read_stack(PyObject *x, int transposed, Matrix *m, npy_intp *apart, int *type)
{
    int found = type_of(x);
    PyArrayObject *array = (PyArrayObject *)x;
    if (found < 0 || (*type >= 0 && found != *type) || PyArray_NDIM(array) != 3)
        return 0;
    *type = found;
    npy_intp item = found == 0 ? 4 : 8;
    int row = 1 + transposed, column = 2 - transposed;
    *m = (Matrix){PyArray_BYTES(array), PyArray_DIM(array, row), PyArray_DIM(array, column),
                  PyArray_STRIDE(array, row), PyArray_STRIDE(array, column)};
    *apart = PyArray_STRIDE(array, 0);
    return (m->by_column == item && m->by_row == item * m->columns) ||
                   (m->by_row == item && m->by_column == item * m->rows)
               ? PyArray_DIM(array, 0)
               : 0;
}

/* Products of stacks of matrices, each maybe transposed, maybe added to an array of their shape. In
   gradients one multiplication for each element is none of BLAS's. */
static PyObject *multiply_stacks(PyObject *const *both, const int *transposed, PyArrayObject *c)
{
    Matrix a, b;
    npy_intp by[2];
    int type = -1;
    npy_intp count = read_stack(both[0], transposed[0], &a, &by[0], &type);
    if (count < 1 || read_stack(both[1], transposed[1], &b, &by[1], &type) != count ||
        (a.columns == 1 && (transposed[0] || transposed[1])) || a.columns != b.rows ||
        a.rows < 1 || b.columns < 1 || b.rows < 1 || a.rows > WORK || b.columns > WORK ||
        b.rows > WORK || count > WORK)
        return NULL;
    npy_intp work = a.rows * b.columns, item = type == 0 ? 4 : 8;
    if (work >= WORK || work * b.rows >= WORK || work * b.rows * count >= WORK)
        return NULL;
    npy_intp sizes[3] = {count, a.rows, b.columns};
    if (c != NULL && (type_of((PyObject *)c) != type || PyArray_NDIM(c) != 3 || !is_dense(c) ||
                      !PyArray_CompareLists(PyArray_DIMS(c), sizes, 3)))
        return NULL;
    PyArrayObject *out = new_array(floats[type], 3, sizes);
    if (out == NULL)
        return NULL;
    char *places[3] = {a.place, b.place, PyArray_BYTES(out)};
    npy_intp counts[4] = {count, a.rows, a.columns, b.columns};
    npy_intp steps[9] = {by[0], by[1], item * work, a.by_row, a.by_column, b.by_row, b.by_column,
                         item * b.columns, item};
    matmul.call[type](places, counts, steps, matmul.data[type]);
    if (c != NULL)
        add_bias(type, PyArray_BYTES(out), 1, work * count, PyArray_BYTES(c), 1);
    return (PyObject *)out;
}

/* Letters: "p" and "q" for stacks of matrices, "P" and "Q" for transposed ones; "a" and "b" for the operands, "A" and "B" for transposed ones, "c" for a bias or None,
   "v" for a vector in place of the second,
   "1" for numbers that must be one, "g" and "s" for a sum of columns, "-" for what isn't read. */
static PyObject *multiply_matrices(const char *letters, PyObject *const *args)
{
    Matrix a = {0}, b = {0};
    PyObject *bias = NULL, *g = NULL, *both[2] = {NULL, NULL};
    int type = -1, first = 0, vector = 0, turned[2] = {0, 0};
    for (int k = 0; letters[k]; k++) {
        int fine = 1;
        switch (letters[k]) {
        case 'p': case 'P': both[0] = args[k]; turned[0] = letters[k] == 'P'; break;
        case 'q': case 'Q': both[1] = args[k]; turned[1] = letters[k] == 'Q'; break;
        case 'a': case 'A': fine = read_matrix(args[k], letters[k] == 'A', &a, &type); break;
        case 'b': case 'B': fine = read_matrix(args[k], letters[k] == 'B', &b, &type); break;
        case 'v': vector = 1; fine = read_vector(args[k], &b, type); break;
        case 'c': bias = args[k]; first = k == 0; break;
        case '1': fine = is_one(args[k]); break;
        case 'g': g = args[k]; break;
        case 's': return column_sums(g, args[k]);
        }
        if (!fine)
            return NULL;
    }
    if (both[0] != NULL && both[1] != NULL)
        return bias != NULL && Py_TYPE(bias) != &PyArray_Type
                   ? NULL
                   : multiply_stacks(both, turned, (PyArrayObject *)bias);
    if (a.place == NULL || b.place == NULL || a.columns != b.rows || a.rows < 1 || b.columns < 1 ||
        b.rows < 1 || a.rows > WORK || b.columns > WORK || b.rows > WORK)
        return NULL;
    npy_intp work = a.rows * b.columns; /* at most 2 to the power of 36 */
    if (work > WORK || work * b.rows > WORK)
        return NULL;
    int tiny = !vector && type == 0 && work * b.rows <= TINY && b.columns <= TINY_WIDTH;
    if (tiny && b.columns == 1)
        return NULL; /* `einsum` adds up several elements at a time */
    int whole = 0; /* a bias for each element */
    if (bias == Py_None)
        bias = NULL;
    if (bias != NULL) {
        PyArrayObject *c = (PyArrayObject *)bias;
        whole = type_of(bias) == type && PyArray_NDIM(c) == 2 && is_dense(c) &&
                PyArray_DIM(c, 0) == a.rows && PyArray_DIM(c, 1) == b.columns;
        if (!whole && (type_of(bias) != type || PyArray_NDIM(c) != 1 ||
                       PyArray_DIM(c, 0) != b.columns || PyArray_STRIDE(c, 0) != (type == 0 ? 4 : 8)))
            return NULL;
    }
    npy_intp sizes[2] = {a.rows, b.columns};
    PyArrayObject *out = new_array(floats[type], 2 - vector, sizes);
    if (out == NULL)
        return NULL;
    if (tiny)
        multiply_tiny(&a, &b, (float *)PyArray_BYTES(out));
    else
        call_matmul(type, &a, &b, PyArray_BYTES(out));
    if (bias != NULL)
        add_bias(type, PyArray_BYTES(out), whole ? 1 : a.rows, whole ? work : b.columns,
                 PyArray_BYTES((PyArrayObject *)bias), first);
    return (PyObject *)out;
}

/* ---- cross-entropy ------------------------------------------------------------------------ */

typedef struct {
    PyArrayObject *e; /* exponentials */
    npy_intp rows, classes, kept; /* rows of which the class isn't the ignored one, -1 here */
    npy_int64 target[ROWS];
    const char *logits;
    union { float f[ROWS]; double d[ROWS]; } total; /* of each row */
} Rows;

static double dot(int type, char *x, npy_intp size)
{
    union { float f; double d; } out;
    Matrix a = {x, 1, size, size * (type == 0 ? 4 : 8), type == 0 ? 4 : 8};
    Matrix b = {ones_of(type), size, 1, type == 0 ? 4 : 8, type == 0 ? 4 : 8};
    call_matmul(type, &a, &b, (char *)&out);
    return type == 0 ? out.f : out.d;
}

/* Whether the rows of a matrix are few, and lie one after the other. */
static int are_few(const Matrix *m, int type)
{
    npy_intp item = type == 0 ? 4 : 8;
    return m->by_column == item && m->by_row == item * m->columns && m->rows >= 2 &&
           m->columns >= 2 && m->rows <= ROWS && m->columns <= ROWS &&
           m->rows * m->columns <= ELEMENTS;
}

static void call_exp(int type, char *from, char *to, npy_intp size)
{
    npy_intp item = type == 0 ? 4 : 8, steps[2] = {item, item};
    char *places[2] = {from, to};
    exponential.call[type](places, &size, steps, exponential.data[type]);
}

/* The sums of rows that lie one after the other, by BLAS. */
static void sum_rows(int type, char *place, npy_intp rows, npy_intp columns, char *total)
{
    npy_intp item = type == 0 ? 4 : 8;
    Matrix m = {place, rows, columns, item * columns, item};
    Matrix ones = {ones_of(type), columns, 1, item, item};
    call_matmul(type, &m, &ones, total);
}

/* The exponentials and their totals, as `small_rows.py` has them. Whether they keep all digits. */
static int read_exponentials(const Matrix *m, int type, Rows *rows)
{
    npy_intp sizes[2] = {m->rows, m->columns};
    rows->rows = m->rows;
    rows->classes = m->columns;
    rows->logits = m->place;
    rows->e = new_array(floats[type], 2, sizes);
    if (rows->e == NULL)
        return 0;
    char *e = PyArray_BYTES(rows->e), *total = (char *)&rows->total;
    call_exp(type, m->place, e, m->rows * m->columns);
    sum_rows(type, e, m->rows, m->columns, total);
    double sum = dot(type, total, m->rows);
    int fine = type == 0 ? (float)sum < (float)most : sum < most;
    for (npy_intp k = 0; fine && k < m->rows; k++)
        fine = type == 0 ? rows->total.f[k] > (float)least : rows->total.d[k] > least;
    if (!fine)
        Py_CLEAR(rows->e);
    return fine;
}

/* The same of logits, and what their targets are: the type, or -1. */
static int read_rows(PyObject *x, PyObject *target, PyObject *ignored, Rows *rows)
{
    Matrix m;
    int type = -1, overflow;
    PyArrayObject *classes = (PyArrayObject *)target;
    if (!read_matrix(x, 0, &m, &type) || Py_TYPE(target) != &PyArray_Type ||
        !PyArray_ISALIGNED(classes) || PyArray_DESCR(classes) != integers ||
        PyArray_NDIM(classes) != 1 || !PyLong_CheckExact(ignored))
        return -1;
    if (!are_few(&m, type) || PyArray_DIM(classes, 0) != m.rows || PyArray_STRIDE(classes, 0) != 8)
        return -1;
    long long but = PyLong_AsLongLongAndOverflow(ignored, &overflow);
    if (overflow || (but >= 0 && but < m.columns))
        return -1;
    rows->kept = 0;
    for (npy_intp k = 0; k < m.rows; k++) {
        npy_int64 class = ((const npy_int64 *)PyArray_BYTES(classes))[k];
        if (class != but && (class < 0 || class >= m.columns))
            return -1;
        rows->target[k] = class == but ? -1 : class;
        rows->kept += class != but;
    }
    if (rows->kept == 0)
        return -1;
    return read_exponentials(&m, type, rows) ? type : -1;
}

/* The reduction that an argument names: 1 mean, 2 sum, else 0. */
static int reduction_of(PyObject *x)
{
    int overflow;
    long found = PyLong_CheckExact(x) ? PyLong_AsLongAndOverflow(x, &overflow) : 0;
    return found == 1 || found == 2 ? (int)found : 0;
}

/* The loss of logits, classes, a reduction and the class that is ignored. */
static PyObject *loss(PyObject *const *args)
{
    Rows rows;
    double each[ROWS];
    int reduction = reduction_of(args[2]);
    int type = reduction ? read_rows(args[0], args[1], args[3], &rows) : -1;
    if (type < 0)
        return NULL;
    Py_DECREF(rows.e);
    npy_intp size = rows.rows, steps[2] = {8, 8}, kept = 0;
    for (npy_intp k = 0; k < size; k++)
        each[k] = type == 0 ? rows.total.f[k] : rows.total.d[k];
    char *places[2] = {(char *)each, (char *)each};
    logarithm.call[1](places, &size, steps, logarithm.data[1]);
    for (npy_intp k = 0; k < size; k++) {
        npy_intp at = k * rows.classes + rows.target[k];
        if (rows.target[k] >= 0)
            each[kept++] = each[k] - (type == 0 ? ((const float *)rows.logits)[at]
                                                : ((const double *)rows.logits)[at]);
    }
    double total = dot(1, (char *)each, kept);
    if (total < (double)kept * sure)
        return NULL;
    if (reduction == 1)
        total /= (double)kept;
    PyArrayObject *out = new_array(floats[type], 0, NULL);
    if (out == NULL)
        return NULL;
    if (type == 0)
        *(float *)PyArray_BYTES(out) = (float)total;
    else
        *(double *)PyArray_BYTES(out) = total;
    return (PyObject *)out;
}

#define GRADIENT(TYPE, TOTAL)                                                                   \
    {                                                                                           \
        TYPE each = *(TYPE *)PyArray_BYTES((PyArrayObject *)g);                                 \
        if (reduction == 1)                                                                     \
            each = each / (TYPE)rows.kept;                                                      \
        TYPE *at = (TYPE *)PyArray_BYTES(rows.e);                                               \
        for (npy_intp k = 0; k < rows.rows; k++, at += rows.classes) {                          \
            if (rows.target[k] < 0) {                                                           \
                memset(at, 0, rows.classes * sizeof(TYPE));                                     \
                continue;                                                                       \
            }                                                                                   \
            TYPE factor = each / TOTAL[k];                                                      \
            for (npy_intp c = 0; c < rows.classes; c++)                                         \
                at[c] = at[c] * factor;                                                         \
            at[rows.target[k]] -= each;                                                         \
        }                                                                                       \
    }

/* (softmax - 1 at the class) times the gradient of the loss. */
static PyObject *gradient(PyObject *const *args)
{
    Rows rows;
    PyObject *g = args[0];
    int reduction = reduction_of(args[3]);
    int type = type_of(g);
    if (!reduction || type < 0 || PyArray_NDIM((PyArrayObject *)g) != 0 ||
        type_of(args[1]) != type || read_rows(args[1], args[2], args[4], &rows) < 0)
        return NULL;
    if (type == 0)
        GRADIENT(float, rows.total.f)
    else
        GRADIENT(double, rows.total.d)
    return (PyObject *)rows.e;
}

/* Letters: "xtri" for the loss, "gxtri" for its gradient, the latter behind what isn't read. */
static PyObject *entropy(const char *letters, PyObject *const *args)
{
    if (letters[0] == '-')
        args++, letters++;
    return letters[0] == 'g' ? gradient(args) : loss(args);
}

/* ---- softmax ------------------------------------------------------------------------------ */

/* Reads rows that are few, along the dimension that an argument names: the type, or -1. */
static int read_few(PyObject *x, PyObject *dim, Matrix *m)
{
    int type = -1, overflow;
    if (!PyLong_CheckExact(dim) || !read_matrix(x, 0, m, &type) || !are_few(m, type))
        return -1;
    long at = PyLong_AsLongAndOverflow(dim, &overflow);
    return !overflow && (at == 1 || at == -1) ? type : -1;
}

static PyObject *softmax(PyObject *const *args)
{
    Matrix m;
    Rows rows;
    int type = args[2] == Py_None ? read_few(args[0], args[1], &m) : -1;
    if (type < 0 || !read_exponentials(&m, type, &rows))
        return NULL;
    char *e = PyArray_BYTES(rows.e);
    npy_intp at = 0;
    for (npy_intp k = 0; k < m.rows; k++)
        for (npy_intp end = at + m.columns; at < end; at++)
            if (type == 0)
                ((float *)e)[at] /= rows.total.f[k];
            else
                ((double *)e)[at] /= rows.total.d[k];
    return (PyObject *)rows.e;
}

/* How far each element is below the largest of its row. Whether all of these are finite. */
#define LOWER(TYPE)                                                                             \
    for (npy_intp k = 0; k < m.rows; k++) {                                                     \
        const TYPE *x = (const TYPE *)m.place + k * m.columns;                                  \
        TYPE top = x[0];                                                                        \
        for (npy_intp c = 0; c < m.columns; c++) {                                              \
            fine = fine && x[c] == x[c];                                                        \
            top = x[c] > top ? x[c] : top;                                                      \
        }                                                                                       \
        fine = fine && top - top == 0;                                                          \
        for (npy_intp c = 0; c < m.columns; c++)                                                \
            ((TYPE *)lower)[k * m.columns + c] = x[c] - top;                                    \
    }

#define LESS(TYPE)                                                                              \
    for (npy_intp k = 0; k < m.rows; k++)                                                       \
        for (npy_intp c = 0; c < m.columns; c++)                                                \
            ((TYPE *)lower)[k * m.columns + c] -= ((TYPE *)total)[k];

static PyObject *log_softmax(PyObject *const *args)
{
    Matrix m;
    double total[ROWS];
    int fine = 1, type = args[2] == Py_None ? read_few(args[0], args[1], &m) : -1;
    if (type < 0)
        return NULL;
    npy_intp sizes[2] = {m.rows, m.columns}, item = type == 0 ? 4 : 8, steps[2] = {item, item};
    PyArrayObject *out = new_array(floats[type], 2, sizes);
    if (out == NULL)
        return NULL;
    char *lower = PyArray_BYTES(out), *places[2] = {(char *)total, (char *)total};
    if (type == 0) {
        LOWER(float)
    }
    else {
        LOWER(double)
    }
    if (!fine) {
        Py_DECREF(out);
        return NULL;
    }
    char *e = PyMem_Malloc(m.rows * m.columns * item);
    if (e == NULL) {
        Py_DECREF(out);
        return PyErr_NoMemory();
    }
    call_exp(type, lower, e, m.rows * m.columns);
    sum_rows(type, e, m.rows, m.columns, (char *)total);
    PyMem_Free(e);
    npy_intp count = m.rows;
    logarithm.call[type](places, &count, steps, logarithm.data[type]);
    if (type == 0) {
        LESS(float)
    }
    else {
        LESS(double)
    }
    return (PyObject *)out;
}

#define OF_SOFTMAX(TYPE)                                                                        \
    for (npy_intp k = 0; k < m.rows; k++)                                                       \
        for (npy_intp at = k * m.columns; at < (k + 1) * m.columns; at++)                       \
            ((TYPE *)to)[at] =                                                                  \
                ((TYPE *)m.place)[at] * (((TYPE *)g.place)[at] - ((TYPE *)total)[k]);

#define OF_LOGARITHM(TYPE)                                                                      \
    for (npy_intp k = 0; k < m.rows; k++)                                                       \
        for (npy_intp at = k * m.columns; at < (k + 1) * m.columns; at++)                       \
            ((TYPE *)to)[at] = ((TYPE *)g.place)[at] - ((TYPE *)to)[at] * ((TYPE *)total)[k];

/* The gradient of softmax, or of its logarithm, for gradients, results and the dimension. */
static PyObject *gradient_of_rows(PyObject *const *args, int of_logarithm)
{
    Matrix m, g;
    double total[ROWS];
    int type = read_few(args[1], args[2], &m), other = type;
    if (type < 0 || !read_matrix(args[0], 0, &g, &other) || !are_few(&g, type) ||
        g.rows != m.rows || g.columns != m.columns)
        return NULL;
    npy_intp sizes[2] = {m.rows, m.columns}, item = type == 0 ? 4 : 8;
    PyArrayObject *out = new_array(floats[type], 2, sizes);
    if (out == NULL)
        return NULL;
    char *to = PyArray_BYTES(out);
    if (of_logarithm) {
        call_exp(type, m.place, to, m.rows * m.columns);
        sum_rows(type, g.place, m.rows, m.columns, (char *)total);
        if (type == 0) {
            OF_LOGARITHM(float)
        }
        else {
            OF_LOGARITHM(double)
        }
        return (PyObject *)out;
    }
    char *places[3] = {g.place, m.place, (char *)total};
    npy_intp steps[5] = {g.by_row, m.by_row, item, item, item};
    inner.call[type](places, sizes, steps, inner.data[type]);
    if (type == 0) {
        OF_SOFTMAX(float)
    }
    else {
        OF_SOFTMAX(double)
    }
    return (PyObject *)out;
}

/* Letters: "sdn" and "ldn" for softmax and its logarithm, "Sod" and "Lod" for their gradients. */
static PyObject *rows_of_softmax(const char *letters, PyObject *const *args)
{
    switch (letters[0]) {
    case 's': return softmax(args);
    case 'l': return log_softmax(args);
    default: return gradient_of_rows(args, letters[0] == 'L');
    }
}

/* ---- the module --------------------------------------------------------------------------- */

static PyObject *make_product(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, multiply_matrices);
}

static PyObject *make_entropy(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, entropy);
}

static PyObject *make_softmax(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, rows_of_softmax);
}

static PyTypeObject product_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.products.Product", "Products of small matrices.", make_product);
static PyTypeObject entropy_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.products.Entropy", "Cross-entropy of few rows.", make_entropy);

static PyTypeObject softmax_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.products.Softmax", "Softmax of few rows.", make_softmax);

/* Sets the least that the total of a row of exponentials may be, the most of all of them, and the
   least loss of a row in the mean. */
static PyObject *set_bounds(PyObject *self, PyObject *args)
{
    if (!PyArg_ParseTuple(args, "ddd", &least, &most, &sure))
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_bounds", set_bounds, METH_VARARGS, "Sets what totals and losses may be."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "products", "Products of small matrices and losses of few rows.", -1,
    methods
};

PyMODINIT_FUNC PyInit_products(void)
{
    import_array();
    import_umath();
    if (start_loops() < 0)
        return NULL;
    integers = PyArray_DescrFromType(NPY_INT64);
    for (int k = 0; k < ROWS; k++)
        single_ones[k] = 1, double_ones[k] = 1;
    if (find_loops(wanted, 5) < 0 || PyType_Ready(&product_type) < 0 || PyType_Ready(&entropy_type) < 0 ||
        PyType_Ready(&softmax_type) < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL ||
        PyModule_AddObjectRef(module, "Product", (PyObject *)&product_type) < 0 ||
        PyModule_AddObjectRef(module, "Entropy", (PyObject *)&entropy_type) < 0 ||
        PyModule_AddObjectRef(module, "Softmax", (PyObject *)&softmax_type) < 0)
        return NULL;
    return module;
}
