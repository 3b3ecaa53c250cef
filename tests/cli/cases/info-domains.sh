# What is known of each domain and its vCPUs, their CPU time among it.
. "$CLI/lib.sh"
make_recording two
info two.up | sed '/^Call chains/,$d'
