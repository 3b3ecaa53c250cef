# SPDX-License-Identifier: BSD-3-Clause
# Functions shared by the cases that run the examples of docs/databases.md.
. "$CLI/lib.sh"

# make_fleet: makes xen1.data, with two domains and from one hour to the next, and xen2.data;
# and web.elf, which names all of their functions
make_fleet()
{
	{
		echo "info wall-start $(date -d 2026-11-22T12:59:58.5Z +%s%N)"
		echo "info start 7000000000"
		echo "info host xen1"
		echo "domain 0 3 2 1 4 web"
		echo "domain 1 4 2 1 4 db"
		echo "many 12000 300 12 40"
		echo "in 1"
		echo "many 3000 200 8 40"
		echo "end 1 10500000000"
	} | "$MAKE_RECORDING" >xen1.data
	{
		echo "info wall-start $(date -d 2026-11-22T13:10:00Z +%s%N)"
		echo "info start 9000000000"
		echo "info host xen2"
		echo "domain 0 7 2 1 4 web"
		echo "many 5000 100 20 40"
		echo "end 1 11000000000"
	} | "$MAKE_RECORDING" >xen2.data
	awk 'BEGIN { for (i = 0; i < 40; i++)
		printf "%016x 0000000000000100 T function_%d\n", 1048576 + i * 256, i }' \
		>web.elf
}

# sum_functions: prints FUNCTION SELF TOTAL of all histograms in standard input (histogram-csv, with
# or without domains), separated by tabs, sorted
sum_functions()
{
	awk -F , -v OFS='\t' '
		$0 ~ /,self,/ { at = $1 == "domain" ? 2 : 1; next }
		{ self[$at] += $(at + 1); total[$at] += $(at + 3) }
		END { for (name in total) print name, self[name], total[name] }' | sort
}

# run_section HEADING [SED-EXPRESSION [FILE]]: runs the examples in a section of docs/databases.md, or of
# another file in docs: SQL by the function sql, all others as they are, or as sed has changed them
run_section()
{
	awk -v heading="## $1" '
		/^## / { inside = $0 == heading }
		!inside { next }
		/^```$/ { if (type ~ /^(sql|xml)$/) print "END"; type = "" }
		type { print }
		/^```./ { type = substr($0, 4); if (type ~ /^(sql|xml)$/) print type " <<\"END\"" }' \
		"$CLI/../../docs/${3-databases.md}" | sed "${2-}" >section.sh
	[ -s section.sh ] || echo "docs/${3-databases.md} has no examples of $1"
	. ./section.sh
}

# use_uniprof: makes bin, which comes first in PATH and has uniprof
use_uniprof()
{
	mkdir bin
	ln -s "$UNIPROF" bin/uniprof
	PATH=$PWD/bin:$PATH
}

# check_fleet: compares a database's answers to the questions in docs/databases.md, which are
# in answer.2 to answer.4, with reports
check_fleet()
{
	for at in "xen1 12" "xen1 13" "xen2 13"; do
		host=${at% *} hour=${at#* }
		report -s web.elf --format histogram-csv $host.data --time \
			"2026-11-22T$hour:00Z,2026-11-22T$((hour + 1)):00Z" | sum_functions |
			awk -F '\t' -v OFS='\t' -v at="2026-11-22 $hour:00:00$(printf '\t')$host" \
				'$2 { print at, $1, $2 }' | sort -t "$(printf '\t')" -k 4nr -k 3 |
			head -n 10
	done >hottest
	diff hottest answer.2 && echo $(wc -l <answer.2) hottest functions agree
	for host in xen1 xen2; do
		report -s web.elf --format histogram-csv --domain web $host.data
	done | sum_functions >totals
	diff totals answer.3 && echo $(wc -l <answer.3) functions agree, \
		$(awk '{ n += $2 } END { print n }' answer.3) samples
	report -s web.elf --format folded --domain web xen1.data \
		--time 2026-11-22T12:00Z,2026-11-22T13:00Z >folded
	sort answer.4 | diff folded - && echo $(wc -l <answer.4) chains agree
}

# start_ingest COUNT: starts a server that decodes COUNT profiles and checks them; its address is in
# $url, what it says in the file log
start_ingest()
{
	PYTHONDONTWRITEBYTECODE=1 python3 "$CLI/ingest.py" "$1" port >log 2>&1 &
	server=$!
	trap 'kill $server 2>/dev/null' EXIT
	for _ in $(seq 100); do
		[ ! -e port ] || break
		sleep 0.1
	done
	# shellcheck disable=SC2034 # cases use it
	url=http://127.0.0.1:$(cat port)
}

# end_ingest: waits until the server has had all profiles, and prints what it says
end_ingest()
{
	wait $server
	cat log
}
