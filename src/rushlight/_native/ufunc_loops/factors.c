/* Factors of small matrices and of stacks of them: by elimination, and by the loops of NumPy's linear
   algebra, which call its LAPACK. See `__init__.py`. */
#include "short.h"

#define LARGEST 32 /* rows */
#define FEW 64     /* elements of a matrix that is factored in double precision: see `householder.py` */
#define MOST 1024  /* elements of a transform */
#define ORDER 16   /* rows up to which PyTorch's pivots are known to the last digit */
#define MOST_OF_STACKS (1 << 16) /* elements of all matrices */
#define MOST_WORK (1 << 18)      /* products in all systems */

static Loop lower_factor;
static PyArray_Descr *codes, *pairs[2];
static double one = 1;

/* A loop for operands of some types, which not every NumPy has. */
typedef struct {
    PyUFuncGenericFunction call;
    void *data;
} Special;

static Special reflectors, orthonormal, transforms[2]; /* of even and odd lengths */

/* Matrices of a stack that lie at one distance from each other. */
typedef struct {
    int rank; /* of the stack */
    npy_intp count, step, rows, columns, down, across;
    const char *first;
} Stack;

/* Whether an array is a stack of small matrices of floats, with elements. */
static int read_stack(PyArrayObject *x, npy_intp largest, Stack *found)
{
    int rank = PyArray_NDIM(x) - 2;
    if (rank < 0 || rank > 6 || PyArray_SIZE(x) < 1 || PyArray_SIZE(x) > MOST_OF_STACKS)
        return 0;
    npy_intp count = 1, step = 0;
    for (int k = rank; k-- > 0;) {
        if (PyArray_DIM(x, k) == 1)
            continue;
        if (count > 1 && PyArray_STRIDE(x, k) != step * count)
            return 0;
        step = count == 1 ? PyArray_STRIDE(x, k) : step;
        count *= PyArray_DIM(x, k);
    }
    *found = (Stack){rank, count, step, PyArray_DIM(x, rank), PyArray_DIM(x, rank + 1),
                     PyArray_STRIDE(x, rank), PyArray_STRIDE(x, rank + 1), PyArray_BYTES(x)};
    return found->rows <= largest && found->columns <= largest;
}

/* Matrices in the places of those of a stack, whose rows lie together in memory or, as
   `lapack.columns` makes them, whose columns do. */
static PyArrayObject *new_stack(PyArrayObject *like, PyArray_Descr *descr, npy_intp rows,
                                npy_intp columns, int by_columns)
{
    npy_intp sizes[8], strides[8], item = PyDataType_ELSIZE(descr);
    int rank = PyArray_NDIM(like) - 2;
    copy_sizes(sizes, PyArray_DIMS(like), rank);
    sizes[rank] = rows, sizes[rank + 1] = columns;
    strides[rank] = by_columns ? item : item * columns;
    strides[rank + 1] = by_columns ? item * rows : item;
    npy_intp step = item * rows * columns;
    for (int k = rank; k-- > 0; step *= sizes[k])
        strides[k] = step;
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, rank + 2, sizes, strides,
                                                 NULL, 0, NULL);
}

/* The lower factors of positive matrices, and zeros, which say that they are. */
static PyObject *factor(PyArrayObject *x, const Stack *stack, int type)
{
    npy_intp rows = stack->rows, sizes[2] = {stack->count, rows};
    PyArrayObject *out = new_stack(x, floats[type], rows, rows, 1);
    if (out == NULL)
        return NULL;
    npy_intp item = PyArray_ITEMSIZE(out), step = item * rows * rows;
    npy_intp steps[6] = {stack->step, step, stack->down, stack->across, item, item * rows};
    char *places[2] = {(char *)stack->first, PyArray_BYTES(out)};
    lower_factor.call[type](places, sizes, steps, lower_factor.data[type]);
    int fine = 1;
    for (npy_intp k = 0; k < stack->count; k++) {
        const char *last = PyArray_BYTES(out) + (k + 1) * step - item;
        double pivot = type == 0 ? *(const float *)last : *(const double *)last;
        fine = fine && pivot == pivot; /* else the plain function says where it fails */
    }
    PyObject *code = NULL, *both = NULL;
    if (fine) {
        Py_INCREF(codes);
        code = PyArray_Zeros(stack->rank, PyArray_DIMS(x), codes, 0);
    }
    if (code != NULL)
        both = PyTuple_Pack(2, out, code);
    Py_DECREF(out);
    Py_XDECREF(code);
    return both;
}

