/* Folds: dense arrays of any numbers, each lane of which comes to one number, whose order is that
   of sizes alone. Lanes that lie side by side are folded row by row, as NumPy does it; where few
   do, several rows of theirs at once. A long lane has as many accumulators as four vectors hold, of
   which halves are folded; short ones are taken eight at a time, element by element. */

#define SIDE_BY_SIDE 256
#define AT_ONCE 8
#define LONG 32768 /* elements from which others may run meanwhile */
#define FEW_LANES 32 /* side by side, of which several rows are taken at once */
#define BLOCK 2048   /* of float32, whose sum is added to others in float64 */

typedef struct {
    npy_intp outer, n, inner;
} Lanes;

/* Gives an accumulator for each lane. `y`: what is taken off a lane's elements, or NULL. */
typedef void (*Work)(const Lanes *lanes, const void *x, const void *y, void *out, void *places);

typedef npy_uint64 whole; /* sums and products of integers wrap around */
typedef npy_int64 integer;

#define PLUS(a, v) ((a) + (v))
#define TIMES(a, v) ((a) * (v))
#define LARGER(a, v) ((a) != (a) ? (a) : (a) > (v) ? (a) : (v))
#define SMALLER(a, v) ((a) != (a) ? (a) : (a) < (v) ? (a) : (v))

#define ITSELF(TYPE, v, c) ((void)(c), (TYPE)(v))
#define IS_TRUE(TYPE, v, c) ((void)(c), (TYPE)((v) != 0))
#define SQUARE(TYPE, v, c) ((void)(c), (TYPE)(v) * (TYPE)(v))
#define DEVIATION(TYPE, v, c) (((TYPE)(v) - (c)) * ((TYPE)(v) - (c)))

/* A line of at least WIDTH elements of `p` comes to `line[0]`. */
#define PLAIN_LINE(FROM, TYPE, TAKE, STEP)                                                      \
    TYPE line[WIDTH];                                                                           \
    for (k = 0; k < WIDTH; k++)                                                                 \
        line[k] = TAKE(TYPE, p[k], centre);                                                     \
    for (; k + WIDTH <= size; k += WIDTH)                                                       \
        for (int l = 0; l < WIDTH; l++)                                                         \
            line[l] = STEP(line[l], TAKE(TYPE, p[k + l], centre));                              \
    for (int half = WIDTH / 2; half > 0; half /= 2)                                             \
        for (int l = 0; l < half; l++)                                                          \
            line[l] = STEP(line[l], line[l + half]);                                            \
    for (; k < size; k++)                                                                       \
        line[0] = STEP(line[0], TAKE(TYPE, p[k], centre));

#if defined(__GNUC__)
#define VECTOR_AT(PLACE, TAKE)                                                                  \
    TAKE(Vector, __builtin_convertvector(*(const Source *)(p + (PLACE)), Vector), centre)
#define VPLUS PLUS
#define VTIMES TIMES
#define CHOOSE(a, v, TEST)                                                                      \
    (Vector)((((a != a) | (v TEST a)) & (__typeof__(a != a))a) |                                \
             (~((a != a) | (v TEST a)) & (__typeof__(a != a))v))
#define VLARGER(a, v) ({ const Vector t = v; CHOOSE(a, t, <=); })
#define VSMALLER(a, v) ({ const Vector t = v; CHOOSE(a, t, >=); })

