/* One loop over two arrays that broadcast, block by block. NumPy begins its loop anew for each row of
   the last dimension, which takes as long as a hundred elements do. Here a block is several rows;
   an operand that isn't in order there, nor one element, is written out first, and what is written
   stays while the next blocks want the same. Others may share the blocks. */

#define WHOLE 128     /* elements of a last dimension that makes blocks by itself */
#define LEAST_ROW 8   /* elements of rows that are combined as they lie */
#define WRITTEN 1024  /* elements of a block of several rows */
#define PIECE 8192    /* elements of a block in which nothing is written out, and of a chunk */
#define SHARED 32768  /* elements that threads share which are awake */
#define WAKING 262144 /* elements for which they are woken */
#define MOST_ELEMENTS ((npy_intp)1 << 40)

typedef struct {
    PyUFuncGenericFunction call;
    void *data;
    char *from[2], *to;
    npy_intp item, out_item; /* bytes */
    /* Dimensions, the last one first. `whole` of them lie within a block, one more in parts. */
    int axes, whole;
    npy_intp sizes[DIMENSIONS + 1], steps[2][DIMENSIONS + 1];
    npy_intp width, part, parts, blocks, grain; /* `width` elements by `part`; `grain` blocks a chunk */
    npy_intp by[2]; /* how far an operand's elements are apart in a block */
    int written[2];
    /* The operand that has one element a row of a block, beside rows in order; or -1. Or both have
       rows: then it is the first one. */
    int single, paired;
    char op; /* which of + - * / it is, or 0 */
} Blocks;

typedef void (*Chunk)(void *frame, npy_int64 chunk);
typedef void (*Runner)(void *state, Chunk chunk, void *frame, npy_int64 chunks);

/* The steps of two arrays along the dimensions of what they broadcast to. Whether none is backwards. */
static int read_steps(PyArrayObject *const *both, int rank, npy_intp steps[2][DIMENSIONS])
{
    for (int o = 0; o < 2; o++)
        for (int k = 0; k < rank; k++) {
            int own = k - rank + PyArray_NDIM(both[o]);
            int moves = own >= 0 && PyArray_DIM(both[o], own) != 1;
            steps[o][k] = moves ? PyArray_STRIDE(both[o], own) : 0;
            if (steps[o][k] < 0)
                return 0;
        }
    return 1;
}

/* Whether NumPy takes both for one line by columns, and lays the result out so, sizes of one too. */
static int are_columns(PyArrayObject *const *both, int rank, const npy_intp *sizes)
{
    int rows = 1;
    for (int o = 0; o < 2; o++) {
        int own = PyArray_NDIM(both[o]);
        if (own == 0)
            continue;
        if (own != rank || !PyArray_IS_F_CONTIGUOUS(both[o]) ||
            memcmp(PyArray_DIMS(both[o]), sizes, rank * sizeof(npy_intp)) != 0)
            return 0;
        rows = rows && PyArray_IS_C_CONTIGUOUS(both[o]);
    }
    return !rows;
}

/* The dimensions in the order in which NumPy lays out a result, the last one first: each is sorted in
   among those before it by the steps of both arrays, of which one that is content decides. */
static void sort_dims(PyArrayObject *const *both, int rank, const npy_intp *sizes,
                      npy_intp steps[2][DIMENSIONS], int *order)
{
    if (are_columns(both, rank, sizes)) {
        for (int k = 0; k < rank; k++)
            order[k] = k;
        return;
    }
    for (int k = 0; k < rank; k++) {
        int dim = rank - 1 - k, place = k;
        for (int at = k - 1; at >= 0; at--) {
            int compared = 0, swaps = 0;
            for (int o = 0; o < 2; o++) {
                npy_intp outer = steps[o][dim], inner = steps[o][order[at]];
                if (outer == 0 || inner == 0)
                    continue;
                swaps = inner > outer && (swaps || !compared);
                compared = 1;
            }
            if (compared && !swaps)
                break;
            place = compared ? at : place;
        }
        memmove(order + place + 1, order + place, (k - place) * sizeof(int));
        order[place] = dim;
    }
}

