# The examples in docs/databases.md, in DuckDB: sums are those of reports.
# Not with sanitizers: it is DuckDB that is tested.
. "$CLI/fleet.sh"
need_modules @duckdb/node-api
sql()
{
	answers=$((answers + 1))
	node "$CLI/duckdb.js" "$npm_modules" fleet.db >answer.$answers || echo "exit code $?"
}

answers=0
make_fleet
use_uniprof
run_section Rows
run_section DuckDB
check_fleet

# A recording without a start has rows without a time.
printf 'a;b 2\na;c 3\n' | import -o imported.up 2>/dev/null
report --format rows -o imported.json imported.up
sql <<'END'
COPY profile FROM 'imported.json' (FORMAT json);
SELECT time, domain, stack[-1], samples FROM profile WHERE time IS NULL ORDER BY samples;
END
cat answer.$answers
