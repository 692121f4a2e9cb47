# SPDX-License-Identifier: GPL-2.0-only
#
# Make a command's manual page of its help and of a frame: the line "@usage" of the frame
# becomes the synopsis, a paragraph for each way that the help's usage has.
#
# usage: pmuctl COMMAND --help | awk -f man/from-usage.awk - FRAME

# A word of the usage as mdoc: "-p", "--", "PIDS", "hw|sw"
function word_of(text,    parts, count, i, out)
{
	count = split(text, parts, "|")
	for (i = 1; i <= count; i++) {
		out = out (i > 1 ? " | " : "")
		if (parts[i] ~ /^-/)
			out = out "Fl " (parts[i] == "--" ? "\\-" : substr(parts[i], 2))
		else if (parts[i] ~ /^[A-Z]+$/)
			out = out "Ar " tolower(parts[i])
		else
			out = out "Cm " parts[i]
	}
	return out
}

# What follows the command, a line for what is in the same brackets
function synopsis(text,    out, depth, line, part, count, words, i)
{
	gsub(/\[/, " [ ", text)
	gsub(/\](\.\.\.)?/, " & ", text)
	count = split(text, words, " ")
	for (i = 1; i <= count; i++) {
		if (words[i] == "[") {
			if (!depth++ && line) {
				out = out "." line "\n"
				line = ""
			}
			part = "Oo"
		} else if (words[i] ~ /^\]/) {
			part = "Oc" (words[i] == "]..." ? " Ns ..." : "")
			depth--
		} else {
			part = words[i] == "|" ? "|" : word_of(words[i])
		}
		line = line (line ? " " : "") part
		if (!depth && words[i] ~ /^\]/) {
			out = out "." line "\n"
			line = ""
		}
	}
	return out (line ? "." line "\n" : "")
}

FNR == 1 && NR > 1 { in_frame = 1 }

!in_frame && !/^(usage:|      ) pmuctl / { over = 1 }
!in_frame && !over {
	sub(/^(usage:|      ) pmuctl /, "")
	name = $1
	sub(/^[a-z]+ */, "")
	usage = usage ".Nm pmuctl " name "\n" synopsis($0)
}
!in_frame { next }

$0 == "@usage" {
	printf "%s", usage
	used = 1
	next
}
{ print }

END {
	if (!usage || !used) {
		print FILENAME ": " (usage ? "no line is @usage" : "the help has no usage") >"/dev/stderr"
		exit 1
	}
}
