# The page's own code has the known sums of page.test.mjs.
# Not with sanitizers: uniprof does not run here.
. "$CLI/lib.sh"
need_modules
node --test "$CLI/page.test.mjs" >log 2>&1 && grep -c '^ok' log || cat log
