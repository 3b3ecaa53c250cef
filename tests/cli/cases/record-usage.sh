# Command lines of record that are refused before anything is opened.
for words in "" "-a web" "--keep 3 web" "--rotate 5 web" "--rotate 1h -o - web" "--srcline web" \
	"--call-graph fp -s web.elf web" "--vcpu 0 -F 0 web" "--gdb tcp:x:1 web" \
	"-p 1 web" "-g -q" "-g" "--waits=0 web" "--waits=ten web" "--waits --gdb tcp:x:1" \
	"--waits-max-cpu 0 web" "-e cycle web" "-e cycles:G --gdb tcp:x:1"; do
	echo "record $words"
	# shellcheck disable=SC2086
	"$UNIPROF" record $words 2>&1
	echo "exit code $?"
done
