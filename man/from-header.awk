# SPDX-License-Identifier: GPL-2.0-only
#
# Make a manual page of a frame and of the comments of a header. A line of the frame that
# begins with "@" is replaced:
#
#	@intro			the comment at the top of the header
#	@struct NAME		a structure with its fields
#	@ioctls			all that is documented by "define NAME - ..."
#	@defines NAME		the #defines around NAME, with the comment above them
#	@codes NAME		an enum, as a table
#
# What the header has and the frame does not use is an error, so is what it asks for and the
# header lacks: neither can have more than the other.
#
# usage: awk -f man/from-header.awk HEADER FRAME

function fail(text)
{
	print FILENAME ": " text >"/dev/stderr"
	failed = 1
}

# Text of a comment as mdoc: names of fields in italics, nothing that looks like a request
function mdoc(text,    out, word)
{
	gsub(/\\/, "\\e", text)
	out = ""
	while (match(text, /@[a-z_]+/)) {
		word = substr(text, RSTART + 1, RLENGTH - 1)
		out = out substr(text, 1, RSTART - 1) "\\fI" word "\\fP"
		text = substr(text, RSTART + RLENGTH)
	}
	text = out text
	out = ""
	while (match(text, /(^|[ (])-[0-9]/)) {
		out = out substr(text, 1, RSTART + RLENGTH - 3) "\\-"
		text = substr(text, RSTART + RLENGTH - 1)
	}
	out = out text
	if (out ~ /^[.']/)
		out = "\\&" out
	return out
}

# One or more sentences, each on a line of its own
function sentences(text)
{
	text = mdoc(text)
	gsub(/\. +/, ".\n", text)
	return text
}

# The paragraphs of a comment: separated by empty lines; with "- " before them a list
function paragraphs(text,    line, n, i, out, inlist, para)
{
	n = split(text "\n", line, "\n")
	out = para = ""
	inlist = 0
	for (i = 1; i <= n; i++) {
		if (line[i] ~ /^ *- / || line[i] ~ /^ *$/) {
			if (para != "")
				out = out sentences(para) "\n"
			para = ""
		}
		if (line[i] ~ /^ *- /) {
			if (!inlist)
				out = out ".Bl -dash\n"
			inlist = 1
			out = out ".It\n"
			sub(/^ *- /, "", line[i])
		} else if (inlist && line[i] !~ /^( |$)/) {
			out = out ".El\n.Pp\n"
			inlist = 0
		} else if (!inlist && line[i] ~ /^ *$/ && out != "" && i < n) {
			out = out ".Pp\n"
		}
		sub(/^[ \t]+/, "", line[i])
		if (line[i] != "")
			para = para (para == "" ? "" : " ") line[i]
	}
	if (inlist)
		out = out ".El\n"
	sub(/(\.Pp\n)+$/, "", out)
	gsub(/\.Pp\n\.Bl/, ".Bl", out)
	return out
}

# ---- The header ----

# A comment is complete: what is documented by it?
function end_of_comment(    first)
{
	if (!comments++)
		return # the licence
	if (comments == 2) {
		intro = comment # without what it is called
		sub(/^[^\n]*\n\n/, "", intro)
	}
	first = comment
	sub(/\n.*/, "", first)
	comment = substr(comment, length(first) + 2)
	if (kernel_doc && first ~ /^(struct|enum|define) [A-Za-z_]+ - /) {
		split(first, word, " ")
		doc = word[2]
		kind[doc] = word[1]
		sub(/^[a-z]+ [A-Za-z_]+ - /, "", first)
		brief[doc] = first
		text[doc] = comment
		if (word[1] == "define") {
			ioctl[++nr_ioctls] = doc
			used[doc] = 0
		}
	} else if (kernel_doc) {
		fail("not understood: " first)
	} else {
		above = first (comment == "" ? "" : "\n" comment)
		block = 0
	}
}

FNR == NR && in_comment {
	line = $0
	closed = line ~ /\*\//
	sub(/ *\*\/.*/, "", line)
	sub(/^ \*( |$)?/, "", line)
	if (!closed || line !~ /^ *$/)
		comment = comment (comment == "" ? "" : "\n") line
	if (closed) {
		in_comment = 0
		end_of_comment()
	}
	next
}

FNR == NR && /^\/\*/ {
	kernel_doc = /^\/\*\*$/
	comment = $0
	sub(/^\/\*\*? ?/, "", comment)
	if (comment ~ /\*\//) {
		sub(/ *\*\/.*/, "", comment)
		end_of_comment()
	} else {
		in_comment = 1
	}
	next
}

FNR == NR && /^(struct|enum) [a-z_]+ \{/ {
	inside = $2
	if (!(inside in kind))
		fail($1 " " inside " is not documented")
	used[inside] = 0
}

FNR == NR && inside != "" {
	body[inside] = body[inside] $0 "\n"
	if (/^\};/)
		inside = ""
	next
}

FNR == NR && /^#define PMUCTL_[A-Z0-9_]+[ \t]+[^ \t]/ {
	if ($2 in kind)
		next
	if (!block) {
		block = ++nr_blocks
		title[block] = above
	}
	name = $2
	value = $0
	sub(/^#define [A-Z0-9_]+[ \t]+/, "", value)
	note = ""
	if (match(value, /[ \t]*\/\*.*\*\//)) {
		note = substr(value, RSTART, RLENGTH)
		value = substr(value, 1, RSTART - 1)
		gsub(/^[ \t]*\/\* *| *\*\/$/, "", note)
	}
	block_of[name] = block
	used["block " block] = 0
	members[block] = members[block] name "\t" value "\t" note "\n"
	next
}

FNR == NR {
	if (/^$/)
		block = 0
	next
}

# ---- The frame ----

function use(what)
{
	used[what] = 1
}

# A field of the documentation; a first group of lines "@NAME: TEXT", then paragraphs
function put_struct(name,    n, i, line, field, rest)
{
	if (kind[name] != "struct" || !(name in body)) {
		fail("there is no struct " name)
		return
	}
	use(name)
	print ".Ss struct " name
	print toupper(substr(brief[name], 1, 1)) substr(mdoc(brief[name]), 2) "."
	print ".Bd -literal"
	printf "%s", body[name]
	print ".Ed"
	n = split(text[name], line, "\n")
	rest = field = ""
	print ".Bl -tag -width Ds"
	for (i = 1; i <= n && line[i] !~ /^$/; i++) {
		if (line[i] ~ /^@[a-z_]+:/) {
			if (field != "")
				print sentences(field)
			field = line[i]
			gsub(/^@|:.*/, "", field)
			print ".It Fa " field
			documented[name, field] = 1
			field = line[i]
			sub(/^[^:]*:/, "", field)
		} else {
			field = field " " line[i]
		}
		gsub(/[ \t]+/, " ", field)
		sub(/^ /, "", field)
	}
	print sentences(field)
	print ".El"
	for (i++; i <= n; i++)
		rest = rest (rest == "" ? "" : "\n") line[i]
	if (rest != "") {
		print ".Pp"
		printf "%s", paragraphs(rest)
	}
	check_fields(name)
}

# Each field of the structure is documented.
function check_fields(name,    n, i, line)
{
	n = split(body[name], line, "\n")
	for (i = 2; i < n - 1; i++) {
		sub(/;.*/, "", line[i])
		sub(/\[.*/, "", line[i])
		sub(/^.*[ \t]/, "", line[i])
		if (!((name, line[i]) in documented))
			fail(name "." line[i] " is not documented")
	}
}

function put_ioctls(    i, name)
{
	print ".Bl -tag -width Ds"
	for (i = 1; i <= nr_ioctls; i++) {
		name = ioctl[i]
		use(name)
		print ".It Dv " name
		print toupper(substr(brief[name], 1, 1)) substr(mdoc(brief[name]), 2) "."
		sub(/^\n+/, "", text[name])
		printf "%s", paragraphs(text[name])
	}
	print ".El"
}

function put_defines(name,    b, n, i, line, part)
{
	if (!(name in block_of)) {
		fail("there is no " name)
		return
	}
	b = block_of[name]
	use("block " b)
	printf "%s", paragraphs(title[b])
	print ".Bl -tag -width Ds -offset indent -compact"
	n = split(members[b], line, "\n")
	for (i = 1; i < n; i++) {
		split(line[i], part, "\t")
		print ".It Dv " part[1] " No " part[2]
		if (part[3] != "")
			print mdoc(part[3])
	}
	print ".El"
}

# Enumerators with their number, and the comment: "ERRNO" or "ERRNO: TEXT"
function put_codes(name,    n, i, line, code, number, note, open)
{
	if (kind[name] != "enum" || !(name in body)) {
		fail("there is no enum " name)
		return
	}
	use(name)
	n = split(body[name], line, "\n")
	open = 0
	for (i = 2; i < n - 1; i++) {
		if (line[i] ~ /^\t\/\*/) {
			if (open)
				print ".El"
			open = 0
			gsub(/^\t\/\* *| *\*\/$/, "", line[i])
			print ".Pp"
			print line[i] ":"
		} else if (line[i] ~ /^\t[A-Z0-9_]+[ \t]*= [0-9]+,/) {
			if (!open)
				print ".Bl -column PMUCTL_WHY_GROUP_OTHER_TARGET 123"
			open = 1
			code = number = note = line[i]
			gsub(/^\t|[ \t]*=.*/, "", code)
			gsub(/^[^=]*= |,.*/, "", number)
			if (!sub(/^.*\/\* */, "", note))
				fail(code " has no comment")
			sub(/ *\*\/$/, "", note)
			gsub(/"/, "\"\"", note)
			print ".It Dv " code " Ta " number " Ta \"" mdoc(note) "\""
		} else if (line[i] != "") {
			fail("not understood: " line[i])
		}
	}
	if (open)
		print ".El"
}

$1 == "@intro"	 { use("intro"); printf "%s", paragraphs(intro); next }
$1 == "@struct"	 { put_struct($2); next }
$1 == "@ioctls"	 { put_ioctls(); next }
$1 == "@defines" { put_defines($2); next }
$1 == "@codes"	 { put_codes($2); next }
/^@/		 { fail("not understood: " $0) }
		 { print }

END {
	for (name in used)
		if (!used[name])
			fail("not in the page: " (name ~ /^block/ ? members[substr(name, 7)] : name))
	exit failed
}