/* Reads the dimensions in an order; those that step alike are one. */
static void read_axes(Blocks *b, int rank, const npy_intp *sizes, npy_intp steps[2][DIMENSIONS],
                      const int *order)
{
    b->axes = 0;
    for (int k = 0; k < rank; k++) {
        int dim = order[k], top = b->axes - 1, alike = top >= 0;
        if (sizes[dim] == 1)
            continue;
        for (int o = 0; o < 2; o++)
            alike = alike && steps[o][dim] == b->steps[o][top] * b->sizes[top];
        if (alike) {
            b->sizes[top] *= sizes[dim];
            continue;
        }
        b->sizes[++top] = sizes[dim];
        b->steps[0][top] = steps[0][dim], b->steps[1][top] = steps[1][dim];
        b->axes = top + 1;
    }
}

/* A new array whose dimensions lie in an order, the last one first. */
static PyArrayObject *new_in_order(PyArray_Descr *descr, int rank, npy_intp *sizes, const int *order)
{
    npy_intp strides[DIMENSIONS], step = PyDataType_ELSIZE(descr);
    for (int k = 0; k < rank; k++) {
        strides[order[k]] = step;
        step *= sizes[order[k]];
    }
    Py_INCREF(descr);
    return (PyArrayObject *)PyArray_NewFromDescr(&PyArray_Type, descr, rank, sizes, strides, NULL, 0,
                                                 NULL);
}

static void add_axis(Blocks *b)
{
    b->sizes[b->axes] = 1;
    b->steps[0][b->axes] = b->steps[1][b->axes] = 0;
    b->axes++;
}

/* Cuts the elements into blocks. `by_rows`: each is a row, and nothing is written out. */
static void cut_blocks(Blocks *b, int by_rows)
{
    if (b->axes == 0)
        add_axis(b);
    b->whole = 0;
    b->width = 1;
    b->single = -1;
    for (int o = 0; o < 2; o++)
        if (!by_rows && b->op != 0 && b->sizes[0] < WHOLE && b->steps[o][0] == 0 &&
            b->steps[!o][0] == b->item && b->axes > 1 && b->steps[o][1] != 0)
            b->single = o;
    b->paired = b->single < 0 && !by_rows && b->op != 0 && b->axes > 1 && b->sizes[0] >= LEAST_ROW &&
                b->sizes[0] < WHOLE && b->steps[0][0] == b->item && b->steps[1][0] == b->item;
    if (b->paired)
        b->single = 0;
    if (b->single >= 0)
        b->width = b->sizes[b->whole++];
    else if (!by_rows && b->sizes[0] < WHOLE)
        while (b->whole < b->axes && b->width * b->sizes[b->whole] <= WRITTEN)
            b->width *= b->sizes[b->whole++];
    if (b->whole == b->axes)
        add_axis(b);
    npy_intp n = b->sizes[b->whole];
    npy_intp most = by_rows ? n : b->whole == 0 ? PIECE : WRITTEN / b->width;
    b->parts = (n + most - 1) / most;
    b->part = (n + b->parts - 1) / b->parts;
    b->blocks = b->parts;
    for (int k = b->whole + 1; k < b->axes; k++)
        b->blocks *= b->sizes[k];
    for (int o = 0; o < 2; o++) {
        int in_order = 1, one = 1;
        npy_intp expected = b->item;
        for (int k = 0; k < b->whole + (b->part > 1); k++) {
            in_order = in_order && b->steps[o][k] == expected;
            one = one && b->steps[o][k] == 0;
            expected *= b->sizes[k];
        }
        b->written[o] = b->whole > 0 && b->single < 0 && !in_order && !one;
        b->by[o] = b->whole == 0 ? b->steps[o][0] : one ? 0 : b->item;
    }
}

#define BEYOND 32 /* bytes */

#if defined(__GNUC__)
#define REPEAT(TYPE)                                                                            \
    {                                                                                           \
        typedef TYPE Wide __attribute__((vector_size(BEYOND), aligned(sizeof(TYPE)), may_alias)); \
        const Wide wide = *(const TYPE *)from + (Wide){0};                                      \
        for (npy_intp k = 0; k < bytes; k += BEYOND)                                            \
            *(Wide *)(to + k) = wide;                                                           \
    }
#else
#define REPEAT(TYPE)                                                                            \
    for (npy_intp k = 0; k < bytes; k += sizeof(TYPE))                                          \
        *(TYPE *)(to + k) = *(const TYPE *)from;
#endif