/* The same by four vectors; `line` is the last of them. */
#define VECTOR_LINE(FROM, TYPE, TAKE, STEP)                                                     \
    typedef TYPE Vector __attribute__((vector_size(32)));                                       \
    typedef FROM Source __attribute__((vector_size(32 / sizeof(TYPE) * sizeof(FROM)),           \
                                       aligned(sizeof(FROM)), may_alias));                      \
    enum { LANES = WIDTH / 4 };                                                                 \
    union {                                                                                     \
        Vector all;                                                                             \
        TYPE one[LANES];                                                                        \
    } last;                                                                                     \
    TYPE *line = last.one;                                                                      \
    Vector a = VECTOR_AT(0, TAKE), b = VECTOR_AT(LANES, TAKE);                                  \
    Vector d = VECTOR_AT(2 * LANES, TAKE), e = VECTOR_AT(3 * LANES, TAKE);                      \
    for (k = WIDTH; k + WIDTH <= size; k += WIDTH) {                                            \
        a = V##STEP(a, VECTOR_AT(k, TAKE));                                                     \
        b = V##STEP(b, VECTOR_AT(k + LANES, TAKE));                                             \
        d = V##STEP(d, VECTOR_AT(k + 2 * LANES, TAKE));                                         \
        e = V##STEP(e, VECTOR_AT(k + 3 * LANES, TAKE));                                         \
    }                                                                                           \
    a = V##STEP(a, b), d = V##STEP(d, e);                                                       \
    for (; k + LANES <= size; k += LANES)                                                       \
        a = V##STEP(a, VECTOR_AT(k, TAKE));                                                     \
    last.all = V##STEP(a, d);                                                                   \
    for (int half = LANES / 2; half > 0; half /= 2)                                             \
        for (int l = 0; l < half; l++)                                                          \
            line[l] = STEP(line[l], line[l + half]);                                            \
    for (; k < size; k++)                                                                       \
        line[0] = STEP(line[0], TAKE(TYPE, p[k], centre));

#else
#define VECTOR_LINE PLAIN_LINE
#endif

/* FROM are the elements, TYPE the accumulators; TAKE says what is folded, of an element and the
   centre, STEP how. TOTAL is what long lanes are added up in, PART elements at a time, each a LINE. */
