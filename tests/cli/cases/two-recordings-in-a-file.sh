# Two recordings joined by `cat` are not taken for one: samples of the second don't count
# for domains of the first. Split as the message advises, both are intact.
. "$CLI/lib.sh"
make_recording web two
cat web.up two.up >both.up
info -i both.up 2>&1
report -i both.up 2>&1
at=$("$UNIPROF" info -i both.up 2>&1 | sed 's/.*head -c \([0-9]*\) .*/\1/')
head -c "$at" both.up | cmp - web.up
tail -c +$((at + 1)) both.up | cmp - two.up
# A recording has its own description twice; that is not a second recording.
info -i web.up >/dev/null