/* ---- L and U ------------------------------------------------------------------------------- */

/* Factors a matrix in place, each step that of `_eliminate` in `triangular.py`. */
#define ELIMINATE(NAME, T)                                                                      \
    static int NAME(T *a, npy_intp rows, npy_intp columns, npy_int32 *pivots)                   \
    {                                                                                           \
        npy_intp count = rows < columns ? rows : columns;                                       \
        int info = 0;                                                                           \
        for (npy_intp j = 0; j < count; j++) {                                                  \
            T *column = a + j * rows, size = (T)fabs((double)column[j]);                        \
            npy_intp best = j;                                                                  \
            for (npy_intp i = j + 1; i < rows && size == size; i++) { /* the first NaN wins */  \
                T other = (T)fabs((double)column[i]);                                           \
                if (!(other <= size))                                                           \
                    best = i, size = other;                                                     \
            }                                                                                   \
            pivots[j] = (npy_int32)best + 1;                                                    \
            for (npy_intp k = 0; best != j && k < columns; k++) {                               \
                T held = a[k * rows + j];                                                       \
                a[k * rows + j] = a[k * rows + best];                                           \
                a[k * rows + best] = held;                                                      \
            }                                                                                   \
            T top = column[j];                                                                  \
            if (top == 0) {                                                                     \
                info = info == 0 ? (int)j + 1 : info;                                           \
                top = 1;                                                                        \
            }                                                                                   \
            if (j + 2 == rows && rows == columns && rows <= 4)                                  \
                column[j + 1] /= top;                                                           \
            else {                                                                              \
                T inverse = (T)1 / top;                                                         \
                for (npy_intp i = j + 1; i < rows; i++)                                         \
                    column[i] *= inverse;                                                       \
            }                                                                                   \
            for (npy_intp k = j + 1; k < columns; k++) {                                        \
                T *other = a + k * rows, by = other[j];                                         \
                for (npy_intp i = j + 1; i < rows; i++)                                         \
                    other[i] -= column[i] * by;                                                 \
            }                                                                                   \
        }                                                                                       \
        return info;                                                                            \
    }

ELIMINATE(eliminate_floats, float)
ELIMINATE(eliminate_doubles, double)

/* Copies a matrix to where its columns lie together. */
static void gather(const Stack *stack, npy_intp k, int type, void *to)
{
    for (npy_intp j = 0; j < stack->columns; j++)
        for (npy_intp i = 0; i < stack->rows; i++) {
            const char *at = stack->first + k * stack->step + i * stack->down + j * stack->across;
            if (type == 0)
                ((float *)to)[j * stack->rows + i] = *(const float *)at;
            else
                ((double *)to)[j * stack->rows + i] = *(const double *)at;
        }
}

/* L and U of matrices in one, the rows exchanged and the first pivots that are zero (from 1). */
static PyObject *take_lu(PyArrayObject *x, const Stack *stack, int type)
{
    npy_intp sizes[8], rows = stack->rows, columns = stack->columns;
    npy_intp count = rows < columns ? rows : columns, size = rows * columns;
    copy_sizes(sizes, PyArray_DIMS(x), stack->rank);
    sizes[stack->rank] = count;
    PyArrayObject *out = new_stack(x, floats[type], rows, columns, 1);
    PyArrayObject *pivots = new_array(codes, stack->rank + 1, sizes);
    PyArrayObject *info = new_array(codes, stack->rank, sizes);
    PyObject *all = NULL;
    if (out != NULL && pivots != NULL && info != NULL) {
        for (npy_intp k = 0; k < stack->count; k++) {
            void *a = PyArray_BYTES(out) + k * size * PyArray_ITEMSIZE(out);
            npy_int32 *exchanged = (npy_int32 *)PyArray_BYTES(pivots) + k * count;
            gather(stack, k, type, a);
            ((npy_int32 *)PyArray_BYTES(info))[k] =
                type == 0 ? eliminate_floats(a, rows, columns, exchanged)
                          : eliminate_doubles(a, rows, columns, exchanged);
        }
        all = PyTuple_Pack(3, out, pivots, info);
    }
    Py_XDECREF(out);
    Py_XDECREF(pivots);
    Py_XDECREF(info);
    return all;
}

