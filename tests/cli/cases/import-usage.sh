# Wrong usage: one line, exit code 2.
. "$CLI/lib.sh"
import --help
import --from bad
import --from
import --nonsense
import a b
ls
