/* Reductions, scans and recurrences along one dimension of dense arrays of float32, float64 and
   int64: NumPy goes lane by lane, each step of which waits for the last one. Here eight lanes that
   lie one after the other are scanned at once, or up to 256 that lie side by side; each lane's own
   order stays. float32 is accumulated in float64 where `scan.py` has it so. */
#include "arrays.h"
#include "folds.h"

/* Calls a body for groups of lanes: the place of the first element, how many lanes, how far apart,
   how far its next element is, and the number of the first lane. */
#define EACH(BODY)                                                                              \
    do {                                                                                        \
        npy_intp n = lanes->n, inner = lanes->inner;                                            \
        if (inner == 1) {                                                                       \
            npy_intp r = 0;                                                                     \
            for (; r + AT_ONCE <= lanes->outer; r += AT_ONCE)                                   \
                BODY(r * n, AT_ONCE, n, 1, r)                                                   \
            for (; r < lanes->outer; r++)                                                       \
                BODY(r * n, 1, n, 1, r)                                                         \
        }                                                                                       \
        else                                                                                    \
            for (npy_intp group = 0; group < lanes->outer; group++)                             \
                for (npy_intp at = 0; at < inner; at += SIDE_BY_SIDE) {                         \
                    npy_intp width = inner - at < SIDE_BY_SIDE ? inner - at : SIDE_BY_SIDE;     \
                    BODY(group * n * inner + at, width, 1, inner, group * inner + at)           \
                }                                                                               \
    } while (0)

/* ---- scans: each element and those before it ------------------------------------------------ */

#define SCAN_BODY(TYPE, WIDE, STEP, AT, COUNT, APART, NEXT)                                     \
    {                                                                                           \
        const TYPE *p = (const TYPE *)x + (AT);                                                 \
        TYPE *o = (TYPE *)to + (AT);                                                            \
        WIDE held[SIDE_BY_SIDE];                                                                \
        for (npy_intp l = 0; l < (COUNT); l++)                                                  \
            o[l * (APART)] = p[l * (APART)], held[l] = p[l * (APART)];                          \
        for (npy_intp k = 1; k < n; k++) {                                                      \
            p += (NEXT), o += (NEXT);                                                           \
            for (npy_intp l = 0; l < (COUNT); l++) {                                            \
                held[l] = STEP(held[l], (WIDE)p[l * (APART)]);                                  \
                o[l * (APART)] = (TYPE)held[l];                                                 \
            }                                                                                   \
        }                                                                                       \
    }

