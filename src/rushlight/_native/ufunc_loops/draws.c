/* Arrays filled with random numbers, by the words of a Mersenne Twister: see `__init__.py`. Each
   step is the one that the plain functions of `_array/random` take, and in their roundings. */
#include "arrays.h"
#include <float.h>
#include <math.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#define DIMENSIONS 8
#define MOST (1 << 14) /* elements of what is filled */
#define BLOCK 624      /* words that one twist yields */
#define AHEAD 397
#define TOGETHER 256 /* pairs of normals that are made at once */

/* What needs fused products and sums, which most machines have as an instruction. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ < 12
#define FUSED __attribute__((target_clones("fma", "default"), noinline))
#else
#define FUSED __attribute__((target_clones("arch=x86-64-v3", "default"), noinline))
#endif
#else
#define FUSED
#endif

static PyArray_Descr *integers, *short_integers, *truths, *word;

/* ---- words --------------------------------------------------------------------------------- */

static inline npy_uint32 follow(npy_uint32 own, npy_uint32 after, npy_uint32 far)
{
    npy_uint32 mixed = (own & 0x80000000u) | (after & 0x7FFFFFFFu);
    return far ^ (mixed >> 1) ^ (-(after & 1u) & 0x9908B0DFu);
}

/* The words of a generator's next block, whose key goes on. */
FOR_MACHINE static void twist(npy_uint32 *key, npy_uint32 *words)
{
    for (int k = 0; k < BLOCK - AHEAD; k++)
        key[k] = follow(key[k], key[k + 1], key[k + AHEAD]);
    for (int k = BLOCK - AHEAD; k < BLOCK - 1; k++)
        key[k] = follow(key[k], key[k + 1], key[k + AHEAD - BLOCK]);
    key[BLOCK - 1] = follow(key[BLOCK - 1], key[0], key[AHEAD - 1]);
    for (int k = 0; k < BLOCK; k++) {
        npy_uint32 y = key[k];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9D2C5680u;
        y ^= (y << 15) & 0xEFC60000u;
        words[k] = y ^ (y >> 18);
    }
}

/* The key of a NumPy generator that stands at the end of a block, in an array of it and of its
   place; NULL for others. */
static npy_uint32 *read_key(PyObject *x)
{
    PyArrayObject *key = (PyArrayObject *)x;
    if (Py_TYPE(x) != &PyArray_Type || PyArray_ITEMSIZE(key) != 4 || PyArray_NDIM(key) != 1 ||
        PyArray_DIM(key, 0) != BLOCK + 1 || !is_dense(key) || !PyArray_ISALIGNED(key) ||
        !PyArray_ISWRITEABLE(key))
        return NULL;
    npy_uint32 *words = (npy_uint32 *)PyArray_BYTES(key);
    return words[BLOCK] == BLOCK ? words : NULL;
}

/* The next words of a stream, one after the other, and where it stands then. */
typedef struct {
    PyArrayObject *block; /* ours */
    npy_intp at;
    const npy_uint32 *words;
    npy_uint32 *gathered; /* ours, or NULL where the words are those of the block */
} Source;

static void forget(Source *source)
{
    Py_CLEAR(source->block);
    PyMem_Free(source->gathered);
}

/* Finds so many words from a place of a block on, and makes blocks from a key for what it lacks.
   1, 0 where they are odd (nothing is drawn then), or -1 with an error. */
