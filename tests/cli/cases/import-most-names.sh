# Names beyond the limit of a recording, 4,194,304, stop the import; the samples before are kept.
# Not with sanitizers: it takes more than a minute with them. Other limits are checked with them in
# import-skips-invalid-lines.
. "$CLI/lib.sh"
awk 'BEGIN { for (i = 0; i < 4200000; i++) printf "%d:x 1\n", i }' | import -o a.up -
info a.up | grep -E '^  (samples|names) '
