# Details of each domain and its vCPUs, including their CPU time.
. "$CLI/lib.sh"
make_recording two
info two.up | sed '/^Call chains/,$d'
# Domains that the recording does not describe are listed separately, too.
"$MAKE_RECORDING" >odd.up <<END
domain 0 3 2 1 1 web
sample 2000 0 1 0 0x1004
in 1
sample 3000 0 1 0 0x1004
end 1 4000
END
info odd.up | grep -A 2 'vCPU  '