static int find_words(PyObject *block, PyObject *place, PyObject *key, npy_intp need, Source *to)
{
    PyArrayObject *words = (PyArrayObject *)block;
    int overflow;
    if (Py_TYPE(block) != &PyArray_Type || PyArray_ITEMSIZE(words) != 4 ||
        PyArray_NDIM(words) != 1 || PyArray_DIM(words, 0) > BLOCK || !is_dense(words) ||
        !PyArray_ISALIGNED(words) || !PyLong_CheckExact(place))
        return 0;
    npy_intp at = PyLong_AsLongAndOverflow(place, &overflow), size = PyArray_DIM(words, 0);
    npy_intp left = at < size ? size - at : 0;
    if (overflow || at < 0)
        return 0;
    const npy_uint32 *from = (const npy_uint32 *)PyArray_BYTES(words) + at;
    to->gathered = NULL;
    if (need <= left) {
        Py_INCREF(block);
        to->block = words, to->at = at + need, to->words = from;
        return 1;
    }
    npy_uint32 *state = read_key(key);
    npy_intp size_of_block = BLOCK, blocks = (need - left + BLOCK - 1) / BLOCK;
    if (state == NULL)
        return 0;
    to->block = new_array(word, 1, &size_of_block);
    if (left > 0 || blocks > 1)
        to->gathered = PyMem_Malloc((left + blocks * BLOCK) * sizeof(npy_uint32));
    if (to->block == NULL || ((left > 0 || blocks > 1) && to->gathered == NULL)) {
        forget(to);
        PyErr_NoMemory();
        return -1;
    }
    npy_uint32 *last = (npy_uint32 *)PyArray_BYTES(to->block);
    to->at = need - left - (blocks - 1) * BLOCK;
    to->words = last;
    if (to->gathered == NULL) {
        twist(state, last);
        return 1;
    }
    to->words = to->gathered;
    if (left > 0)
        memcpy(to->gathered, from, left * sizeof(npy_uint32));
    for (npy_intp k = 0; k < blocks; k++)
        twist(state, to->gathered + left + k * BLOCK);
    memcpy(last, to->gathered + left + (blocks - 1) * BLOCK, BLOCK * sizeof(npy_uint32));
    return 1;
}

/* ---- what words become ----------------------------------------------------------------------- */

static inline float unit24(npy_uint32 word)
{
    return (float)(npy_int32)(word & 0xFFFFFF) * (1.0f / (1 << 24));
}

static inline npy_int64 bits53(const npy_uint32 *words)
{
    return ((npy_int64)(words[0] & 0x1FFFFF) << 32) | words[1];
}

/* Its parts are converted one by one, which vectors can; nothing is rounded. */
static inline double unit53(const npy_uint32 *words)
{
    double high = (double)(npy_int32)(words[0] & 0x1FFFFF) * 4294967296.0;
    double low = (double)(npy_int32)(words[1] ^ 0x80000000u) + 2147483648.0;
    return (high + low) * (1.0 / 9007199254740992.0);
}

/* `x * scale + shift`, rounded as `draws.multiply_add` does. */
static inline double moved(double x, double scale, double shift)
{
    if (shift == 0 || !(fabs(scale) > 1e-150) || !(fabs(scale) < 1e150) || !(fabs(shift) < 1e150))
        return shift == 0 ? x * scale : x * scale + shift;
    return fma(x, scale, shift);
}

FUSED static void uniform_floats(const npy_uint32 *words, float *to, npy_intp n, float low,
                                 float high)
{
    float width = high - low;
    if (low == 0 && high == 1)
        for (npy_intp k = 0; k < n; k++)
            to[k] = unit24(words[k]);
    else
        for (npy_intp k = 0; k < n; k++) {
            float value = __builtin_fmaf(unit24(words[k]), width, low);
            to[k] = value == high ? low : value; /* the bound is open */
        }
}

FUSED static void uniform_doubles(const npy_uint32 *words, double *to, npy_intp n, double low,
                                  double high)
{
    double width = high - low;
    if (low == 0 && high == 1)
        for (npy_intp k = 0; k < n; k++)
            to[k] = unit53(words + 2 * k);
    else if (low == 0 || !(width > 1e-150) || !(width < 1e150) || !(fabs(low) < 1e150))
        for (npy_intp k = 0; k < n; k++) {
            double value = moved(unit53(words + 2 * k), width, low);
            to[k] = value == high ? low : value;
        }
    else
        for (npy_intp k = 0; k < n; k++) {
            double value = fma(unit53(words + 2 * k), width, low);
            to[k] = value == high ? low : value;
        }
}

