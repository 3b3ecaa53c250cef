# A Linux kernel that KASLR has moved: files with its addresses as linked are moved along,
# kallsyms already has them. Programs and other domains are not moved.
. "$CLI/lib.sh"
cat >linux.txt <<'END'
info frequency 99000
domain 0 3 1 1 1 web
unwound 2 381225 vmlinuz eb4fbcd0
linux 0xffffffff9b000000
domain 1 4 1 1 1 db
sample 1010000000 0 1 0 0xffffffff9b001010 0xffffffff9b002020 0x401008
in 1
sample 1020000000 0 1 0 0xffffffff81001010 0x401008
end 1 2000000000
END
"$MAKE_RECORDING" <linux.txt >linux.up || exit 1
cat >System.map <<'END'
ffffffff81000000 T _text
ffffffff81001000 T leaf
ffffffff81002000 T entry
ffffffff81003000 T end
END
sed 's/^ffffffff81/ffffffff9b/' System.map >kallsyms
cat >app.nm <<'END'
0000000000400000 T _text
0000000000401000 T main
0000000000402000 T end
END
for kernel in System.map kallsyms; do
	echo "# $kernel"
	report -i linux.up -s $kernel -s app.nm --format folded
done
"$UNIPROF" info linux.up | grep Linux
