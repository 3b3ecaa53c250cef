# A recording in a format newer than this version.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >newer.up <<END
info version 99
domain 0 1 2 1 1 newer
sample 2000 0 1 0 0x1004
end 1 3000
END
report -i newer.up
info newer.up
