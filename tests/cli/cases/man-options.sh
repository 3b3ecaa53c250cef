# The man page of each command documents exactly the options in its table.
# Not with sanitizers: it is texts that are compared.
for command in record top report diff info archive import list stack table flamegraph; do
	page=$CLI/../../docs/man/uniprof-$command.1
	"$UNIPROF" --list-options | awk -F '\t' -v command=$command '
		$1 == command { print $2; if ($3) print $3 }' | sort >table
	# The lines after .TP, up to the next section.
	sed 's/\\-/-/g' "$page" | awk '
		/^\.SH/ { inside = $2 == "OPTIONS" }
		inside && tag { print }
		{ tag = /^\.TP/ }' | grep -oE -e '(^|[ ",]|\\fB)--?[a-zA-Z][a-z-]*' |
		sed 's/^[^-]*//' | sort >page
	sed 's/\\-/-/g' "$page" | awk '/^\.SH/ { inside = $2 == "SYNOPSIS" } inside' |
		grep -oE -e '[ |]--?[a-zA-Z][a-z-]*' | sed 's/^[^-]*//' | sort -u >synopsis
	diff table page && comm -13 table synopsis && echo "$command: $(wc -l <page) spellings"
done
