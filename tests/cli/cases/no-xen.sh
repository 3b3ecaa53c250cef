# On a machine without Xen and KVM, commands that need one report it; wrong usage is still
# reported as such. Where there is KVM, it is hidden.
. "$CLI/lib.sh"
need_no_hypervisor
for command in "list" "record -T 1 web" "stack web"; do
	without_devices "$UNIPROF" $command
	echo "exit code $?"
done
for command in "list web" "record" "record -F 0 web" "record -F 10001 web" \
	"record -F many web" "record -T 0 web" "record -T 1e3 web" "record --flight web" \
	"record -a web" "record --rotate 60 web" "record --rotate 0s web" "record --rotate M web" \
	"record --rotate 1s -o - web" "record --keep 3 web" "record --rotate 1s --keep 0 web" "stack" "stack web mail"; do
	"$UNIPROF" $command
	echo "exit code $?"
done
"$UNIPROF" stack -s nothing web
echo "exit code $?"
test ! -e uniprof.data || echo "a recording was begun"