/* P, L and U of a stack by the factors of its matrices, one after the other. */
#define SPREAD(T, ELIMINATED)                                                                   \
    for (npy_intp k = 0; k < stack->count; k++) {                                               \
        T a[ORDER * ORDER], *p = (T *)PyArray_BYTES(parts[0]) + k * rows * rows;                \
        T *low = (T *)PyArray_BYTES(parts[1]) + k * rows * count;                               \
        T *up = (T *)PyArray_BYTES(parts[2]) + k * count * columns;                             \
        npy_int32 exchanged[ORDER];                                                             \
        int order[ORDER];                                                                       \
        gather(stack, k, type, a);                                                              \
        ELIMINATED(a, rows, columns, exchanged);                                                \
        for (int i = 0; i < rows; i++)                                                          \
            order[i] = i;                                                                       \
        for (int j = 0; j < count; j++) {                                                       \
            int held = order[j];                                                                \
            order[j] = order[exchanged[j] - 1];                                                 \
            order[exchanged[j] - 1] = held;                                                     \
        }                                                                                       \
        memset(p, 0, rows * rows * sizeof(T));                                                  \
        for (npy_intp i = 0; i < rows; i++) {                                                   \
            p[order[i] * rows + i] = 1;                                                         \
            for (npy_intp j = 0; j < count; j++)                                                \
                low[i * count + j] = j < i ? a[j * rows + i] : j == i;                          \
        }                                                                                       \
        for (npy_intp i = 0; i < count; i++)                                                    \
            for (npy_intp j = 0; j < columns; j++)                                              \
                up[i * columns + j] = j < i ? 0 : a[j * rows + i];                              \
    }

static PyObject *take_plu(PyArrayObject *x, const Stack *stack, int type)
{
    npy_intp rows = stack->rows, columns = stack->columns;
    npy_intp count = rows < columns ? rows : columns;
    PyArrayObject *parts[3] = {new_stack(x, floats[type], rows, rows, 0),
                               new_stack(x, floats[type], rows, count, 0),
                               new_stack(x, floats[type], count, columns, 0)};
    PyObject *all = NULL;
    if (parts[0] != NULL && parts[1] != NULL && parts[2] != NULL) {
        if (type == 0) {
            SPREAD(float, eliminate_floats)
        }
        else {
            SPREAD(double, eliminate_doubles)
        }
        all = PyTuple_Pack(3, parts[0], parts[1], parts[2]);
    }
    for (int k = 0; k < 3; k++)
        Py_XDECREF(parts[k]);
    return all;
}

/* ---- triangles ------------------------------------------------------------------------------ */

/* Solves one system for each column of what `x` holds, in place, from one end of the triangle. */
#define SUBSTITUTE(NAME, T)                                                                     \
    static void NAME(const char *a, npy_intp down, npy_intp across, T *x, npy_intp of_row,      \
                     npy_intp of_column, npy_intp n, npy_intp many, int upper, int unit)        \
    {                                                                                           \
        T row[LARGEST];                                                                         \
        for (npy_intp m = 0; m < n; m++) {                                                      \
            npy_intp i = upper ? n - 1 - m : m;                                                 \
            for (npy_intp k = 0; k < m; k++) {                                                  \
                npy_intp j = upper ? n - 1 - k : k;                                             \
                row[k] = *(const T *)(a + i * down + j * across);                               \
            }                                                                                   \
            T pivot = unit ? 1 : *(const T *)(a + i * (down + across));                         \
            for (npy_intp c = 0; c < many; c++) {                                               \
                T *column = x + c * of_column, sum = column[i * of_row];                        \
                for (npy_intp k = 0; k < m; k++)                                                \
                    sum -= row[k] * column[(upper ? n - 1 - k : k) * of_row];                   \
                column[i * of_row] = unit ? sum : sum / pivot;                                  \
            }                                                                                   \
        }                                                                                       \
    }

