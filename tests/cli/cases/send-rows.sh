# Each complete file of a recorder is sent once, in order: not the newest, nor one that may still get
# names. What fails is sent again, and what can't be read is left out.
. "$CLI/lib.sh"
make_recording web
send="$CLI/../../scripts/systemd/send-rows"
export UNIPROF
cat >store <<'END'
#!/bin/sh
[ ! -e full ] || { echo "full"; exit 1; }
echo "$(wc -l) rows"
END
chmod +x store

# send: sends what is due, and says what was sent
send()
{
	"$send" g ./store
	echo "exit code $?, up to $(cat g.sent 2>/dev/null)"
}
for number in 1 2 3 9 10; do
	cp web.up g.$number
done
head -c -10 web.up >g.2
echo "no recording" >g.9
touch -d '1 hour ago' g.[12] g.9 g.10
touch g.3.old g.x
touch full
send 2>&1 | grep -v note
rm full
echo "- the third is new:"
send 2>&1 | grep -v note
touch -d '1 hour ago' g.3
echo "- and then:"
send 2>&1 | grep -v note
send 2>&1 | grep -v note
