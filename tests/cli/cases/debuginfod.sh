# Debug files come from a debuginfod server, if that is asked for: debuginfod-find of elfutils
# asks it, and keeps the files. Files of another build are refused.
. "$CLI/lib.sh"
for program in debuginfod-find python3; do
	command -v $program >/dev/null || skip "$program is not installed"
done
build_shop
sample_functions shop 'Cart3addEi'
id=$(readelf -n shop | sed -n 's/.*Build ID: //p')
mv shop whole
objcopy --strip-all whole shop

# names: a name, and where the names are from
names()
{
	report -i shop.up --format folded -v -s shop --debug-dir none "$@" 2>&1 |
		sed "s,$PWD,PWD,g; s/$id/ID/g; s/at 0x.*-0x[0-9a-f]*/at .../; /bytes,/d; /% of/d
			s/^0x.*/0x.../; s,none/.build-id/[^;]*\.debug,DEBUG,; s/ [0-9]*$//" | uniq
}
echo "# no servers"
names
names --debuginfod

# A server's files are at /buildid/ID/debuginfo.
mkdir -p "server/buildid/$id"
objcopy --only-keep-debug whole "server/buildid/$id/debuginfo"
python3 -u - >port 2>requests <<'END' &
import functools, http.server
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="server")
server = http.server.HTTPServer(("127.0.0.1", 0), handler)
print(server.server_port)
server.serve_forever()
END
server=$!
trap 'kill $server 2>/dev/null' EXIT
for _ in $(seq 300); do
	[ ! -s port ] || break
	sleep 0.1
done
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port) DEBUGINFOD_CACHE_PATH=$PWD/cache
export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
echo "# only if that is asked for"
names
echo "requests: $(wc -l <requests)"
echo "# asked, then from the cache"
names --debuginfod
names --debuginfod
echo "requests: $(grep -c GET requests)"
echo "# archived"
"$UNIPROF" archive -i shop.up -o archived.up -s shop --debug-dir none --debuginfod 2>/dev/null
report -i archived.up --format folded | sed 's/ [0-9]*$//' | uniq
echo "# another build"
rm -r cache
cp shop.cc other.cc && echo 'int other;' >>other.cc
g++ -g -O2 -no-pie -Wl,--build-id=sha1 -o "server/buildid/$id/debuginfo" other.cc
names --debuginfod | sed 's/build-id is [0-9a-f]*/build-id is OTHER/'
echo "# no such file; no such program"
rm -r cache "server/buildid/$id"
names --debuginfod
rm -rf cache
mkdir bin
for program in sed uniq; do
	ln -s "$(command -v $program)" bin
done
(PATH=$PWD/bin names --debuginfod)
