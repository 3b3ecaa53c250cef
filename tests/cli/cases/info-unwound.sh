# How call chains were unwound: info shows it for each domain, and the notes on chains that
# were cut short advise what helps.
. "$CLI/lib.sh"
# recording UNWOUND CPU
recording()
{
	echo "info start 1000"
	echo "domain 0 3 2 $2 1 web"
	[ -z "$1" ] || echo "unwound $1"
	echo "sample 2000 0 1 0 0x1004"
	echo "sample 3000 0 1 2 0x1004"
	echo "end 1 4000"
}
show()
{
	echo "# unwound '$1' on CPU $2"
	recording "$1" "$2" | "$MAKE_RECORDING" >web.up
	info web.up | sed -n '/^Domain/,/^Samples/p' | grep -vE '^  (name|id|type|vCPUs)  '
	report -i web.up --format folded 2>&1 | grep -o 'likely.*'
}
show "" 1
show "1 0" 1
show "2 12345 web.elf 00112233445566778899aabbccddeeff00112233" 1
show "3 12345 kernel,app 0011 2233" 3
show "1 0" 2
show "9 5 web.elf" 1
# The files' names are not trusted.
show "$(printf '2 1 a\033[1mb')" 1
