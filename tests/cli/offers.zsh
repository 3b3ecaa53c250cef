# What zsh offers when Tab is pressed after each line: offers.zsh FOLDER LINE...
# FOLDER holds the file _uniprof. Runs in an interactive zsh on a pseudoterminal.
zmodload zsh/zpty
zpty -b shell zsh -f -i
folder=$1
shift

# run COMMAND: runs it there, and waits until it has ended
run()
{
	zpty -w shell "$1; print -r EN\"DED\""
	zpty -r -m shell output '*ENDED*'
}

run "PROMPT= fpath=($folder \$fpath); autoload -Uz compinit && compinit -D -u; stty -echo kill undef"
# compadd adds the words that are offered. With -O, -A or -D, it only compares words.
run 'compadd() {
	local -a found
	(( ${@[(I)-[OAD]*]} )) || { builtin compadd -O found "$@"; print -l -- $found >>../offered; }
	builtin compadd "$@"
}'
for line; do
	: >../offered
	zpty -w -n shell "$line"$'\t\x15' # Ctrl-U removes the line
	run :
	print -r -- "$line: ${(j: :)${(ouf)"$(<../offered)"}}"
done
zpty -d shell
