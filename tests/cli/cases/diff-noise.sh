# Differences have 95 % intervals: of two recordings of the same program, a twentieth of the
# functions is outside them; a change is found; recordings that agree have none. A sample that
# stands for several is one sample; collapsed stacks are sums of samples.
. "$CLI/lib.sh"
python3 - <<'END'
import random
random.seed(7)
weights = [1 / (i + 1) for i in range(200)]
for name, changed in ("one", 0), ("same", 0), ("changed", 0.05):
    own = [w + changed * sum(weights) * (i == 50) for i, w in enumerate(weights)]
    with open(name, "w") as file:
        file.write("info start 0\ndomain 0 1 2 1 1 web\n")
        for i, function in enumerate(random.choices(range(200), own, k=20000)):
            file.write(f"sample {i}000000 0 1 0 {0x1000 + 256 * function:#x} 0x80000\n")
        file.write("end 1 20000000000\n")
with open("names", "w") as file:
    for i in range(200):
        file.write(f"{0x1000 + 256 * i:016x} {256:016x} T function_{i}\n")
    file.write(f"{0x7ff00:016x} {512:016x} T main\n")
END
for name in one same changed; do
	"$MAKE_RECORDING" <$name >$name.up
done
{ sed -n 1,2p one; echo "weight 10"; sed -n '3,2002p' one; echo "end 1 20000000000"; } |
	"$MAKE_RECORDING" >thinned.up
diff_of()
{
	"$UNIPROF" diff -s names "$@" 2>/dev/null || echo "exit code $?"
}
diff_of one.up same.up | grep noise
diff_of one.up changed.up | sed -n '/noise/,$p' | head -n 5
echo "== no difference"
diff_of one.up one.up | sed -n '/noise/,$p' | head -n 3
echo "== totals, and by name"
diff_of --sort total one.up same.up | grep -w main
diff_of --sort name one.up same.up | sed -n '/noise/,$p' | sed -n '3,5p'
echo "== a tenth of the samples: wider"
diff_of thinned.up thinned.up --sort name | grep -w function_0
diff_of one.up one.up --sort name | grep -w function_0
echo "== collapsed stacks"
for name in one changed; do
	"$UNIPROF" report -i $name.up -s names --format folded 2>/dev/null >$name.folded
	"$UNIPROF" import -o $name.import $name.folded 2>/dev/null
done
diff_of one.import changed.import | sed -n '/noise/,$p' | head -n 3
echo "== CSV, JSON, mistakes"
for format in csv json; do
	diff_of --format histogram-$format one.up changed.up | grep function_50\\b
done
"$UNIPROF" diff --format folded --sort total one.up same.up
"$UNIPROF" diff --sort dso one.up same.up
exit 0
