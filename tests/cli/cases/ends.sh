# Chains are whole, of unknown end, or cut; names tell more than the recorder knew.
. "$CLI/lib.sh"
"$MAKE_RECORDING" >ends.up <<END
domain 0 1 2 1 1 web
sample 2000 0 1 0 0x1004 0x1108
sample 3000 0 1 11 0x1004 0x1108
sample 4000 0 1 11 0x1004 0x1208
sample 5000 0 1 11 0x1204
sample 6000 0 1 10 0x1004 0x1208
sample 7000 0 1 10 0x1208 0x1108
sample 8000 0 1 3 0x1004
end 1 9000
END
cat >names.sym <<END
0000000000001000 T leaf
0000000000001100 T main
0000000000001200 T _start
0000000000001300 T end
END
info ends.up | sed -n '/^Call chains/,/^[A-Z]*$/p' | grep -E 'whole|unknown|cut'
for names in "" "-s names.sym"; do
	report -i ends.up $names | sed -n 2p
	report -i ends.up $names --format histogram-json 2>/dev/null | grep chains
done
