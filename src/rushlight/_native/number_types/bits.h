/* The bits of bfloat16: what they say, and conversions from and to NumPy's numbers. */
#include <math.h>
#include <string.h>
#include <numpy/arrayobject.h>

typedef npy_uint16 half; /* the bits of an element */

/* Baseline code packs no 16-bit numbers without a sign. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_MACHINE __attribute__((target_clones("avx2", "default"), noinline))
#else
#define FOR_MACHINE
#endif

static inline npy_uint32 bits_of_float(float value)
{
    npy_uint32 bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static inline float float_of_bits(npy_uint32 bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline float wide(half bits) { return float_of_bits((npy_uint32)bits << 16); }

/* The nearest, the even one of two; nan stays nan, with its sign and quiet. */
static inline half narrow(float value)
{
    npy_uint32 all = bits_of_float(value);
    npy_uint32 rounded = (all + 0x7fff + (all >> 16 & 1)) >> 16;
    npy_uint32 nan = (all >> 16 & 0x8000) | 0x7fc0;
    return (half)((all & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

static inline int is_nan(half bits) { return (bits & 0x7fff) > 0x7f80; }

/* What float16 holds, a type that C lacks. Its exponents begin 112 later than those of float32. */
static inline float value_of_float16(npy_half bits)
{
    npy_uint32 sign = (npy_uint32)(bits & 0x8000) << 16, size = (npy_uint32)(bits & 0x7fff) << 13;
    float small = (float)(bits & 0x7fff) * 0x1p-24f;
    float value = float_of_bits(size + ((size >= 31u << 23 ? 224u : 112u) << 23));
    return float_of_bits(sign | bits_of_float(size < 1u << 23 ? small : value));
}

/* Eight digits fit in the eleven of float16, but for what is too large or too small. */
static inline npy_half float16_of(float value)
{
    npy_uint32 all = bits_of_float(value), size = all & 0x7fffffff;
    /* Digits of a number from 1/2 to 1 end at the least of float16. */
    npy_uint32 small = bits_of_float(float_of_bits(size) + 0.5f) - bits_of_float(0.5f);
    npy_uint32 found = size > 255u << 23   ? 0x7e00
                       : size >= 143u << 23 ? 0x7c00
                       : size < 113u << 23  ? small
                                           : (size >> 13) - (112u << 10);
    return (npy_half)((all >> 16 & 0x8000) | found);
}

static half next_after(half from, half to)
{
    if (is_nan(from) || is_nan(to))
        return 0x7fc0;
    float a = wide(from), b = wide(to);
    if (a == b)
        return to;
    if (a == 0)
        return (to & 0x8000) | 1;
    return (half)(from + ((a < b) == (a > 0) ? 1 : -1));
}

/* The distance to the next number away from zero, with the sign of the number. */
static half space_after(half bits)
{
    half size = bits & 0x7fff;
    if (size >= 0x7f80)
        return 0x7fc0;
    return narrow(wide(size + 1) - wide(size)) | (bits & 0x8000);
}

/* ---- conversions: as in C, by way of float32 ---------------------------------------------- */

#define REAL_TYPES(DO)                                                                          \
    DO(BYTE, npy_byte) DO(UBYTE, npy_ubyte) DO(SHORT, npy_short) DO(USHORT, npy_ushort)         \
    DO(INT, npy_int) DO(UINT, npy_uint) DO(LONG, npy_long) DO(ULONG, npy_ulong)                 \
    DO(LONGLONG, npy_longlong) DO(ULONGLONG, npy_ulonglong) DO(FLOAT, float)                    \
    DO(DOUBLE, double) DO(LONGDOUBLE, npy_longdouble)
#define COMPLEX_TYPES(DO)                                                                       \
    DO(CFLOAT, float) DO(CDOUBLE, double) DO(CLONGDOUBLE, npy_longdouble)

/* An element of `TYPE` has `PARTS` numbers, of which the first is real. */
#define CONVERSION(NAME, TYPE, PARTS, NARROWED, WIDENED)                                        \
    FOR_MACHINE static void from_##NAME(void *from, void *to, npy_intp count, void *a, void *b)             \
    {                                                                                           \
        const TYPE *source = from;                                                              \
        half *target = to;                                                                      \
        for (npy_intp i = 0; i < count; i++) {                                                  \
            TYPE x = source[i * PARTS];                                                         \
            target[i] = narrow(NARROWED);                                                       \
        }                                                                                       \
    }                                                                                           \
    FOR_MACHINE static void to_##NAME(void *from, void *to, npy_intp count, void *a, void *b)               \
    {                                                                                           \
        const half *source = from;                                                              \
        TYPE *target = to;                                                                      \
        for (npy_intp i = 0; i < count; i++) {                                                  \
            float x = wide(source[i]);                                                          \
            target[i * PARTS] = WIDENED;                                                        \
            if (PARTS == 2)                                                                     \
                target[i * PARTS + PARTS - 1] = 0;                                              \
        }                                                                                       \
    }
#define OF_REAL(NAME, TYPE) CONVERSION(NAME, TYPE, 1, (float)x, (TYPE)x)
#define OF_COMPLEX(NAME, TYPE) CONVERSION(NAME, TYPE, 2, (float)x, (TYPE)x)

REAL_TYPES(OF_REAL)
COMPLEX_TYPES(OF_COMPLEX)
CONVERSION(BOOL, npy_bool, 1, x ? 1.0f : 0.0f, x != 0)
CONVERSION(HALF, npy_half, 1, value_of_float16(x), float16_of(x))

typedef struct {
    int type;
    PyArray_VectorUnaryFunc *from, *to;
    int comes, goes; /* without loss: its values to here, and those from here to there */
} Conversion;

#define NOT_SAFE(NAME, TYPE) {NPY_##NAME, from_##NAME, to_##NAME, 0, 0},
#define COMES(NAME) {NPY_##NAME, from_##NAME, to_##NAME, 1, 0},
#define GOES(NAME) {NPY_##NAME, from_##NAME, to_##NAME, 0, 1},
static const Conversion conversions[] = {
    COMES(BOOL) COMES(BYTE) COMES(UBYTE) NOT_SAFE(SHORT, ) NOT_SAFE(USHORT, )
    NOT_SAFE(INT, ) NOT_SAFE(UINT, ) NOT_SAFE(LONG, ) NOT_SAFE(ULONG, )
    NOT_SAFE(LONGLONG, ) NOT_SAFE(ULONGLONG, ) NOT_SAFE(HALF, )
    GOES(FLOAT) GOES(DOUBLE) GOES(LONGDOUBLE) GOES(CFLOAT) GOES(CDOUBLE) GOES(CLONGDOUBLE)
};
