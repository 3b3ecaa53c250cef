-- Work for tests/bench/unwind/programs: calls of its own functions, sorting, patterns.
local function fibonacci(n)
	return n < 2 and 1 or fibonacci(n - 1) + fibonacci(n - 2)
end

while true do
	fibonacci(20)
	local list = {}
	for i = 1, 2000 do list[i] = i * 7919 % 1013 end
	table.sort(list, function(a, b) return a < b end)
	table.concat(list, ","):gsub("(%d+)", function(x) return x + 1 end)
end
