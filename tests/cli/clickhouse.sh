# SPDX-License-Identifier: BSD-3-Clause
# Functions shared by the cases that run examples in servers of ClickHouse.
. "$CLI/fleet.sh"
clickhouse=$CLI/../../build/clickhouse/clickhouse-server
for program in "$clickhouse" clickhouse-client python3; do
	command -v "$program" >/dev/null ||
		skip "${program##*/} is missing; see scripts/install-packages"
done
client=$(command -v clickhouse-client)
servers=
trap 'kill $servers; wait' EXIT

free_port()
{
	python3 -c 'import socket
with socket.create_server(("127.0.0.1", 0)) as server:
	print(server.getsockname()[1])'
}

# client PORT OPTION...: runs a client of the server at this port
client()
{
	at=$1
	shift
	"$client" --host 127.0.0.1 --port "$at" "$@"
}

# start_server FOLDER PORT [SETTINGS]: starts a server in a new folder, with these settings, too; sets
# port to PORT
start_server()
{
	folder=$PWD/$1
	port=$2
	mkdir "$folder"
	cat >"$folder/config.xml" <<-END
		<yandex>
			<logger><level>warning</level><console>1</console></logger>
			<listen_host>127.0.0.1</listen_host>
			<tcp_port>$port</tcp_port>
			<path>$folder/</path>
			<tmp_path>$folder/tmp/</tmp_path>
			<mark_cache_size>67108864</mark_cache_size>
			<timezone>UTC</timezone>
			<users_config>users.xml</users_config>
			<default_profile>default</default_profile>
			${3-}
		</yandex>
	END
	cat >"$folder/users.xml" <<-END
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
	(cd "$folder" && exec timeout "${limit-100}" "$clickhouse" --config-file=config.xml) >"$1.log" 2>&1 &
	servers="$servers $!"
	for _ in $(seq 200); do
		! client "$port" --query 'SELECT 1' >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	tail "$1.log"
	exit 1
}

# use_server PORT [OPTION]: clickhouse-client in bin, which comes first in PATH, uses this server
use_server()
{
	printf '#!/bin/sh\nexec %s --host 127.0.0.1 --port %s %s "$@"\n' "$client" "$1" "${2-}" \
		>bin/clickhouse-client
	chmod +x bin/clickhouse-client
}