#define FOLD(NAME, FROM, TYPE, TAKE, STEP, TOTAL, PART, LINE)                                   \
    FOR_MACHINE static void NAME(const Lanes *lanes, const void *x, const void *y, void *to,    \
                                 void *places)                                                  \
    {                                                                                           \
        enum { WIDTH = 128 / sizeof(TYPE) };                                                    \
        const npy_intp n = lanes->n, inner = lanes->inner;                                      \
        const FROM *p = x;                                                                      \
        const TYPE *c = y;                                                                      \
        TYPE *out = to, held[SIDE_BY_SIDE], off[SIDE_BY_SIDE] = {0};                            \
        npy_intp r = 0;                                                                         \
        if (inner == 1 && n < FEW_LANES)                                                        \
            for (; r + AT_ONCE <= lanes->outer; r += AT_ONCE, p += AT_ONCE * n) {               \
                for (int l = 0; l < AT_ONCE; l++)                                               \
                    off[l] = c == NULL ? 0 : c[r + l], held[l] = TAKE(TYPE, p[l * n], off[l]);  \
                for (npy_intp k = 1; k < n; k++)                                                \
                    for (int l = 0; l < AT_ONCE; l++)                                           \
                        held[l] = STEP(held[l], TAKE(TYPE, p[l * n + k], off[l]));              \
                for (int l = 0; l < AT_ONCE; l++)                                               \
                    out[r + l] = held[l];                                                       \
            }                                                                                   \
        for (; inner == 1 && n < FEW_LANES && r < lanes->outer; r++, p += n) {                  \
            off[0] = c == NULL ? 0 : c[r], held[0] = TAKE(TYPE, p[0], off[0]);                  \
            for (npy_intp k = 1; k < n; k++)                                                    \
                held[0] = STEP(held[0], TAKE(TYPE, p[k], off[0]));                              \
            out[r] = held[0];                                                                   \
        }                                                                                       \
        for (; inner == 1 && r < lanes->outer; r++) {                                           \
            const TYPE centre = c == NULL ? 0 : c[r];                                           \
            TOTAL total = 0;                                                                    \
            for (npy_intp done = 0; done < n;) {                                                \
                npy_intp size = n - done >= PART + WIDTH ? PART : n - done, k;                  \
                LINE(FROM, TYPE, TAKE, STEP)                                                    \
                total = done == 0 ? line[0] : STEP(total, (TOTAL)line[0]);                      \
                done += size, p += size;                                                        \
            }                                                                                   \
            out[r] = (TYPE)total;                                                               \
        }                                                                                       \
        for (; inner != 1 && r < lanes->outer; r++, p += n * inner) {                           \
            npy_intp rows = inner < FEW_LANES ? 2 * FEW_LANES / inner : 1;                      \
            rows = rows < n ? rows : n;                                                         \
            for (npy_intp at = 0; at < inner; at += SIDE_BY_SIDE) {                             \
                npy_intp width = inner - at < SIDE_BY_SIDE ? inner - at : SIDE_BY_SIDE, k;      \
                npy_intp all = rows == 1 ? width : rows * inner, on = rows * inner;             \
                const FROM *q = p + at;                                                         \
                for (npy_intp l = 0; c != NULL && l < all; l++)                                 \
                    off[l] = c[r * inner + at + l % inner];                                     \
                for (npy_intp l = 0; l < all; l++)                                              \
                    held[l] = TAKE(TYPE, q[l], off[l]);                                         \
                for (k = rows, q += on; k + 4 * rows <= n; k += 4 * rows, q += 4 * on)          \
                    for (npy_intp l = 0; l < all; l++) {                                        \
                        const TYPE f = off[l], e1 = TAKE(TYPE, q[l], f);                        \
                        const TYPE e2 = TAKE(TYPE, q[l + on], f);                               \
                        const TYPE e3 = TAKE(TYPE, q[l + 2 * on], f);                           \
                        const TYPE e4 = TAKE(TYPE, q[l + 3 * on], f), h = held[l];              \
                        const TYPE h1 = STEP(h, e1), h2 = STEP(h1, e2), h3 = STEP(h2, e3);      \
                        held[l] = STEP(h3, e4);                                                 \
                    }                                                                           \
                for (; k + rows <= n; k += rows, q += on)                                       \
                    for (npy_intp l = 0; l < all; l++)                                          \
                        held[l] = STEP(held[l], TAKE(TYPE, q[l], off[l]));                      \
                for (npy_intp l = 0; l < (n - k) * inner && k < n; l++)                         \
                    held[l] = STEP(held[l], TAKE(TYPE, q[l], off[l]));                          \
                for (npy_intp row = 1; row < rows; row++)                                       \
                    for (npy_intp l = 0; l < inner; l++)                                        \
                        held[l] = STEP(held[l], held[row * inner + l]);                         \
                for (npy_intp l = 0; l < width; l++)                                            \
                    out[r * inner + at + l] = held[l];                                          \
            }                                                                                   \
        }                                                                                       \
    }

#define ANY_SIZE (NPY_MAX_INTP / 2)

FOLD(add_integers, whole, whole, ITSELF, PLUS, whole, ANY_SIZE, VECTOR_LINE)
FOLD(multiply_floats, float, float, ITSELF, TIMES, float, ANY_SIZE, VECTOR_LINE)
FOLD(multiply_doubles, double, double, ITSELF, TIMES, double, ANY_SIZE, VECTOR_LINE)
FOLD(multiply_integers, whole, whole, ITSELF, TIMES, whole, ANY_SIZE, VECTOR_LINE)
FOLD(largest_floats, float, float, ITSELF, LARGER, float, ANY_SIZE, VECTOR_LINE)
FOLD(largest_doubles, double, double, ITSELF, LARGER, double, ANY_SIZE, VECTOR_LINE)
FOLD(largest_integers, integer, integer, ITSELF, LARGER, integer, ANY_SIZE, VECTOR_LINE)
FOLD(smallest_floats, float, float, ITSELF, SMALLER, float, ANY_SIZE, VECTOR_LINE)
FOLD(smallest_doubles, double, double, ITSELF, SMALLER, double, ANY_SIZE, VECTOR_LINE)
FOLD(smallest_integers, integer, integer, ITSELF, SMALLER, integer, ANY_SIZE, VECTOR_LINE)
