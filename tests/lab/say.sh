# Shared by all parts of a case. Each check prints one line, "ok WHAT" or "FAILED WHAT",
# which tests/lab/run counts.

ok()
{
	echo "ok $*"
}

failed()
{
	echo "FAILED $*"
}

# check WHAT COMMAND...: whether the command succeeds
check()
{
	what=$1
	shift
	if "$@"; then ok "$what"; else failed "$what"; fi
}

# symbols_of CONFIGURATION: the ELF beside the image that a guest's configuration names
symbols_of()
{
	sed -n "s|^kernel = \"\(.*\)\.img\"|${1%/*}/\1.elf|p" "$1"
}

# shell_blocks MACHINE: the commands of docs/tutorial.md, in standard input, for dom0 or desk
shell_blocks()
{
	awk -v begin="\`\`\`sh $1" '/^```$/ { block = 0 } block; $0 == begin { block = 1 }'
}