/* Repeats elements, `step` bytes apart, each over `bytes` bytes; and less than `BEYOND` more. */
FOR_MACHINE static void fill_rows(char *to, const char *from, npy_intp rows, npy_intp step,
                                  npy_intp bytes, npy_intp item)
{
    if (item == 4)
        for (; rows > 0; rows--, to += bytes, from += step)
            REPEAT(npy_uint32)
    else
        for (; rows > 0; rows--, to += bytes, from += step)
            REPEAT(npy_uint64)
}

#if defined(__GNUC__)
/* Rows of elements and one element for each, or other rows. What follows a row may be read where rows follow each
   other, and written, too, but nothing behind the last one. */
#define COMBINE(TYPE, BITS, LEFT, RIGHT)                                                        \
    {                                                                                           \
        typedef TYPE Wide __attribute__((vector_size(BEYOND), aligned(sizeof(TYPE)), may_alias)); \
        typedef BITS Bits __attribute__((vector_size(BEYOND)));                                 \
        const npy_intp lanes = BEYOND / sizeof(TYPE);                                           \
        const npy_intp row = n * sizeof(TYPE);                                                  \
        const int dense = by == row && (!paired || step == row);                                \
        TYPE *out = (TYPE *)to;                                                                 \
        for (; rows > 0; rows--, one += step, from += by, out += n) {                           \
            const TYPE *x = (const TYPE *)from;                                                 \
            const Wide same = (Wide)(*(const BITS *)one + (Bits){0});                           \
            const npy_intp safe = (dense ? rows * n : n) - lanes + 1, end = safe < n ? safe : n; \
            npy_intp k = 0;                                                                     \
            for (; k < end; k += lanes) {                                                       \
                const Wide c = paired ? *(const Wide *)((const TYPE *)one + k) : same;          \
                const Wide v = *(const Wide *)(x + k);                                          \
                *(Wide *)(out + k) = LEFT RIGHT;                                                \
            }                                                                                   \
            for (; k < n; k++) {                                                                \
                const TYPE c = ((const TYPE *)one)[paired ? k : 0], v = x[k];                   \
                out[k] = LEFT RIGHT;                                                            \
            }                                                                                   \
        }                                                                                       \
    }

#define COMBINE_BY(OP)                                                                          \
    if (item == 4 && first)                                                                     \
        COMBINE(npy_float, npy_uint32, c, OP v)                                                 \
    else if (item == 4)                                                                         \
        COMBINE(npy_float, npy_uint32, v, OP c)                                                 \
    else if (first)                                                                             \
        COMBINE(npy_double, npy_uint64, c, OP v)                                                \
    else                                                                                        \
        COMBINE(npy_double, npy_uint64, v, OP c)

FOR_MACHINE static void combine_rows(char op, int first, int paired, npy_intp rows, npy_intp n,
                                     npy_intp item, const char *one, npy_intp step,
                                     const char *from, npy_intp by, char *to)
{
    switch (op) {
    case '+': COMBINE_BY(+) break;
    case '-': COMBINE_BY(-) break;
    case '*': COMBINE_BY(*) break;
    case '/': COMBINE_BY(/) break;
    }
}
#else
#define combine_rows(op, first, paired, rows, n, item, one, step, from, by, to) ((void)0)
#endif

/* Writes out the elements of an operand along the first axes and `n` along one more: where they end. */
static char *write_axes(const Blocks *b, int o, int axis, npy_intp n, const char *from, char *to)
{
    npy_intp step = b->steps[o][axis], item = b->item;
    if (axis == 0) {
        if (step == 0)
            fill_rows(to, from, 1, 0, n * item, item);
        else if (step == item)
            memcpy(to, from, n * item);
        else if (item == 4)
            for (npy_intp k = 0; k < n; k++)
                memcpy(to + 4 * k, from + k * step, 4);
        else
            for (npy_intp k = 0; k < n; k++)
                memcpy(to + 8 * k, from + k * step, 8);
        return to + n * item;
    }
    if (step == 0) {
        npy_intp one = write_axes(b, o, axis - 1, b->sizes[axis - 1], from, to) - to;
        npy_intp done = one, all = one * n;
        for (npy_intp more; done < all; done += more) {
            more = done < all - done ? done : all - done;
            memcpy(to + done, to, more);
        }
        return to + all;
    }
    if (axis == 1 && b->steps[o][0] == 0) {
        fill_rows(to, from, n, step, b->sizes[0] * item, item);
        return to + n * b->sizes[0] * item;
    }
    for (npy_intp k = 0; k < n; k++, from += step)
        to = write_axes(b, o, axis - 1, b->sizes[axis - 1], from, to);
    return to;
}

