# --parent, --symbol-filter, --max-depth and --invert give the same as filtering the folded
# stacks of all samples.
. "$CLI/lib.sh"
make_plain

# folded OPTION...: the folded stacks
folded()
{
	"$UNIPROF" report -s big.sym --format folded "$@" big.up 2>/dev/null
}

# expect NAME OPTION...: compares the stacks on standard input with those of the options
expect()
{
	name=$1
	shift
	awk '{
		count = $NF
		sub(/ [0-9]+$/, "")
		sum[$0] += count
	}
	END { for (chain in sum) print chain " " sum[chain] }' | sort >wanted
	folded "$@" | sort >given
	[ -s given ] && cmp wanted given && echo "$name: $(wc -l <given) stacks"
}

folded >all
awk '{
	chain = $0
	sub(/ [0-9]+$/, "", chain)
	frames = split(chain, frame, ";")
	for (i = 2; i < frames; i++)
		if (frame[i] ~ /^function_1[0-9]*$/) { print; next }
}' all | expect parent --parent '^function_1[0-9]*$'
awk '{
	chain = $0
	sub(/ [0-9]+$/, "", chain)
	frames = split(chain, frame, ";")
	for (i = 2; i <= frames; i++)
		if (frame[i] ~ /tion_(3|2.)$/) { print; next }
}' all | expect symbol-filter --symbol-filter 'tion_(3|2.)$'
awk '{
	chain = $0
	sub(/ [0-9]+$/, "", chain)
	frames = split(chain, frame, ";")
	caller = leaf = 0
	for (i = 2; i <= frames; i++) {
		caller += i < frames && frame[i] == "function_7"
		leaf += frame[i] ~ /^0x/
	}
	if (caller && leaf)
		print
}' all | expect "both, addresses" --parent '^function_7$' \
	--symbol-filter '^\[unresolved\]$'

awk '{
	count = $NF
	sub(/ [0-9]+$/, "")
	frames = split($0, frame, ";")
	line = frame[1]
	for (i = frames > 4 ? frames - 2 : 2; i <= frames; i++)
		line = line ";" frame[i]
	print line " " count
}' all | expect max-depth --max-depth 3
# Filters are applied to the chains before they are cut.
folded --parent '^function_7$' >parent
awk '{
	count = $NF
	sub(/ [0-9]+$/, "")
	frames = split($0, frame, ";")
	print frame[1] ";" frame[frames] " " count
}' parent | expect "parent and max-depth" --parent '^function_7$' --max-depth 1

awk '{
	count = $NF
	sub(/ [0-9]+$/, "")
	frames = split($0, frame, ";")
	line = frame[1]
	for (i = frames; i > 1; i--)
		line = line ";" frame[i]
	print line " " count
}' all | expect invert --invert
folded --invert | sed 's/ [0-9]*$//' | sort -c && echo "sorted"
