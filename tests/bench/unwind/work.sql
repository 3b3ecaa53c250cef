-- Work for tests/bench/unwind/programs, without end.
WITH RECURSIVE numbers(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM numbers)
SELECT count(*), max(x % 7 || 'a'), sum(length(printf('%d %s', x, x))) FROM numbers;