/* The blocks of a chunk. */
static void run_blocks(void *frame, npy_int64 chunk)
{
    const Blocks *b = frame;
    npy_uint64 rooms[2][WRITTEN + BEYOND / 8];
    npy_intp rows_held[2] = {0, 0}, place[DIMENSIONS + 1];
    const char *held[2] = {NULL, NULL}, *start[2] = {b->from[0], b->from[1]};
    npy_intp block = chunk * b->grain, rest = block / b->parts, at = block % b->parts;
    npy_intp end = block + b->grain < b->blocks ? block + b->grain : b->blocks;
    char *to = b->to + (rest * b->sizes[b->whole] + at * b->part) * b->width * b->out_item;
    for (int k = b->whole + 1; k < b->axes; k++) {
        place[k] = rest % b->sizes[k];
        rest /= b->sizes[k];
        for (int o = 0; o < 2; o++)
            start[o] += place[k] * b->steps[o][k];
    }
    for (; block < end; block++) {
        npy_intp first = at * b->part, rows = b->sizes[b->whole] - first;
        rows = rows < b->part ? rows : b->part;
        npy_intp count = rows * b->width, strides[3] = {b->by[0], b->by[1], b->out_item};
        char *places[3] = {NULL, NULL, to};
        to += count * b->out_item;
        if (b->single >= 0) {
            int o = b->single;
            npy_intp step = b->steps[o][1], by = b->steps[!o][1];
            combine_rows(b->op, o == 0, b->paired, rows, b->width, b->item,
                         start[o] + first * step, step, start[!o] + first * by, by, places[2]);
            goto next;
        }
        for (int o = 0; o < 2; o++) {
            const char *from = start[o] + first * b->steps[o][b->whole];
            if (b->written[o] && (held[o] != from || rows_held[o] < rows)) {
                write_axes(b, o, b->whole, rows, from, (char *)rooms[o]);
                held[o] = from, rows_held[o] = rows;
            }
            places[o] = b->written[o] ? (char *)rooms[o] : (char *)from;
        }
        b->call(places, &count, strides, b->data);
    next:
        if (++at < b->parts)
            continue;
        at = 0;
        for (int k = b->whole + 1; k < b->axes; k++) {
            for (int o = 0; o < 2; o++)
                start[o] += b->steps[o][k];
            if (++place[k] < b->sizes[k])
                break;
            for (int o = 0; o < 2; o++)
                start[o] -= b->sizes[k] * b->steps[o][k];
            place[k] = 0;
        }
    }
}

static PyObject *pool; /* gives addresses: what runs chunks, a state, who sleeps there; or None */

/* Runs all blocks, with others where there is much to do. Whether the pool could be asked. */
static int run_all(Blocks *b, npy_intp size)
{
    Runner runner = NULL;
    void *state = NULL;
    b->grain = b->blocks;
    if (size >= SHARED && pool != NULL && b->blocks > 1) {
        PyObject *told = PyObject_CallNoArgs(pool);
        if (told == NULL)
            return 0;
        if (PyTuple_CheckExact(told) && PyTuple_GET_SIZE(told) == 3) {
            void *sleepers = PyLong_AsVoidPtr(PyTuple_GET_ITEM(told, 2));
            runner = (Runner)PyLong_AsVoidPtr(PyTuple_GET_ITEM(told, 0));
            state = PyLong_AsVoidPtr(PyTuple_GET_ITEM(told, 1));
            if (PyErr_Occurred() || state == NULL || sleepers == NULL ||
                (size < WAKING && *(volatile npy_int32 *)sleepers > 0))
                runner = NULL;
        }
        Py_DECREF(told);
        if (PyErr_Occurred())
            return 0;
    }
    if (runner != NULL) {
        npy_intp each = b->width * b->part, grain = PIECE / each;
        b->grain = grain > 0 ? grain : 1;
    }
    npy_intp chunks = (b->blocks + b->grain - 1) / b->grain;
    if (size < SHARED) {
        run_blocks(b, 0);
        return 1;
    }
    Py_BEGIN_ALLOW_THREADS
    if (runner != NULL)
        runner(state, run_blocks, b, chunks);
    else
        run_blocks(b, 0);
    Py_END_ALLOW_THREADS
    return 1;
}