#define SCAN(NAME)                                                                              \
    FOR_MACHINE static void NAME(const Lanes *lanes, const void *x, const void *y, void *to,    \
                                 void *places)                                                  \
    {                                                                                           \
        EACH(BODY_##NAME);                                                                      \
    }

#define BODY_sums_of_floats(A, C, P, N, L) SCAN_BODY(float, double, PLUS, A, C, P, N)
#define BODY_sums_of_doubles(A, C, P, N, L) SCAN_BODY(double, double, PLUS, A, C, P, N)
#define BODY_sums_of_integers(A, C, P, N, L)                                                    \
    if ((N) == 1 && n >= 8)                                                                     \
        for (npy_intp l = 0; l < (C); l++)                                                      \
            add_up((const whole *)x + (A) + l * (P), (whole *)to + (A) + l * (P), n);           \
    else                                                                                        \
        SCAN_BODY(whole, whole, PLUS, A, C, P, N)
#define BODY_products_of_floats(A, C, P, N, L) SCAN_BODY(float, double, TIMES, A, C, P, N)
#define BODY_products_of_doubles(A, C, P, N, L) SCAN_BODY(double, double, TIMES, A, C, P, N)
#define BODY_products_of_integers(A, C, P, N, L) SCAN_BODY(whole, whole, TIMES, A, C, P, N)

/* Integers add up alike in any order: four wait for the last four. */
static void add_up(const whole *p, whole *o, npy_intp n)
{
    whole total = 0;
    npy_intp k = 0;
    for (; k + 4 <= n; k += 4) {
        whole a = p[k], b = a + p[k + 1], c = b + p[k + 2], d = c + p[k + 3];
        o[k] = total + a;
        o[k + 1] = total + b;
        o[k + 2] = total + c;
        o[k + 3] = total += d;
    }
    for (; k < n; k++)
        o[k] = total += p[k];
}

SCAN(sums_of_floats)
SCAN(sums_of_doubles)
SCAN(sums_of_integers)
SCAN(products_of_floats)
SCAN(products_of_doubles)
SCAN(products_of_integers)

/* S[k] = x[k] + y[k] S[k - 1], or S[k + 1] from the last one on. */
#define STEP_BODY(TYPE, BACK, AT, COUNT, APART, NEXT)                                           \
    {                                                                                           \
        npy_intp first = (AT) + ((BACK) ? (n - 1) * (NEXT) : 0), on = (BACK) ? -(NEXT) : (NEXT);\
        const TYPE *p = (const TYPE *)x + first, *q = (const TYPE *)y + first;                  \
        TYPE *o = (TYPE *)to + first;                                                           \
        double held[SIDE_BY_SIDE];                                                              \
        for (npy_intp l = 0; l < (COUNT); l++)                                                  \
            o[l * (APART)] = p[l * (APART)], held[l] = p[l * (APART)];                          \
        for (npy_intp k = 1; k < n; k++) {                                                      \
            p += on, q += on, o += on;                                                          \
            for (npy_intp l = 0; l < (COUNT); l++) {                                            \
                held[l] = p[l * (APART)] + q[l * (APART)] * held[l];                            \
                o[l * (APART)] = (TYPE)held[l];                                                 \
            }                                                                                   \
        }                                                                                       \
    }

#define BODY_steps_of_floats(A, C, P, N, L) STEP_BODY(float, 0, A, C, P, N)
#define BODY_steps_of_doubles(A, C, P, N, L) STEP_BODY(double, 0, A, C, P, N)
#define BODY_back_of_floats(A, C, P, N, L) STEP_BODY(float, 1, A, C, P, N)
#define BODY_back_of_doubles(A, C, P, N, L) STEP_BODY(double, 1, A, C, P, N)

SCAN(steps_of_floats)
SCAN(steps_of_doubles)
SCAN(back_of_floats)
SCAN(back_of_doubles)

/* ---- extremes with their places: NaN stands before all ------------------------------------- */

/* The first of equal ones: one of each lane, where these lie side by side. Choices without a jump,
   which nothing could foretell. */
#define ACROSS(TYPE, WHERE, SIGN, P, COUNT, BEST, PLACE)                                        \
    do {                                                                                        \
        const TYPE *from = P;                                                                   \
        TYPE *best = BEST;                                                                      \
        WHERE *place = PLACE;                                                                   \
        for (npy_intp i = 0; i < (COUNT); i++)                                                  \
            best[i] = from[i], place[i] = 0;                                                    \
        for (WHERE k = 1; k < (WHERE)n; k++) {                                                  \
            from += (COUNT);                                                                    \
            for (npy_intp i = 0; i < (COUNT); i++) {                                            \
                TYPE v = from[i], b = best[i];                                                  \
                int keeps = (v SIGN b) | (b != b);                                              \
                best[i] = keeps ? b : v, place[i] = keeps ? place[i] : k;                       \
            }                                                                                   \
        }                                                                                       \
    } while (0)

/* Of short lanes that lie one after the other, so many are turned to lie side by side. */
#define TURNED 32
#define SHORT 64

#define TOP(NAME, TYPE, WHERE, SIGN)                                                            \
    FOR_MACHINE static void NAME(const Lanes *lanes, const void *x, const void *y, void *to,    \
                                 void *found)                                                   \
    {                                                                                           \
        npy_intp n = lanes->n, inner = lanes->inner, o = 0;                                     \
        TYPE side[SHORT * TURNED], tops[TURNED];                                                \
        WHERE where[TURNED];                                                                    \
        for (; inner == 1 && n <= SHORT && o + TURNED <= lanes->outer; o += TURNED) {           \
            const TYPE *p = (const TYPE *)x + o * n;                                            \
            for (npy_intp k = 0; k < n; k++)                                                    \
                for (npy_intp l = 0; l < TURNED; l++)                                           \
                    side[k * TURNED + l] = p[l * n + k];                                        \
            ACROSS(TYPE, WHERE, SIGN, side, TURNED, tops, where);                               \
            for (npy_intp l = 0; l < TURNED; l++)                                               \
                ((TYPE *)to)[o + l] = tops[l], ((npy_int64 *)found)[o + l] = where[l];          \
        }                                                                                       \
        for (; inner == 1 && o < lanes->outer; o++) {                                           \
            const TYPE *p = (const TYPE *)x + o * n;                                            \
            TYPE best = *p;                                                                     \
            npy_int64 place = 0;                                                                \
            for (npy_intp k = 1; k < n; k++)                                                    \
                if (!(p[k] SIGN best || best != best))                                          \
                    best = p[k], place = k;                                                     \
            ((TYPE *)to)[o] = best, ((npy_int64 *)found)[o] = place;                            \
        }                                                                                       \
        for (; o < lanes->outer; o++)                                                           \
            ACROSS(TYPE, npy_int64, SIGN, (const TYPE *)x + o * n * inner, inner,               \
                   (TYPE *)to + o * inner, (npy_int64 *)found + o * inner);                     \
    }

TOP(top_floats, float, npy_int32, <=)
TOP(top_doubles, double, npy_int64, <=)
TOP(top_integers, integer, npy_int64, <=)
TOP(low_floats, float, npy_int32, >=)
TOP(low_doubles, double, npy_int64, >=)
TOP(low_integers, integer, npy_int64, >=)

/* The last of equal ones, up to each element. */
#define RUN(NAME, TYPE, SIGN)                                                                   \
    FOR_MACHINE static void NAME(const Lanes *lanes, const void *x, const void *y, void *to,    \
                                 void *found)                                                   \
    {                                                                                           \
        npy_intp n = lanes->n, inner = lanes->inner;                                            \
        const TYPE *p = x;                                                                      \
        TYPE *o = to;                                                                           \
        npy_int64 *place = found;                                                               \
        for (npy_intp lane = 0; inner == 1 && lane < lanes->outer; lane++) {                    \
            TYPE best = *p;                                                                     \
            npy_int64 at = 0;                                                                   \
            npy_intp k = 0;                                                                     \
            while (k < n) {                                                                     \
                int some = k + AT_ONCE > n, size = some ? (int)(n - k) : AT_ONCE;               \
                if (!some) {                                                                    \
                    int seen[AT_ONCE];                                                          \
                    for (int l = 0; l < AT_ONCE; l++)                                           \
                        seen[l] = (p[k + l] SIGN best) | (p[k + l] != p[k + l]);                \
                    for (int l = 0; l < AT_ONCE; l++)                                           \
                        some |= seen[l];                                                        \
                }                                                                               \
                if (!some)                                                                      \
                    for (int l = 0; l < AT_ONCE; l++)                                           \
                        o[k + l] = best, place[k + l] = at;                                     \
                for (int l = 0; some && l < size; l++) {                                        \
                    if (p[k + l] SIGN best || p[k + l] != p[k + l])                             \
                        best = p[k + l], at = k + l;                                            \
                    o[k + l] = best, place[k + l] = at;                                         \
                }                                                                               \
                k += size;                                                                      \
            }                                                                                   \
            p += n, o += n, place += n;                                                         \
        }                                                                                       \
        for (npy_intp group = 0; inner != 1 && group < lanes->outer; group++)                   \
            for (npy_intp k = 0; k < n; k++, p += inner, o += inner, place += inner)            \
                for (npy_intp i = 0; i < inner; i++) {                                          \
                    int takes = k == 0 || p[i] SIGN o[i - inner] || p[i] != p[i];               \
                    o[i] = takes ? p[i] : o[i - inner];                                         \
                    place[i] = takes ? k : place[i - inner];                                    \
                }                                                                               \
    }

RUN(rising_floats, float, >=)
RUN(rising_doubles, double, >=)
RUN(rising_integers, integer, >=)
RUN(falling_floats, float, <=)
RUN(falling_doubles, double, <=)
RUN(falling_integers, integer, <=)

/* ---- ranks: the places are those of a stable sort, NaN last ---------------------------------- */

/* The place of a rank among few elements, by counting what is smaller. */
#define FEW 32
#define RANK(TYPE, COUNT, NAME)                                                                 \
    FOR_MACHINE static npy_intp few_##NAME(const TYPE *x, npy_intp n, npy_intp rank)            \
    {                                                                                           \
        for (npy_intp k = 0; k < n; k++) {                                                      \
            COUNT less = 0, same = 0;                                                           \
            for (npy_intp i = 0; i < n; i++)                                                    \
                less += x[i] < x[k];                                                            \
            if (less > rank)                                                                    \
                continue;                                                                       \
            for (npy_intp i = 0; less < rank && i < k; i++)                                     \
                same += x[i] == x[k];                                                           \
            if (less + same == rank)                                                            \
                return k;                                                                       \
        }                                                                                       \
        return 0;                                                                               \
    }                                                                                           \
                                                                                                \
    /* The elements that are smaller than a pivot, or not larger, come first: how many. */      \
    static npy_intp part_##NAME(TYPE *x, npy_intp n, TYPE pivot, int same)                      \
    {                                                                                           \
        npy_intp first = 0;                                                                     \
        for (npy_intp k = 0; k < n; k++) {                                                      \
            const TYPE v = x[k];                                                                \
            x[k] = x[first];                                                                    \
            x[first] = v;                                                                       \
            first += same ? v <= pivot : v < pivot;                                             \
        }                                                                                       \
        return first;                                                                           \
    }                                                                                           \
                                                                                                \
    /* The element of a rank, of those that are written over. */                                \
    static TYPE element_##NAME(TYPE *x, npy_intp n, npy_intp rank)                              \
    {                                                                                           \
        npy_uint32 state = 2463534242u;                                                         \
        for (;;) {                                                                              \
            TYPE some[9];                                                                       \
            for (int k = 0; k < 9; k++) {                                                       \
                state ^= state << 13, state ^= state >> 17, state ^= state << 5;                \
                TYPE v = x[(npy_intp)(state % (npy_uint64)n)];                                  \
                int l = k;                                                                      \
                for (; l > 0 && v < some[l - 1]; l--)                                           \
                    some[l] = some[l - 1];                                                      \
                some[l] = v;                                                                    \
            }                                                                                   \
            const TYPE pivot = some[rank * 9 / n];                                              \
            npy_intp less = part_##NAME(x, n, pivot, 0);                                        \
            if (rank < less) {                                                                  \
                n = less;                                                                       \
                continue;                                                                       \
            }                                                                                   \
            x += less, n -= less, rank -= less;                                                 \
            npy_intp more = part_##NAME(x, n, pivot, 1);                                        \
            if (rank < more)                                                                    \
                return pivot;                                                                   \
            x += more, n -= more, rank -= more;                                                 \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    FOR_MACHINE static npy_intp find_##NAME(const TYPE *x, npy_intp n, npy_intp rank, TYPE v)   \
    {                                                                                           \
        npy_intp less = 0;                                                                      \
        for (npy_intp k = 0; k < n; k++)                                                        \
            less += x[k] < v;                                                                   \
        for (npy_intp k = 0, left = rank - less; k < n; k++)                                    \
            if (x[k] == v && left-- == 0)                                                       \
                return k;                                                                       \
        return 0;                                                                               \
    }                                                                                           \
                                                                                                \
    /* `way`: 'l' for NaN last, 'f' for the first NaN in its place, 'i' for the middle one of   \
       the others. `room` is for two lanes. */                                                  \
    static void ranks_##NAME(const Lanes *lanes, const void *from, npy_intp rank, char way,     \
                             void *to, npy_int64 *places, void *room)                           \
    {                                                                                           \
        const npy_intp n = lanes->n, inner = lanes->inner;                                      \
        TYPE *line = room, *other = line + n;                                                   \
        for (npy_intp lane = 0; lane < lanes->outer * inner; lane++) {                          \
            const TYPE *x = (const TYPE *)from + lane / inner * n * inner + lane % inner;       \
            npy_intp place = -1, numbers = 0, wanted = rank, skipped = 0;                       \
            for (npy_intp k = 0; k < n; k++) {                                                  \
                const TYPE v = x[k * inner];                                                    \
                line[k] = v;                                                                    \
                other[numbers] = v;                                                             \
                numbers += v == v;                                                              \
            }                                                                                   \
            if (way == 'i')                                                                     \
                wanted = numbers > 0 ? (numbers - 1) / 2 : 0;                                   \
            if (way == 'f' && numbers < n)                                                      \
                wanted = numbers;                                                               \
            if (wanted >= numbers) {                                                            \
                for (place = 0; line[place] == line[place] || skipped++ < wanted - numbers;)    \
                    place++;                                                                    \
            }                                                                                   \
            else if (numbers == n && n <= FEW)                                                  \
                place = few_##NAME(line, n, wanted);                                            \
            else                                                                                \
                place = find_##NAME(line, n, wanted, element_##NAME(other, numbers, wanted));   \
            ((TYPE *)to)[lane] = line[place];                                                   \
            places[lane] = place;                                                               \
        }                                                                                       \
    }

RANK(float, npy_int32, floats)
RANK(double, npy_int64, doubles)
RANK(integer, npy_int64, integers)

/* The smallest of the most frequent elements of lanes that `x` has in order, and the last of their
   places in `y`, as it was. */
#define MOST(NAME, TYPE)                                                                        \
    static void NAME(const Lanes *lanes, const void *x, const void *y, void *to, void *places)  \
    {                                                                                           \
        const npy_intp n = lanes->n, inner = lanes->inner;                                      \
        for (npy_intp lane = 0; lane < lanes->outer * inner; lane++) {                          \
            npy_intp first = lane / inner * n * inner + lane % inner, longest = 0, run = 0;     \
            const TYPE *p = (const TYPE *)x + first, *q = (const TYPE *)y + first;              \
            TYPE best = *p;                                                                     \
            for (npy_intp k = 0; k < n; k++) {                                                  \
                run = k > 0 && p[k * inner] == p[(k - 1) * inner] ? run + 1 : 1;                \
                if (run > longest)                                                              \
                    longest = run, best = p[k * inner];                                         \
            }                                                                                   \
            npy_intp place = n - 1;                                                             \
            while (place > 0 && q[place * inner] != best)                                       \
                place--;                                                                        \
            ((TYPE *)to)[lane] = q[place * inner], ((npy_int64 *)places)[lane] = place;         \
        }                                                                                       \
    }

MOST(most_floats, float)
MOST(most_doubles, double)
MOST(most_integers, integer)

/* ---- the first of an order: of equal ones those that come first, NaN is the largest ----------- */

#define MOST_FIRST 64 /* that are kept, in order, while others go by */
#define LOOK_AT 16    /* that are looked at side by side */

#define IS_MORE(a, b) (((a) > (b)) | (((a) != (a)) & ((b) == (b))))
#define IS_LESS(a, b) (((a) < (b)) | (((a) == (a)) & ((b) != (b))))

#define FIRST(NAME, TYPE, BEFORE)                                                               \
    static void NAME(const Lanes *l, const void *from, npy_intp many, void *to, npy_int64 *places) \
    {                                                                                           \
        TYPE best[MOST_FIRST];                                                                  \
        npy_intp at[MOST_FIRST];                                                                \
        for (npy_intp o = 0; o < l->outer; o++)                                                 \
            for (npy_intp i = 0; i < l->inner; i++) {                                           \
                const TYPE *x = (const TYPE *)from + o * l->n * l->inner + i;                   \
                npy_intp have = 0, out = o * many * l->inner + i, seen = 0;                     \
                for (npy_intp j = 0; j < l->n; j++) {                                           \
                    while (have == many && l->inner == 1 && j >= seen && j + LOOK_AT <= l->n) { \
                        TYPE last = best[many - 1];                                             \
                        int some = 0;                                                           \
                        for (int q = 0; q < LOOK_AT; q++)                                       \
                            some |= BEFORE(x[j + q], last);                                     \
                        seen = j + LOOK_AT;                                                     \
                        if (some)                                                               \
                            break;                                                              \
                        j = seen;                                                               \
                    }                                                                           \
                    if (j >= l->n)                                                              \
                        break;                                                                  \
                    TYPE new = x[j * l->inner];                                                 \
                    if (have == many && !BEFORE(new, best[many - 1]))                           \
                        continue;                                                               \
                    npy_intp r = have < many ? have++ : many - 1;                               \
                    for (; r > 0 && BEFORE(new, best[r - 1]); r--) {                            \
                        best[r] = best[r - 1];                                                  \
                        at[r] = at[r - 1];                                                      \
                    }                                                                           \
                    best[r] = new;                                                              \
                    at[r] = j;                                                                  \
                }                                                                               \
                for (npy_intp r = 0; r < many; r++) {                                           \
                    ((TYPE *)to)[out + r * l->inner] = best[r];                                 \
                    places[out + r * l->inner] = at[r];                                         \
                }                                                                               \
            }                                                                                   \
    }

FIRST(largest_of_floats, float, IS_MORE)
FIRST(smallest_of_floats, float, IS_LESS)
FIRST(largest_of_doubles, double, IS_MORE)
FIRST(smallest_of_doubles, double, IS_LESS)
FIRST(largest_of_integers, npy_int64, IS_MORE)
FIRST(smallest_of_integers, npy_int64, IS_LESS)

static void (*const firsts[2][3])(const Lanes *, const void *, npy_intp, void *, npy_int64 *) = {
    {smallest_of_floats, smallest_of_doubles, smallest_of_integers},
    {largest_of_floats, largest_of_doubles, largest_of_integers},
};

/* ---- sums of few, one after the other, as NumPy adds where others lie behind -------------------- */

#define TOTAL(NAME, TYPE)                                                                       \
    FOR_MACHINE static void NAME(const Lanes *lanes, const void *x, const void *y, void *to,    \
                                 void *places)                                                  \
    {                                                                                           \
        const npy_intp n = lanes->n, inner = lanes->inner;                                      \
        const TYPE *p = x;                                                                      \
        TYPE *restrict out = to;                                                                \
        npy_intp o = 0;                                                                         \
        for (; inner >= 8 && o < lanes->outer; o++, p += n * inner, out += inner) {             \
            for (npy_intp l = 0; l < inner; l++)                                                \
                out[l] = p[l];                                                                  \
            for (npy_intp k = 1; k < n; k++)                                                    \
                for (npy_intp l = 0; l < inner; l++)                                            \
                    out[l] += p[k * inner + l];                                                 \
        }                                                                                       \
        for (; o < lanes->outer; o++, p += n * inner, out += inner)                             \
            for (npy_intp l = 0; l < inner; l++) {                                              \
                TYPE total = p[l];                                                              \
                for (npy_intp k = 1; k < n; k++)                                                \
                    total += p[k * inner + l];                                                  \
                out[l] = total;                                                                 \
            }                                                                                   \
    }

TOTAL(totals_of_floats, float)
TOTAL(totals_of_doubles, double)

/* ---- calls ---------------------------------------------------------------------------------- */

enum { LINE, SAME, TWO, TWO_SAME, PAIR, PAIR_TWO }; /* what comes of a call, and of what */

static const struct {
    const char *name;
    int gives;
    Work work[3]; /* for float32, float64 and int64 */
} kinds[] = {
    {"add", LINE, {NULL, NULL, add_integers}},
    {"total", LINE, {totals_of_floats, totals_of_doubles, NULL}},
    {"multiply", LINE, {multiply_floats, multiply_doubles, multiply_integers}},
    {"maximum", LINE, {largest_floats, largest_doubles, largest_integers}},
    {"minimum", LINE, {smallest_floats, smallest_doubles, smallest_integers}},
    {"sums", SAME, {sums_of_floats, sums_of_doubles, sums_of_integers}},
    {"products", SAME, {products_of_floats, products_of_doubles, products_of_integers}},
    {"top", TWO, {top_floats, top_doubles, top_integers}},
    {"low", TWO, {low_floats, low_doubles, low_integers}},
    {"rising", TWO_SAME, {rising_floats, rising_doubles, rising_integers}},
    {"falling", TWO_SAME, {falling_floats, falling_doubles, falling_integers}},
    {"steps", PAIR, {steps_of_floats, steps_of_doubles, NULL}},
    {"back", PAIR, {back_of_floats, back_of_doubles, NULL}},
    {"most", PAIR_TWO, {most_floats, most_doubles, most_integers}},
};

static PyArray_Descr *integers;

/* 0, 1 or 2 for a dense array of float32, float64 or int64, else -1. */
static int kind_of(PyObject *x)
{
    if (Py_TYPE(x) != &PyArray_Type)
        return -1;
    PyArrayObject *array = (PyArrayObject *)x;
    if (!PyArray_ISALIGNED(array) || !is_dense(array))
        return -1;
    PyArray_Descr *descr = PyArray_DESCR(array);
    return descr == floats[0] ? 0 : descr == floats[1] ? 1 : descr == integers ? 2 : -1;
}

/* along(kind, array, dimension, other=None): None for what is left to others. */
static PyObject *along(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    const char *name = count < 3 || count > 4 ? NULL : PyUnicode_AsUTF8(args[0]);
    if (name == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "along() takes a kind, an array and a dimension");
        return NULL;
    }
    size_t which = 0, known = sizeof kinds / sizeof *kinds;
    while (which < known && strcmp(kinds[which].name, name) != 0)
        which++;
    int type = kind_of(args[1]);
    if (which == known || type < 0 || kinds[which].work[type] == NULL || !PyLong_Check(args[2]))
        Py_RETURN_NONE;
    int gives = kinds[which].gives, overflow;
    PyArrayObject *x = (PyArrayObject *)args[1], *y = NULL;
    npy_intp size = PyArray_SIZE(x), sizes[NPY_MAXDIMS];
    int rank = PyArray_NDIM(x), rest = 0;
    long axis = PyLong_AsLongAndOverflow(args[2], &overflow);
    if (overflow || size < 1 || axis < -rank || axis >= rank)
        Py_RETURN_NONE;
    axis += axis < 0 ? rank : 0;
    if (gives == PAIR || gives == PAIR_TWO) {
        if (count != 4 || kind_of(args[3]) != type)
            Py_RETURN_NONE;
        y = (PyArrayObject *)args[3];
        if (PyArray_NDIM(y) != rank ||
            !PyArray_CompareLists(PyArray_DIMS(y), PyArray_DIMS(x), rank))
            Py_RETURN_NONE;
    }
    Lanes lanes = {1, PyArray_DIM(x, axis), 1};
    for (int k = 0; k < rank; k++) {
        if (k < axis)
            lanes.outer *= PyArray_DIM(x, k);
        else if (k > axis)
            lanes.inner *= PyArray_DIM(x, k);
        if (k != axis || gives == SAME || gives == TWO_SAME || gives == PAIR)
            sizes[rest++] = PyArray_DIM(x, k);
    }
    PyArrayObject *out = new_array(PyArray_DESCR(x), rest, sizes), *second = NULL;
    if (out != NULL && (gives == TWO || gives == TWO_SAME || gives == PAIR_TWO)) {
        second = new_array(integers, rest, sizes);
        if (second == NULL)
            Py_CLEAR(out);
    }
    if (out == NULL)
        return NULL;
    PyThreadState *others = size >= LONG ? PyEval_SaveThread() : NULL;
    kinds[which].work[type](&lanes, PyArray_DATA(x), y == NULL ? NULL : PyArray_DATA(y),
                            PyArray_DATA(out), second == NULL ? NULL : PyArray_DATA(second));
    if (others != NULL)
        PyEval_RestoreThread(others);
    if (second == NULL)
        return (PyObject *)out;
    PyObject *found = PyTuple_Pack(2, (PyObject *)out, (PyObject *)second);
    Py_DECREF(out);
    Py_DECREF(second);
    return found;
}

/* rank_along(array, dimension, rank, way): the elements of a rank and where they are, as `ranks_` has them;
   None for what is left to others. */
static PyObject *rank_along(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    const char *way = count == 4 && PyUnicode_Check(args[3]) ? PyUnicode_AsUTF8(args[3]) : NULL;
    if (way == NULL || !PyLong_Check(args[1]) || !PyLong_Check(args[2]))
        return PyErr_Occurred() ? NULL
                                : (PyErr_SetString(PyExc_TypeError, "rank_along() takes numbers and a way"),
                                   NULL);
    int type = kind_of(args[0]), overflow, rest = 0;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int rank = type < 0 ? 0 : PyArray_NDIM(x), dim = read_dim(args[1], rank);
    if (type < 0 || dim < 0 || PyArray_SIZE(x) < 1)
        Py_RETURN_NONE;
    npy_intp sizes[NPY_MAXDIMS], wanted = PyLong_AsLongAndOverflow(args[2], &overflow);
    Lanes lanes = {1, PyArray_DIM(x, dim), 1};
    if (overflow || wanted < 0 || wanted >= lanes.n)
        Py_RETURN_NONE;
    for (int k = 0; k < rank; k++)
        if (k != dim) {
            *(k < dim ? &lanes.outer : &lanes.inner) *= PyArray_DIM(x, k);
            sizes[rest++] = PyArray_DIM(x, k);
        }
    PyArrayObject *out = new_array(PyArray_DESCR(x), rest, sizes);
    PyArrayObject *places = out == NULL ? NULL : new_array(integers, rest, sizes);
    void *room = places == NULL ? NULL : PyMem_RawMalloc((size_t)lanes.n * 16);
    PyObject *found = NULL;
    if (room != NULL) {
        PyThreadState *others = PyArray_SIZE(x) >= LONG ? PyEval_SaveThread() : NULL;
        (type == 0   ? ranks_floats
         : type == 1 ? ranks_doubles
                     : ranks_integers)(&lanes, PyArray_DATA(x), wanted, *way, PyArray_DATA(out),
                                       PyArray_DATA(places), room);
        if (others != NULL)
            PyEval_RestoreThread(others);
        PyMem_RawFree(room);
        found = PyTuple_Pack(2, (PyObject *)out, (PyObject *)places);
    }
    else if (places != NULL)
        PyErr_NoMemory();
    Py_XDECREF(out);
    Py_XDECREF(places);
    return found;
}

/* first_along(array, dimension, count, largest): the first in order, and where they are; None for what
   is left to others. */
static PyObject *first_along(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int type = count == 4 && PyLong_Check(args[2]) && PyBool_Check(args[3]) ? kind_of(args[0]) : -1;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int rank = type < 0 ? 0 : PyArray_NDIM(x), dim = rank < 1 ? -1 : read_dim(args[1], rank), overflow;
    npy_intp many = dim < 0 ? 0 : PyLong_AsLongAndOverflow(args[2], &overflow), sizes[NPY_MAXDIMS];
    if (many < 1 || overflow || many > MOST_FIRST || many > PyArray_DIM(x, dim) || PyArray_SIZE(x) < 1)
        Py_RETURN_NONE;
    Lanes lanes = {1, PyArray_DIM(x, dim), 1};
    for (int k = 0; k < rank; k++) {
        sizes[k] = k == dim ? many : PyArray_DIM(x, k);
        if (k != dim)
            *(k < dim ? &lanes.outer : &lanes.inner) *= PyArray_DIM(x, k);
    }
    PyArrayObject *out = new_array(PyArray_DESCR(x), rank, sizes);
    PyArrayObject *places = out == NULL ? NULL : new_array(integers, rank, sizes);
    PyObject *found = NULL;
    if (places != NULL) {
        PyThreadState *others = PyArray_SIZE(x) >= LONG ? PyEval_SaveThread() : NULL;
        firsts[args[3] == Py_True][type](&lanes, PyArray_DATA(x), many, PyArray_DATA(out),
                                         PyArray_DATA(places));
        if (others != NULL)
            PyEval_RestoreThread(others);
        found = PyTuple_Pack(2, (PyObject *)out, (PyObject *)places);
    }
    Py_XDECREF(out);
    Py_XDECREF(places);
    return found;
}

static PyMethodDef methods[] = {
    {"first_along", (PyCFunction)(void (*)(void))first_along, METH_FASTCALL,
     "The first elements in order along a dimension; None for what is left to others."},
    {"rank_along", (PyCFunction)(void (*)(void))rank_along, METH_FASTCALL,
     "The elements of a rank along a dimension; None for what is left to others."},
    {"along", (PyCFunction)(void (*)(void))along, METH_FASTCALL,
     "What `kinds` has along a dimension of a dense array; None for what is left to others."},
    {NULL}
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "lanes", "Reductions and scans along one dimension.", -1, methods
};

PyMODINIT_FUNC PyInit_lanes(void)
{
    import_array();
    floats[0] = PyArray_DescrFromType(NPY_FLOAT32);
    floats[1] = PyArray_DescrFromType(NPY_FLOAT64);
    integers = PyArray_DescrFromType(NPY_INT64);
    return PyModule_Create(&definition);
}
