# "No memory at the address" does not mean that frame pointers are missing: on KVM, it is most likely
# not known where the guest's memory is. On Xen, that is always known.
. "$CLI/lib.sh"
for type in 4 2; do
	"$MAKE_RECORDING" >web.up <<-END
		domain 0 4711 $type 1 1 web
		unwound 1 0
		sample 2000 0 1 6 0x1004
		sample 3000 0 1 6 0x1004
		sample 4000 0 1 2 0x1004
		end 1 9000
	END
	report -i web.up 2>&1 >/dev/null | grep 'cut short'
done
