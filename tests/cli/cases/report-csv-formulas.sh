# No name in CSV is a formula for a spreadsheet, and a program can restore all of them.
. "$CLI/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
printf '%s 1\n' "=cmd|' /C calc'!A0" '+1' '-[NSString length]' '@SUM(1,2)' "'quoted'" "''=1" \
	'"=1"' '＝1' '＋1' '－1' '＠1' 'a=1' '_start' 'name, "quoted"' >text
import -o a.up text
report -i a.up --format histogram-csv | tee csv
PYTHONUTF8=1 python3 - <<'END'
import csv
names = [row[0][row[0].startswith("'"):] for row in list(csv.reader(open("csv")))[1:]]
assert sorted(names) == sorted(line[:-3] for line in open("text")), names
END
echo "# domains, and differences"
"$MAKE_RECORDING" >b.up <<END
domain 0 1 2 1 1 =1+1
domain 1 2 2 1 1 web
sample 2000 0 1 0 0x1000
in 1
sample 3000 0 1 0 0x1000
end 1 4000
END
report -i b.up --format histogram-csv 2>/dev/null
"$UNIPROF" diff --format histogram-csv a.up a.up | grep SUM
