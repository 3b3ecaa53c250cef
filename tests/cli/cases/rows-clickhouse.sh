# The examples in docs/databases.md, in a ClickHouse server: sums are those of reports.
# Not with sanitizers: it is ClickHouse that is tested
. "$CLI/fleet.sh"
server=$CLI/../../build/clickhouse/clickhouse-server
for program in "$server" clickhouse-client python3; do
	command -v "$program" >/dev/null ||
		skip "${program##*/} is missing; see scripts/install-packages"
done
sql()
{
	answers=$((answers + 1))
	clickhouse-client --multiquery >answer.$answers || echo "exit code $?"
}

# start_server: in this folder, on a free port; the client in bin uses it
start_server()
{
	port=$(python3 -c 'import socket
with socket.create_server(("127.0.0.1", 0)) as server:
	print(server.getsockname()[1])')
	cat >config.xml <<-END
		<yandex>
			<logger><level>warning</level><console>1</console></logger>
			<listen_host>127.0.0.1</listen_host>
			<tcp_port>$port</tcp_port>
			<path>$PWD/server/</path>
			<tmp_path>$PWD/server/tmp/</tmp_path>
			<mark_cache_size>67108864</mark_cache_size>
			<timezone>UTC</timezone>
			<users_config>users.xml</users_config>
			<default_profile>default</default_profile>
		</yandex>
	END
	cat >users.xml <<-END
		<yandex>
			<profiles><default /></profiles>
			<quotas><default /></quotas>
			<users>
				<default>
					<password />
					<profile>default</profile>
					<quota>default</quota>
					<networks><ip>127.0.0.1</ip></networks>
				</default>
			</users>
		</yandex>
	END
	client=$(command -v clickhouse-client)
	printf '#!/bin/sh\nexec %s --host 127.0.0.1 --port %s "$@"\n' "$client" $port \
		>bin/clickhouse-client
	chmod +x bin/clickhouse-client
	timeout 100 "$server" --config-file=config.xml >server.log 2>&1 &
	trap 'kill $!; wait $!' EXIT
	for _ in $(seq 200); do
		! clickhouse-client --query 'SELECT 1' >/dev/null 2>&1 || return
		sleep 0.1
	done
	tail server.log
	exit 1
}

answers=0
make_fleet
use_uniprof
start_server
run_section Rows
run_section ClickHouse
check_fleet
