# The examples in docs/databases.md, in a ClickHouse server: sums are those of reports.
# Not with sanitizers: it is ClickHouse that is tested
. "$CLI/clickhouse.sh"
sql()
{
	answers=$((answers + 1))
	clickhouse-client --multiquery >answer.$answers || echo "exit code $?"
}

answers=0
make_fleet
use_uniprof
start_server server "$(free_port)"
use_server "$port"
run_section Rows
run_section ClickHouse
check_fleet