SUBSTITUTE(substitute_floats, float)
SUBSTITUTE(substitute_doubles, double)

/* X with A X = B, or X A = B, for stacks of equal sizes, for (A, B, upper, left, unit). */
static PyObject *take_solution(PyObject *const *args, int type)
{
    PyArrayObject *a = (PyArrayObject *)args[0], *b = (PyArrayObject *)args[1];
    Stack of_a, of_b;
    for (int k = 2; k < 5; k++)
        if (args[k] != Py_True && args[k] != Py_False)
            return NULL;
    int upper = args[2] == Py_True, left = args[3] == Py_True, unit = args[4] == Py_True;
    if (type < 0 || type_of(args[1]) != type || !read_stack(a, LARGEST, &of_a) ||
        !read_stack(b, MOST_OF_STACKS, &of_b) || of_a.rows != of_a.columns ||
        of_a.rank != of_b.rank || of_a.rows != (left ? of_b.rows : of_b.columns) ||
        PyArray_SIZE(b) > MOST_WORK / of_a.rows)
        return NULL;
    for (int k = 0; k < of_a.rank; k++)
        if (PyArray_DIM(a, k) != PyArray_DIM(b, k))
            return NULL;
    PyArrayObject *out = new_stack(b, floats[type], of_b.rows, of_b.columns, 1);
    if (out == NULL)
        return NULL;
    npy_intp size = of_b.rows * of_b.columns, n = of_a.rows, many = size / n;
    npy_intp of_row = left ? 1 : of_b.rows, of_column = left ? of_b.rows : 1;
    npy_intp down = left ? of_a.down : of_a.across, across = left ? of_a.across : of_a.down;
    upper = left ? upper : !upper;
    for (npy_intp k = 0; k < of_b.count; k++) {
        void *x = PyArray_BYTES(out) + k * size * PyArray_ITEMSIZE(out);
        const char *from = of_a.first + k * of_a.step;
        gather(&of_b, k, type, x);
        if (type == 0)
            substitute_floats(from, down, across, x, of_row, of_column, n, many, upper, unit);
        else
            substitute_doubles(from, down, across, x, of_row, of_column, n, many, upper, unit);
    }
    return (PyObject *)out;
}

/* ---- Q and R ------------------------------------------------------------------------------- */

/* Numbers rounded to the type of the matrix that is factored. */
static void round_all(double *values, npy_intp count, int type)
{
    for (npy_intp k = 0; type == 0 && k < count; k++)
        values[k] = (float)values[k];
}

static void put(PyArrayObject *out, npy_intp at, double value, int type)
{
    if (type == 0)
        ((float *)PyArray_BYTES(out))[at] = (float)value;
    else
        ((double *)PyArray_BYTES(out))[at] = value;
}

/* Q and R of small matrices, in double precision; reflectors are rounded between, as they are where
   they are results. */
