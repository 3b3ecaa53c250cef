/* SPDX-License-Identifier: BSD-3-Clause */

/* What g++ makes names, source lines and inlined functions of; lines count. */
namespace shop
{
struct Cart {
	int sum;
	Cart(int s);
	int add(int n);
	int add(double d);
};

static inline __attribute__((always_inline)) int square(int n)
{
	return n * n;
}

inline __attribute__((always_inline)) int twice(int n)
{
	return 2 * square(n);
}

__attribute__((noinline)) Cart::Cart(int s) : sum(s)
{
}

__attribute__((noinline)) int Cart::add(int n)
{
	volatile int v = n;

	sum += twice(v);
	return sum;
}

__attribute__((noinline)) int Cart::add(double d)
{
	sum += (int)d;
	return sum;
}

static __attribute__((noinline, noclone)) int pay(int n)
{
	volatile int v = n;

	return v + 1;
}

}

int main(int argc, char **)
{
	shop::Cart cart(argc);

	return cart.add(argc) + cart.add(1.5 * argc) + shop::pay(argc);
}
