# The units that the package has: systemd knows all their settings, and uniprof its options; they
# give up what is not needed.
. "$CLI/lib.sh"
command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed"
units=$CLI/../../scripts/systemd
mkdir bin
cp "$units/send-rows" bin
cp "$UNIPROF" bin/uniprof
for unit in uniprof.service uniprof-rows.service uniprof-rows.timer; do
	sed "s,/usr/bin/,$PWD/bin/,; s,/usr/lib/uniprof/,$PWD/bin/," "$units/$unit" >$unit
done
# It also lists what is wrong with other units of this system that these refer to.
SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no ./uniprof*.* 2>&1 | grep -i uniprof
for unit in uniprof.service:35 uniprof-rows.service:25; do
	systemd-analyze security --offline=yes --threshold=${unit#*:} ./${unit%:*} >exposure 2>&1 ||
		tail -n 1 exposure
done
# Options are read up to --help.
words=$(sed -n 's/^ExecStart=//p' uniprof.service)
$words --help | head -n 1
$words --no-such-option --help
echo "exit code $?"