static PyObject *take_qr(PyArrayObject *x, PyObject *mode, int type)
{
    Stack stack;
    if (type < 0 || reflectors.call == NULL || orthonormal.call == NULL ||
        !read_stack(x, FEW, &stack) || stack.rows * stack.columns > FEW ||
        !PyUnicode_CheckExact(mode) || PyUnicode_CompareWithASCIIString(mode, "reduced") != 0)
        return NULL;
    npy_intp rows = stack.rows, columns = stack.columns;
    npy_intp count = rows < columns ? rows : columns, by = rows * 8;
    double a[FEW], factors[FEW], q[FEW];
    PyArrayObject *r = new_stack(x, floats[type], count, columns, 1);
    PyArrayObject *out = r == NULL ? NULL : new_stack(x, floats[type], rows, count, 1);
    PyObject *both = NULL;
    for (npy_intp n = 0; out != NULL && n < stack.count; n++) {
        gather(&stack, n, type, type == 0 ? (void *)q : (void *)a);
        for (npy_intp k = 0; type == 0 && k < rows * columns; k++)
            a[k] = ((float *)q)[k];
        char *first[2] = {(char *)a, (char *)factors};
        npy_intp sizes[4] = {1, rows, columns, count}, steps[5] = {0, 0, 8, by, 8};
        reflectors.call(first, sizes, steps, reflectors.data);
        round_all(a, rows * columns, type);
        round_all(factors, count, type);
        for (npy_intp j = 0; j < columns; j++)
            for (npy_intp i = 0; i < count; i++)
                put(r, (n * columns + j) * count + i, i <= j ? a[j * rows + i] : 0, type);
        char *second[3] = {(char *)a, (char *)factors, (char *)q};
        npy_intp of[4] = {1, rows, count, count}, by_all[8] = {0, 0, 0, 8, by, 8, 8, by};
        orthonormal.call(second, of, by_all, orthonormal.data);
        for (npy_intp k = 0; k < rows * count; k++)
            put(out, n * rows * count + k, q[k], type);
    }
    if (out != NULL && !PyErr_Occurred())
        both = PyTuple_Pack(2, out, r);
    Py_XDECREF(out);
    Py_XDECREF(r);
    return both;
}

/* The one-sided transform of a dense real array along its last dimension, in double precision, as
   `np.fft` has it. */
static PyObject *take_transform(PyArrayObject *x, PyObject *const *args, int type)
{
    int rank = type < 0 ? 0 : PyArray_NDIM(x);
    if (rank < 1 || rank > 8 || PyArray_SIZE(x) > MOST || !is_dense(x) || args[3] != Py_True ||
        !PyTuple_CheckExact(args[1]) || PyTuple_GET_SIZE(args[1]) != 1 ||
        !PyLong_CheckExact(args[2]) || PyLong_AsLong(args[2]) != 0 || /* normalised: not here */
        !PyLong_CheckExact(PyTuple_GET_ITEM(args[1], 0)) ||
        PyLong_AsLong(PyTuple_GET_ITEM(args[1], 0)) != rank - 1)
        return PyErr_Clear(), NULL;
    npy_intp sizes[8], n = PyArray_DIM(x, rank - 1), half = n / 2 + 1;
    for (int k = 0; k < rank; k++)
        if ((sizes[k] = PyArray_DIM(x, k)) < 2)
            return NULL;
    Special *loop = &transforms[n & 1];
    if (loop->call == NULL)
        return NULL;
    sizes[rank - 1] = half;
    PyArrayObject *out = new_array(pairs[type], rank, sizes);
    if (out == NULL)
        return NULL;
    npy_intp size = PyArray_SIZE(x), of[3] = {size / n, n, half};
    npy_intp steps[5] = {n * 8, 0, half * 16, 8, 16};
    double given[MOST], found[MOST * 2]; /* lines have half as many pairs as elements, and one */
    char *places[3] = {PyArray_BYTES(x), (char *)&one, PyArray_BYTES(out)};
    for (npy_intp k = 0; type == 0 && k < size; k++)
        given[k] = ((const float *)PyArray_BYTES(x))[k];
    if (type == 0)
        places[0] = (char *)given, places[2] = (char *)found;
    loop->call(places, of, steps, loop->data);
    if (PyErr_Occurred())
        Py_CLEAR(out);
    for (npy_intp k = 0; type == 0 && out != NULL && k < PyArray_SIZE(out) * 2; k++)
        ((float *)PyArray_BYTES(out))[k] = (float)found[k];
    return (PyObject *)out;
}

/* "C" for lower factors, with "u" and "c" for what has to be False; "L" for L and U in one matrix,
   "P" for P, L and U; "T" for what solves systems with triangles; "Q" for Q and R, with "m" for what
   is wanted; "F" for a transform, with the dimensions, the normalisation and whether only one side
   is wanted. */
