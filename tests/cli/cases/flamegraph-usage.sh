# flamegraph checks everything before it records or starts a guest, and destroys a guest only
# if it has started it. xl is a pretended one; without Xen, record fails.
. "$CLI/lib.sh"
need_no_hypervisor
mkdir bin
cat >bin/xl <<'END'
#!/bin/sh
# Its domains are files in the folder "domains".
case $1 in
domid) [ -e "domains/$3" ]; exit ;;
create) echo "created of $3"; touch domains/web ;;
destroy) rm "domains/$3" ;;
esac
echo "xl $*" >>xl.log
END
chmod +x bin/xl
PATH=$PWD/bin:$PATH
mkdir domains
printf '# name = "no"\nmemory = 64\n name="web"\n' >web.cfg
echo 'memory = 64' >nameless.cfg
echo "100000 T main" >web.sym

# try OPTION...: the exit code, what xl was told, and the guests that run then
try()
{
	without_devices "$UNIPROF" flamegraph "$@"
	echo "exit code $?: $(cat xl.log 2>/dev/null): $(ls domains): $(ls -d uniprof-* other* 2>/dev/null)"
	rm -rf xl.log uniprof-* other*
}
try
try web mail
try -F 0 web
try -T soon --config web.cfg
try --call-graph no web
try --weight no web
try --state no web
try -o web.svg web
try -s nothing web
try -s web.cfg web
try --config nothing.cfg web
try --config nameless.cfg web
try --config web.cfg mail
try -T 1 -s web.sym web
try -T 1 -o other web
try -T 1 -o web.cfg/folder web
try -T 1 --config web.cfg
try -T 1 --config web.cfg web
touch domains/web
try -T 1 --config web.cfg web
mv bin/xl bin/not-xl
try -T 1 --config web.cfg web
