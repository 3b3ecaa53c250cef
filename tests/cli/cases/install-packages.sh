# scripts/install-packages reports why npm failed. npm and dpkg are replaced by scripts, so
# that nothing is installed.
# Not with sanitizers: uniprof does not run here.
. "$CLI/lib.sh"
mkdir scripts bin
cp "$CLI/../../scripts/install-packages" scripts
echo 'echo install ok installed' >bin/dpkg-query
cat >bin/npm <<'END'
case "$*" in
*--silent*) ;;
*) echo "npm error connect ECONNREFUSED" >&2 ;;
esac
exit 1
END
chmod +x bin/*
PATH=$PWD/bin:$PATH scripts/install-packages test
echo "exit code $?"