static PyObject *take_factor(const char *letters, PyObject *const *args)
{
    PyArrayObject *x = (PyArrayObject *)args[0];
    int type = type_of(args[0]);
    Stack stack;
    if (letters[0] == 'Q')
        return take_qr(x, args[1], type);
    if (letters[0] == 'F')
        return take_transform(x, args, type);
    if (letters[0] == 'T')
        return take_solution(args, type);
    if (type < 0 || !read_stack(x, letters[0] == 'C' ? LARGEST : ORDER, &stack))
        return NULL;
    if (letters[0] == 'L' || letters[0] == 'P')
        return letters[0] == 'L' ? take_lu(x, &stack, type) : take_plu(x, &stack, type);
    if (stack.rows != stack.columns || letters[0] != 'C')
        return NULL;
    for (int k = 1; letters[k] != '\0'; k++)
        if (args[k] != Py_False)
            return NULL;
    return factor(x, &stack, type);
}

static PyObject *make_factor(PyTypeObject *type, PyObject *args, PyObject *names)
{
    return make_short(type, args, names, take_factor);
}

static PyTypeObject factor_type = SHORT_TYPE(
    "rushlight._native.ufunc_loops.factors.Factor", "Factors of small matrices.", make_factor);

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "factors", "Factors of small matrices.", -1
};

/* The loop of a function for operands of these types, where this NumPy has it. */
static void find_special(const char *module, const char *name, const char *signature,
                         const int *types, int count, Special *loop)
{
    PyObject *home = PyImport_ImportModule(module), *said = NULL;
    PyObject *ufunc = home == NULL ? NULL : PyObject_GetAttrString(home, name);
    if (ufunc != NULL && PyObject_TypeCheck(ufunc, &PyUFunc_Type)) {
        PyUFuncObject *known = (PyUFuncObject *)ufunc;
        said = PyObject_GetAttrString(ufunc, "signature");
        int apt = known->nargs == count && said != NULL && PyUnicode_Check(said) &&
                  PyUnicode_CompareWithASCIIString(said, signature) == 0;
        for (int i = 0; apt && loop->call == NULL && i < known->ntypes; i++) {
            int same = known->functions[i] != NULL;
            for (int k = 0; k < count; k++)
                same = same && known->types[i * count + k] == types[k];
            if (same) {
                loop->call = known->functions[i];
                loop->data = known->data == NULL ? NULL : known->data[i];
            }
        }
    }
    PyErr_Clear();
    Py_XDECREF(said);
    Py_XDECREF(ufunc); /* which NumPy keeps, and its loops with it */
    Py_XDECREF(home);
}

static void find_specials(void)
{
    static const int doubles[3] = {NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE};
    static const int whole[3] = {NPY_DOUBLE, NPY_DOUBLE, NPY_CDOUBLE};
    static const char *algebra = "numpy.linalg._umath_linalg", *fft = "numpy.fft._pocketfft_umath";
    find_special(algebra, "qr_r_raw", "(m,n)->(p)", doubles, 2, &reflectors);
    find_special(algebra, "qr_reduced", "(m,n),(k)->(m,k)", doubles, 3, &orthonormal);
    find_special(fft, "rfft_n_even", "(n),()->(m)", whole, 3, &transforms[0]);
    find_special(fft, "rfft_n_odd", "(n),()->(m)", whole, 3, &transforms[1]);
}

PyMODINIT_FUNC PyInit_factors(void)
{
    import_array();
    import_umath();
    codes = PyArray_DescrFromType(NPY_INT32);
    pairs[0] = PyArray_DescrFromType(NPY_CFLOAT);
    pairs[1] = PyArray_DescrFromType(NPY_CDOUBLE);
    if (codes == NULL || pairs[0] == NULL || pairs[1] == NULL || start_loops() < 0 || PyType_Ready(&factor_type) < 0)
        return NULL;
    PyObject *home = PyImport_ImportModule("numpy.linalg._umath_linalg");
    PyObject *ufunc = home == NULL ? NULL : PyObject_GetAttrString(home, "cholesky_lo");
    int found = ufunc != NULL && read_loops(ufunc, 2, 1, &lower_factor);
    Py_XDECREF(ufunc); /* which NumPy keeps, and its loops with it */
    Py_XDECREF(home);
    if (!found) {
        PyErr_SetString(PyExc_ImportError, "this NumPy has other loops");
        return NULL;
    }
    find_specials();
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddObjectRef(module, "Factor", (PyObject *)&factor_type) < 0)
        return NULL;
    return module;
}