static inline npy_int32 bits_of(float x)
{
    npy_int32 bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static inline float of_bits(npy_int32 bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

/* -2 log(1 - u) of words. */
FUSED static void square_radii(const npy_uint32 *words, float *to, int n)
{
    const npy_int32 root_half = 0x3F3504F3;
    for (int k = 0; k < n; k++) {
        npy_int32 bits = bits_of(1.0f - unit24(words[k])) - root_half;
        float exponent = (float)(bits >> 23);
        float x = of_bits((bits & 0x7FFFFF) + root_half) - 1.0f, square = x * x;
        float y = 7.0376836292e-2f;
        y = __builtin_fmaf(y, x, -1.1514610310e-1f);
        y = __builtin_fmaf(y, x, 1.1676998740e-1f);
        y = __builtin_fmaf(y, x, -1.2420140846e-1f);
        y = __builtin_fmaf(y, x, 1.4249322787e-1f);
        y = __builtin_fmaf(y, x, -1.6668057665e-1f);
        y = __builtin_fmaf(y, x, 2.0000714765e-1f);
        y = __builtin_fmaf(y, x, -2.4999993993e-1f);
        y = __builtin_fmaf(y, x, 3.3333331174e-1f);
        y = __builtin_fmaf(y * x, square, exponent * -2.12194440e-4f);
        to[k] = (x + (y - square * 0.5f) + exponent * 0.693359375f) * -2.0f;
    }
}

/* Their roots, for which the compiler makes no vectors: who calls `sqrtf` may look at `errno`. */
static inline void take_roots(float *x, int n)
{
#ifdef __SSE__
    for (int k = 0; k < n; k += 4) /* eights */
        _mm_storeu_ps(x + k, _mm_sqrt_ps(_mm_loadu_ps(x + k)));
#else
    for (int k = 0; k < n; k++)
        x[k] = sqrtf(x[k]);
#endif
}

/* The cosines and the sines of 2 pi u of words. */
FUSED static void find_angles(const npy_uint32 *words, float *cosines, float *sines, int n)
{
    for (int k = 0; k < n; k++) {
        float x = unit24(words[k]) * 6.283185307179586f;
        npy_int32 octant = ((npy_int32)(x * 1.27323954473516f) + 1) & -2;
        float quarters = (float)octant;
        x = x + quarters * -0.78515625f;
        x = x + quarters * -2.4187564849853515625e-4f;
        x = __builtin_fmaf(quarters, -3.77489497744594108e-8f, x);
        float square = x * x;
        float y = __builtin_fmaf(-1.9515295891e-4f, square, 8.3321608736e-3f);
        y = __builtin_fmaf(y, square, -1.6666654611e-1f);
        npy_int32 sine = bits_of(__builtin_fmaf(y * square, x, x));
        y = __builtin_fmaf(2.443315711809948e-5f, square, -1.388731625493765e-3f);
        y = __builtin_fmaf(y, square, 4.166664568298827e-2f);
        npy_int32 cosine = bits_of(__builtin_fmaf(y * square, square, square * -0.5f) + 1.0f);
        npy_int32 swap = -((octant >> 1) & 1) & (sine ^ cosine);
        sines[k] = of_bits(sine ^ swap ^ (npy_int32)((npy_uint32)(octant & 4) << 29));
        cosines[k] = of_bits(cosine ^ swap ^ (npy_int32)((npy_uint32)((octant + 2) & 4) << 29));
    }
}

/* Sixteen normals from each sixteen words: eight for the radii and eight for the angles.
   Source: S. Moshier, Cephes: logf, sinf and cosf (single precision); see `box_muller.py`. */
FUSED static void normal_floats(const npy_uint32 *words, float *to, npy_intp blocks, float mean,
                                float std)
{
    npy_uint32 apart[2][TOGETHER];
    float radii[TOGETHER], cosines[TOGETHER], sines[TOGETHER];
    while (blocks > 0) {
        int n = 8 * (int)(blocks < TOGETHER / 8 ? blocks : TOGETHER / 8);
        for (int k = 0; k < n; k += 8) {
            memcpy(apart[0] + k, words + 2 * k, 8 * sizeof(npy_uint32));
            memcpy(apart[1] + k, words + 2 * k + 8, 8 * sizeof(npy_uint32));
        }
        square_radii(apart[0], radii, n);
        take_roots(radii, n);
        find_angles(apart[1], cosines, sines, n);
        if (mean == 0) /* where zeros keep their sign */
            for (int k = 0; k < n; k++) {
                cosines[k] = radii[k] * cosines[k] * std;
                sines[k] = radii[k] * sines[k] * std;
            }
        else
            for (int k = 0; k < n; k++) {
                cosines[k] = __builtin_fmaf(radii[k] * cosines[k], std, mean);
                sines[k] = __builtin_fmaf(radii[k] * sines[k], std, mean);
            }
        for (int k = 0; k < n; k += 8) {
            memcpy(to + 2 * k, cosines + k, 8 * sizeof(float));
            memcpy(to + 2 * k + 8, sines + k, 8 * sizeof(float));
        }
        words += 2 * n, to += 2 * n, blocks -= n / 8;
    }
}

/* The same in double precision, two words each, by the functions of the C library. */
static void normal_doubles(const npy_uint32 *words, double *to, npy_intp blocks, double mean,
                           double std)
{
    for (; blocks > 0; blocks--, words += 32, to += 16)
        for (int k = 0; k < 8; k++) {
            double radius = sqrt(-2.0 * log(1.0 - unit53(words + 2 * k)));
            double angle = unit53(words + 16 + 2 * k) * (2.0 * NPY_PI);
            to[k] = moved(radius * cos(angle), std, mean);
            to[8 + k] = moved(radius * sin(angle), std, mean);
        }
}

/* Fewer than sixteen normals: two from every two doubles, of which an odd one is kept back. */
static void pair_up(const npy_uint32 *words, double *to, npy_intp n, int *has_kept, double *kept)
{
    npy_intp k = 0;
    if (*has_kept)
        to[k++] = *kept;
    *has_kept = 0;
    for (; k < n; words += 4) {
        double radius = sqrt(-2.0 * log1p(-unit53(words + 2)));
        double angle = 2.0 * NPY_PI * unit53(words);
        to[k++] = radius * cos(angle);
        *kept = radius * sin(angle);
        *has_kept = k == n;
        if (k < n)
            to[k++] = *kept;
    }
}

/* ---- one function for all kinds -------------------------------------------------------------- */

/* What is asked for: where it goes, of which type (that of floats, or 2: int64, 3: int32,
   4: bool), how many, and the numbers that go with it. */
typedef struct {
    PyArrayObject *out;
    int type;
    npy_intp size;
    double a, b;
    npy_int64 low, many;
    PyArrayObject *odds;
} Wish;

static int read_number(PyObject *x, double *value)
{
    if (!PyFloat_CheckExact(x))
        return 0;
    *value = PyFloat_AS_DOUBLE(x);
    return 1;
}

static int read_whole(PyObject *x, npy_int64 *value)
{
    int overflow;
    if (!PyLong_CheckExact(x))
        return 0;
    *value = PyLong_AsLongLongAndOverflow(x, &overflow);
    return !overflow;
}

/* The shape of a dense array of float32 without sizes of one. The rank, or -1. */
static int read_like(PyObject *x, npy_intp *sizes, npy_intp *size)
{
    PyArrayObject *like = (PyArrayObject *)x;
    if (type_of(x) != 0 || !is_dense(like) || PyArray_NDIM(like) > DIMENSIONS ||
        PyArray_NDIM(like) == 0 || PyArray_SIZE(like) > MOST)
        return -1;
    for (int k = 0; k < PyArray_NDIM(like); k++) {
        sizes[k] = PyArray_DIM(like, k);
        if (sizes[k] < 2)
            return -1;
    }
    *size = PyArray_SIZE(like);
    return PyArray_NDIM(like);
}

/* The type of a dense array that can be written; -1 for others. */
static int read_out(PyObject *x, Wish *wish)
{
    PyArrayObject *out = (PyArrayObject *)x;
    if (Py_TYPE(x) != &PyArray_Type || !PyArray_ISALIGNED(out) || !PyArray_ISWRITEABLE(out) ||
        !is_dense(out) || PyArray_SIZE(out) < 1 || PyArray_SIZE(out) > MOST)
        return -1;
    PyArray_Descr *descr = PyArray_DESCR(out);
    wish->out = out;
    wish->size = PyArray_SIZE(out);
    return descr == floats[0]         ? 0
           : descr == floats[1]       ? 1
           : descr == integers        ? 2
           : descr == short_integers  ? 3
           : descr == truths          ? 4
                                      : -1;
}

/* Whether an array of chances stands beside each element, each of them from 0 to 1. */
static int read_odds(PyObject *x, Wish *wish)
{
    PyArrayObject *odds = (PyArrayObject *)x;
    int type = type_of(x), fine = 1;
    if (type < 0 || !is_dense(odds) || PyArray_NDIM(odds) != PyArray_NDIM(wish->out))
        return 0;
    for (int k = 0; k < PyArray_NDIM(odds); k++)
        if (PyArray_DIM(odds, k) != PyArray_DIM(wish->out, k))
            return 0;
    const char *from = PyArray_BYTES(odds), *to = PyArray_BYTES(wish->out);
    if (from < to + wish->size * PyArray_ITEMSIZE(wish->out) &&
        to < from + wish->size * PyArray_ITEMSIZE(odds))
        return 0; /* they share memory */
    for (npy_intp k = 0; fine && k < wish->size; k++) {
        double p = type == 0 ? ((const float *)from)[k] : ((const double *)from)[k];
        fine = p >= 0 && p <= 1;
    }
    wish->odds = odds;
    return fine;
}

/* How many words a kind of numbers takes; -1 where the wish is odd. */
static npy_intp count_words(char kind, const Wish *wish, int has_kept)
{
    npy_intp n = wish->size, wide = 1 + wish->type;
    double most = wish->type == 0 ? FLT_MAX : DBL_MAX;
    switch (kind) {
    case 'u':
        if (wish->type > 1 || !(fabs(wish->a) <= most) || !(fabs(wish->b) <= most) ||
            !(wish->a <= wish->b) || !(wish->b - wish->a <= most))
            return -1;
        return n * wide;
    case 'n':
        if (wish->type > 1 || !(wish->b >= 0))
            return -1;
        if (n < 16)
            return (n - has_kept + 1) / 2 * 4;
        return (n % 16 == 0 ? n : n + 16) * wide;
    case 'e':
        return wish->type > 1 ? -1 : 2 * n;
    case 'c':
        return wish->type == 2 || wish->type == 3 ? -1 : 2 * n;
    case 'b':
        if (wish->type == 2 || wish->type == 3)
            return -1;
        return PyArray_ITEMSIZE(wish->odds) / 4 * n;
    case 'i':
        return wish->type == 4 ? -1 : n;
    default: /* an order */
        return n - 1;
    }
}

#define FILL(TYPE, VALUE)                                                                       \
    for (npy_intp k = 0; k < n; k++)                                                            \
        ((TYPE *)to)[k] = (TYPE)(VALUE);

#define FILL_BY_TYPE(VALUE)                                                                     \
    if (wish->type == 0) {                                                                      \
        FILL(float, VALUE)                                                                      \
    } else if (wish->type == 1) {                                                               \
        FILL(double, VALUE)                                                                     \
    } else if (wish->type == 2) {                                                               \
        FILL(npy_int64, VALUE)                                                                  \
    } else if (wish->type == 3) {                                                               \
        FILL(npy_int32, VALUE)                                                                  \
    } else {                                                                                    \
        FILL(npy_bool, VALUE)                                                                   \
    }

FOR_MACHINE static void toss(const Wish *wish, const npy_uint32 *words)
{
    npy_intp n = wish->size;
    char *to = PyArray_BYTES(wish->out);
    npy_int64 bound = wish->many;
    FILL_BY_TYPE(bits53(words + 2 * k) < bound)
}

static void toss_by_odds(const Wish *wish, const npy_uint32 *words)
{
    npy_intp n = wish->size;
    char *to = PyArray_BYTES(wish->out), *odds = PyArray_BYTES(wish->odds);
    if (PyArray_ITEMSIZE(wish->odds) == 4) {
        FILL_BY_TYPE(unit24(words[k]) < ((const float *)odds)[k])
    }
    else {
        FILL_BY_TYPE(unit53(words + 2 * k) < ((const double *)odds)[k])
    }
}

static void count_from(const Wish *wish, const npy_uint32 *words)
{
    npy_intp n = wish->size;
    char *to = PyArray_BYTES(wish->out);
    npy_int64 low = wish->low;
    npy_uint32 many = (npy_uint32)wish->many;
    FILL_BY_TYPE(low + (npy_int64)(words[k] % many))
}

static void shuffle(npy_int64 *order, npy_intp n, const npy_uint32 *words)
{
    for (npy_intp k = 0; k < n; k++)
        order[k] = k;
    for (npy_intp k = 0; k < n - 1; k++) {
        npy_intp other = k + words[k] % (npy_uint32)(n - k);
        npy_int64 held = order[k];
        order[k] = order[other];
        order[other] = held;
    }
}

static void draw_normals(const Wish *wish, const npy_uint32 *words, int *has_kept, double *kept)
{
    npy_intp n = wish->size, rest = n % 16;
    char *to = PyArray_BYTES(wish->out);
    if (n < 16) {
        double values[16];
        pair_up(words, values, n, has_kept, kept);
        for (npy_intp k = 0; k < n; k++) {
            double value = moved(values[k], wish->b, wish->a);
            if (wish->type == 0)
                ((float *)to)[k] = (float)value;
            else
                ((double *)to)[k] = value;
        }
        return;
    }
    /* What is left over is drawn with the last sixteen anew, after words that nobody takes. */
    if (wish->type == 0) {
        normal_floats(words, (float *)to, n / 16, (float)wish->a, (float)wish->b);
        if (rest > 0)
            normal_floats(words + n, (float *)to + n - 16, 1, (float)wish->a, (float)wish->b);
        return;
    }
    normal_doubles(words, (double *)to, n / 16, wish->a, wish->b);
    if (rest > 0)
        normal_doubles(words + 2 * n, (double *)to + n - 16, 1, wish->a, wish->b);
}

static void fill(char kind, const Wish *wish, const npy_uint32 *words, int *has_kept,
                 double *kept)
{
    npy_intp n = wish->size;
    char *to = PyArray_BYTES(wish->out);
    if (kind == 'u' && wish->type == 0)
        uniform_floats(words, (float *)to, n, (float)wish->a, (float)wish->b);
    else if (kind == 'u')
        uniform_doubles(words, (double *)to, n, wish->a, wish->b);
    else if (kind == 'n')
        draw_normals(wish, words, has_kept, kept);
    else if (kind == 'e') {
        FILL_BY_TYPE(log1p(-unit53(words + 2 * k)) * wish->a)
    }
    else if (kind == 'c')
        toss(wish, words);
    else if (kind == 'b')
        toss_by_odds(wish, words);
    else if (kind == 'i')
        count_from(wish, words);
    else
        shuffle((npy_int64 *)to, n, words);
}

/* (block, place, normal that is kept back, array) after a draw, for (kind, block, place, key,
   normal that is kept back or None, array, two numbers); None, with nothing drawn, where anything
   is odd. The kinds stand in `Stream.draw`. */
static PyObject *draw(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t length = 0;
    const char *letters =
        count == 8 && PyUnicode_CheckExact(args[0]) ? PyUnicode_AsUTF8AndSize(args[0], &length)
                                                    : NULL;
    if (letters == NULL && PyErr_Occurred())
        return NULL;
    if (length != 1 || letters[0] == 0 || strchr("uUnNecbiIP", letters[0]) == NULL)
        Py_RETURN_NONE;
    char kind = letters[0];
    Wish wish = {NULL, -1, 1, 0, 0, 0, 0, NULL};
    npy_intp sizes[DIMENSIONS] = {0};
    int rank = -1, fresh = kind < 'a', has_kept = args[4] != Py_None;
    double kept = 0;
    kind = fresh ? kind + 'a' - 'A' : kind;
    if (kind == 'p')
        rank = read_size(args[5], MOST, &sizes[0]) ? 1 : -1, wish.size = sizes[0];
    else if (fresh && (kind == 'i' || PyTuple_CheckExact(args[5])))
        rank = read_shape(args[5], MOST, sizes, &wish.size);
    else if (fresh)
        rank = read_like(args[5], sizes, &wish.size);
    if (fresh)
        wish.type = rank < 0 ? -1 : kind == 'i' || kind == 'p' ? 2 : 0;
    else
        wish.type = read_out(args[5], &wish);
    if (wish.type < 0 || (has_kept && !read_number(args[4], &kept)))
        Py_RETURN_NONE;
    int fine = 1;
    if (kind == 'c')
        fine = read_whole(args[6], &wish.many);
    else if (kind == 'i')
        fine = read_whole(args[6], &wish.low) && read_whole(args[7], &wish.many) &&
               wish.many >= 1 && wish.many < 1 << 28 && wish.low <= NPY_MAX_INT64 - wish.many;
    else if (kind == 'b')
        fine = read_odds(args[6], &wish);
    else if (kind != 'p')
        fine = read_number(args[6], &wish.a) && read_number(args[7], &wish.b);
    npy_intp need = fine ? count_words(kind, &wish, has_kept) : -1;
    if (need < 0)
        Py_RETURN_NONE;
    if (fresh) /* made first, so that nothing is drawn where there is no memory */
        wish.out = new_array(wish.type == 2 ? integers : floats[0], rank, sizes);
    else
        Py_INCREF(wish.out);
    if (wish.out == NULL)
        return NULL;
    Source source;
    int found = find_words(args[1], args[2], args[3], need, &source);
    if (found <= 0) {
        Py_DECREF(wish.out);
        if (found < 0)
            return NULL;
        Py_RETURN_NONE;
    }
    fill(kind, &wish, source.words, &has_kept, &kept);
    PyMem_Free(source.gathered);
    PyObject *place = PyLong_FromSsize_t(source.at);
    PyObject *normal = has_kept ? PyFloat_FromDouble(kept) : Py_NewRef(Py_None);
    PyObject *result = place == NULL || normal == NULL ? NULL : PyTuple_New(4);
    if (result == NULL) {
        Py_XDECREF(place);
        Py_XDECREF(normal);
        Py_DECREF(source.block);
        Py_DECREF(wish.out);
        return NULL;
    }
    PyTuple_SET_ITEM(result, 0, (PyObject *)source.block);
    PyTuple_SET_ITEM(result, 1, place);
    PyTuple_SET_ITEM(result, 2, normal);
    PyTuple_SET_ITEM(result, 3, (PyObject *)wish.out);
    return result;
}

/* The words of so many blocks from a key on, for (key, blocks); None for odd ones. */
static PyObject *words(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    npy_intp blocks;
    npy_uint32 *key = count == 2 ? read_key(args[0]) : NULL;
    if (key == NULL || !read_size(args[1], MOST / BLOCK, &blocks))
        Py_RETURN_NONE;
    npy_intp size = blocks * BLOCK;
    PyArrayObject *out = new_array(word, 1, &size);
    if (out == NULL)
        return NULL;
    for (npy_intp k = 0; k < blocks; k++)
        twist(key, (npy_uint32 *)PyArray_BYTES(out) + k * BLOCK);
    return (PyObject *)out;
}

#define QUICKLY(NAME) (PyCFunction)(void (*)(void))NAME, METH_FASTCALL

static PyMethodDef methods[] = {
    {"draw", QUICKLY(draw), "Fills an array by a stream's words; None for odd ones."},
    {"words", QUICKLY(words), "The words of the next blocks; None for odd keys."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "draws", "Arrays filled with random numbers.", -1, methods
};

PyMODINIT_FUNC PyInit_draws(void)
{
    import_array();
    integers = PyArray_DescrFromType(NPY_INT64);
    short_integers = PyArray_DescrFromType(NPY_INT32);
    truths = PyArray_DescrFromType(NPY_BOOL);
    word = PyArray_DescrFromType(NPY_UINT32);
    if (integers == NULL || short_integers == NULL || truths == NULL || word == NULL ||
        start_loops() < 0)
        return NULL;
    return PyModule_Create(&definition);
}
