# The examples in docs/fleet.md, in two ClickHouse servers: with these tables, those in docs/databases.md
# give the same answers.
# Not with sanitizers: it is ClickHouse that is tested
. "$CLI/clickhouse.sh"

# The servers' settings
xml()
{
	grep -v 'yandex>' >settings
	start_server one "$port1" "$(cat settings)"
	start_server two "$port2" "$(cat settings)"
}

# Both servers get the tables; then rows are inserted by the first, and the second is asked.
sql()
{
	answers=$((answers + 1))
	cat >statement
	if [ $answers -le 2 ]; then
		client "$port1" --multiquery <statement && client "$port2" --multiquery <statement
	elif [ $answers != 3 ]; then # docs/databases.md makes a table
		client "$port2" --multiquery <statement >answer.$((answers - 2))
	fi || echo "exit code $?"
}

answers=0
make_fleet
use_uniprof
port1=$(free_port)
port2=$(free_port)
use_server "$port1" "--insert_distributed_sync 1"
run_section "ClickHouse in several shards" "s,clickhouse1</host><port>9000,127.0.0.1</host><port>$port1,
	s,clickhouse2</host><port>9000,127.0.0.1</host><port>$port2," fleet.md
run_section "Sums by hour" "" fleet.md
run_section Rows
run_section ClickHouse
check_fleet
for port in "$port1" "$port2"; do
	client "$port" --query "SELECT DISTINCT host FROM profile_shard"
done

run_section "The hottest functions" "s/now() - INTERVAL 1 DAY/toDateTime('2026-11-22 00:00:00')/" fleet.md
report -s web.elf --format histogram-csv xen1.data xen2.data | sum_functions | sort -k 2nr -k 1 |
	awk -v OFS='\t' '{ print $1, $2 }' | head -n 20 >hottest
cut -f 1,2 answer.5 | diff hottest - && echo $(wc -l <answer.5) hottest functions agree
