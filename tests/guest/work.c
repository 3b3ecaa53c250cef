/*
 * The call chains: alpha, alpha_1 to alpha_4, alpha_nest as often as requested,
 * alpha_leaf; beta, gamma and delta have chains of such functions, too. All the time is
 * spent in the leaves, whose loops are identical, so that a leaf's share of the time is
 * its share of iterations.
 */
#include "guest.h"

/* Bytes of locals in each frame between main and the leaf, except the nested ones. */
#define LOCALS 64

#ifdef NO_FRAME_POINTER
/* The size is variable only with a frame pointer. */
#define NEST_LOCALS LOCALS
#else
#define NEST_LOCALS work_nest_locals
#endif

unsigned long work_nest_locals = LOCALS;
bool work_yields;
unsigned long chain_low, chain_high;

/* The loop of the leaf: one long dependency chain, so its address does not change its
 * speed.
 */
static inline __attribute__((always_inline)) uint64_t spin(uint64_t n)
{
	uint64_t x = n;

	while (n--) {
		x = x * 6364136223846793005 + 1442695040888963407;
		asm volatile("" : "+r"(x));
		if (work_yields && n % 64 == 0)
			cpu_relax();
	}
	return x;
}

/* A frame pointer of 0 ends the chain. */
static inline __attribute__((always_inline)) uint64_t walk_chain(void)
{
#ifdef NO_WALK
	return 0;
#else
	const unsigned long *frame = __builtin_frame_address(0);
	uint64_t addresses = 1;

	chain_low = (unsigned long)frame;
	for (; frame; frame = frame_caller(frame)) {
		chain_high = (unsigned long)frame;
		addresses++;
	}
	return addresses;
#endif
}

/* Makes the compiler allocate all locals. */
static inline __attribute__((always_inline)) void use(volatile uint8_t *locals)
{
	asm volatile("" : : "r"(locals));
	locals[0] = 0;
}

#define STEP(name, callee)                                         \
	static APART uint64_t name(unsigned long nest, uint64_t n) \
	{                                                          \
		volatile uint8_t locals[LOCALS];                   \
		uint64_t result;                                   \
                                                                   \
		use(locals);                                       \
		result = callee(nest, n);                          \
		return result + locals[0];                         \
	}

#ifdef SHARED_LEAF
/* All chains end in one leaf, as if in memcpy of a program. Compilers may omit its frame,
 * and only its caller shows which chain it is part of. */
static APART __attribute__((aligned(256))) uint64_t burn(uint64_t n)
{
	return spin(n);
}
#define LEAF(name) burn
#else
#define LEAF(name) name##_leaf
#endif

/* Leaves are shorter than their alignment: one that crosses a page boundary would be
 * three times slower in an emulator than the others. */
#define CHAIN(name)                                                       \
	static APART __attribute__((aligned(256), unused))                \
	uint64_t name##_leaf(uint64_t n)                                  \
	{                                                                 \
		frame_leaf();                                             \
		return n ? spin(n) : walk_chain();                        \
	}                                                                 \
                                                                          \
	static APART uint64_t name##_nest(unsigned long nest, uint64_t n) \
	{                                                                 \
		volatile uint8_t locals[NEST_LOCALS];                     \
		uint64_t result;                                          \
                                                                          \
		use(locals);                                              \
		if (nest > 1)                                             \
			result = name##_nest(nest - 1, n);                \
		else                                                      \
			result = LEAF(name)(n);                           \
		return result + locals[0];                                \
	}                                                                 \
                                                                          \
	STEP(name##_4, name##_nest)                                       \
	STEP(name##_3, name##_4)                                          \
	STEP(name##_2, name##_3)                                          \
	STEP(name##_1, name##_2)                                          \
                                                                          \
	APART uint64_t name(unsigned long nest, uint64_t n)               \
	{                                                                 \
		volatile uint8_t locals[LOCALS];                          \
		uint64_t result;                                          \
                                                                          \
		use(locals);                                              \
		result = name##_1(nest, n);                               \
		return result + locals[0];                                \
	}

CHAIN(alpha)
CHAIN(beta)
CHAIN(gamma)
CHAIN(delta)
