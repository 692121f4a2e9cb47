# SPDX-License-Identifier: GPL-2.0-only
#
# Read tests, print as make variables what their first 20 lines say they are
# made of besides themselves: "sources: FILES" and "libs: FLAGS".

FNR > 20 { nextfile }

/^[ \t]*(\/\*|\*)[ \t]*(sources|libs):/ {
	match($0, /(sources|libs):[^*]*/)
	split(substr($0, RSTART, RLENGTH), part, ":")
	name = FILENAME
	sub(/\.c$/, "", name)
	gsub(/^[ \t]+|[ \t]+$/, "", part[2])
	printf "%s_%s += %s\n", name, part[1], part[2]
}
