# Every option that --help shows is in the man page and is completed by every shell, and so is
# every command.
# Not with sanitizers: it is texts that are compared.
. "$CLI/lib.sh"
completions bash >bash
completions zsh >zsh
completions fish >fish
sed 's/\\-/-/g' "$CLI/../../docs/man/uniprof.1" >page

# lacks WHAT FILE PATTERN: says so if no line of the file matches
lacks()
{
	grep -qE -e "$3" "$2" || echo "$1 is not in $2"
}

"$UNIPROF" --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p' >commands
while read -r command; do
	lacks $command page "^\.BR? (uniprof-)?$command( |$)"
	lacks $command bash "1:\*\) words=\"(.* )?$command "
	lacks $command zsh "^	$command\)$"
	lacks $command fish "__uniprof_has_no_command -f -a $command "
done <commands
[ "$(wc -l <commands)" -ge 8 ] || echo "there are no commands"

for command in $("$UNIPROF" --list-commands | grep -vE '^(help|version|completions)	' | cut -f 1); do
	sed 's/\\-/-/g' "$CLI/../../docs/man/uniprof-$command.1" >page
	sed -n "/^	$command)\$/,/;;/p" zsh >zsh-options
	"$UNIPROF" $command --help | grep -oE '^  (-.,|   ) --[a-z-]+' | tr -d , >options
	while read -r short long; do
		[ "$long" ] || { long=$short short=; }
		for option in $short $long; do
			lacks "$command $option" page "^\..*[ \"B]$option([\" \\\\]|\$)"
			lacks "$command $option" bash "\*:$command:-\*\) words=\"(.* )?$option "
			lacks "$command $option" zsh-options "[',{*]${option}[]=+,}[]"
		done
		lacks "$command $long" fish "_is $command\" -l ${long#--}( |\$)"
		[ ! "$short" ] || lacks "$command $short" fish "_is $command\" -l ${long#--} -s ${short#-}( |\$)"
	done <options
	[ "$(wc -l <options)" -ge 2 ] || echo "$command has no options"
done
