// SPDX-License-Identifier: BSD-3-Clause
// Functions inside functions, and what the compiler inlines into them: lambdas in lambdas,
// local classes, templates.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace store
{
namespace
{
int mix(int seed)
{
	return [seed](int rounds) {
		int sum = 0;
		for (int i = 0; i < rounds; i++)
			sum += seed ^ i;
		return sum;
	}(seed * 3);
}
} // namespace

template <typename T> struct Box {
	T value;
	template <typename F> auto map(F function) const
	{
		return Box<decltype(function(value))>{function(value)};
	}
};

NOINLINE double total(const std::vector<double> &prices, double limit)
{
	struct Sum {
		double sum = 0;
		NOINLINE void add(double price, double most)
		{
			auto clamp = [most](double x) { return std::min(x, most); };
			sum += clamp(price * 2);
		}
		double mean(size_t count) const
		{
			auto divide = [this](double by) { return by ? sum / by : 0; };
			return divide(static_cast<double>(count));
		}
	} local;
	auto outer = [&](double price) NOINLINE {
		auto inner = [&](double part) NOINLINE {
			auto scale = [&](double x) { return x * part + limit; };
			local.add(price, Box<double>{part}.map(scale).value);
		};
		inner(0.5);
		inner(price);
	};
	for (double price : prices)
		outer(price);
	return local.mean(prices.size());
}

template <int N> NOINLINE int fold(int x)
{
	struct Step {
		static NOINLINE int go(int y)
		{
			return [](int z) { return mix(z) + N; }(y * N);
		}
	};
	if constexpr (N > 0)
		return Step::go(x) + fold<N - 1>(x + 1);
	else
		return x;
}

std::function<int(int)> make(int key)
{
	return [key](int x) {
		auto add = [key](int y) { return mix(y + key); };
		{
			int result = x;
			{
				auto twice = [&] { return result += add(result); };
				twice();
				return twice();
			}
		}
	};
}
} // namespace store

int main(int argc, char **)
{
	std::vector<double> prices(100, argc);
	std::map<std::string, std::vector<int>> groups;
	int sum = 0;

	std::sort(prices.begin(), prices.end(), [](auto a, auto b) {
		auto key = [](auto x) { return x * x - x; };
		return key(a) < key(b);
	});
	for (int i = 0; i < 100; i++)
		groups[std::to_string(i * argc).substr(0, 1)].push_back(i);
	for (const auto &[name, group] : groups)
		sum += std::accumulate(group.begin(), group.end(), 0,
				       [](int a, int b) { return a * 31 + b; });
	return static_cast<int>(store::total(prices, 9)) + store::fold<5>(argc) +
	       store::make(argc)(sum);
}
