# --title names pictures and pages, whatever is in it; other formats have no place for it.
. "$CLI/lib.sh"
printf 'domain 0 1 2 1 1 web\nsample 1000 0 1 0 0x1001\nend 1 5000\n' | "$MAKE_RECORDING" >web.up
echo "1000 T main" >web.sym
for title in "A <script> & a 'b' \"c\"" "$(printf '%0200d\377' 1)"; do
	for format in flamegraph timeline; do
		report -i web.up -s web.sym --format $format --title "$title" |
			grep -oE '<(title|text class="kind"[^>]*)>[^<(]*</'
	done
	report -i web.up -s web.sym --format html --title "$title" |
		node "$CLI/page-part.mjs" about |
		grep -aoE "\"name\": .*, \"weight\"" 
done
report -i web.up -s web.sym --format flamegraph --invert | grep -o '<title>Inv.*</title>'
report -i web.up --title web
