#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# What can be read off the sources line by line: licence lines, layers, words
# that belong to one layer only, lengths, white space. Prints "FILE:LINE: what is
# wrong" for each finding.
#
# usage: tests/style/sources.py CHECK     (CHECK: one of those in CHECKS below)
#
# Exit status: 0 nothing found, 1 something found, 2 wrong use.

import os
import re
import sys

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
SKIPPED_DIRS = {".git", "build", "__pycache__"}

# From the bottom up, each with where it is. A file may include what is of its own layer or below.
LAYERS = [
    ("uapi", "include/"),
    ("compat", "module/compat/"),
    ("explain", "module/explain/"),
    ("ringbuf", "module/ringbuf/"),
    ("pmu", "module/pmu/"),
    ("core", "module/core/"),
    ("sample", "module/sample/"),
    ("aux", "module/aux/"),
    ("soft", "module/soft/"),
    ("inherit", "module/inherit/"),
    ("event", "module/event/"),
    ("front", "module/front/"),
    ("main", "module/main.c"),
]
RANK = {name: rank for rank, (name, _) in enumerate(LAYERS)}
KNOW_TASKS = {name for name, _ in LAYERS} - {"ringbuf", "pmu", "explain"}

# (what, the words, the layers that may use them)
RESERVED_WORDS = [
    ("an MSR or a counter is touched outside module/pmu",
     r"\b(rdmsr|wrmsr|rdpmc)\w*\s*\(|\b__?(rdmsr|wrmsr)\w*\s*\(|\bnative_(rd|wr)\w+\s*\(",
     {"pmu"}),
    ("the kernel version is looked at outside module/compat",
     r"\b(LINUX_VERSION_CODE|KERNEL_VERSION)\b", {"compat"}),
    ("user memory is touched outside the front",
     r"\b__user\b|\b(copy_(from|to)_user|copy_struct_from_user|get_user|put_user)\s*\(",
     {"front", "uapi"}),
    ("a struct file is used outside the front",
     r"\bstruct\s+file\b", {"front"}),
    ("module/pmu and module/ringbuf know no tasks",
     r"\bstruct\s+task_struct\b|\bcurrent\s*->",
     KNOW_TASKS),
]

# (what, the file that does it all the same), each with its reason
EXCEPTIONS = {
    # It reads the stack of the task that was interrupted, which is no caller's argument.
    ("user memory is touched outside the front", "module/sample/branches.c"),
    ("user memory is touched outside the front", "module/sample/callchain.c"),
}

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60


def files(pattern):
    """Paths of the tree that match, relative to it."""
    found = []
    for folder, folders, names in os.walk(TREE):
        folders[:] = sorted(d for d in folders if d not in SKIPPED_DIRS)
        # In a work tree of git .git is a file.
        for name in sorted(set(names) - SKIPPED_DIRS):
            path = os.path.relpath(os.path.join(folder, name), TREE)
            if re.search(pattern, path):
                found.append(path)
    return found


def read(path):
    with open(os.path.join(TREE, path), encoding="utf-8") as source:
        return source.read()


def without_comments(text):
    """C source with comments and strings blanked, lines kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def layer(path):
    for name, prefix in LAYERS:
        if path.startswith(prefix):
            return name
    return None


# ---------------------------------------------------------------- licences

LICENCES = [
    (r"include/uapi/", {"GPL-2.0-only WITH Linux-syscall-note"}),
    (r"include/linux/", {"GPL-2.0-only"}),
    (r"module/", {"GPL-2.0-only"}),
    (r"lib/", {"LGPL-2.1-or-later"}),
    (r"tests/lab/qemu/", {"GPL-2.0-or-later", "LGPL-2.1-or-later", "GPL-2.0-only"}),
    (r"", {"GPL-2.0-only"}),
]
# Texts for people, data, and what must not have a comment.
NO_LICENCE_LINE = (r"^(LICENSE|LICENSES/.*|VERSION|\.gitignore|.*\.md|.*\.patch|.*\.txt|.*\.json|"
                   r".*\.csv|debian/(changelog|copyright|source/format|.*\.dkms))$|/data/")


def check_licences():
    for path in files(""):
        if re.search(NO_LICENCE_LINE, path):
            continue
        try:
            head = "\n".join(read(path).split("\n")[:4])
        except UnicodeDecodeError:
            yield path, 1, "a binary file: generated files and binaries are not kept here"
            continue
        found = re.search(r"SPDX-License-Identifier: ([^*\n]*?)\s*(\*/|-->|$)", head, re.M)
        allowed = next(names for pattern, names in LICENCES if re.match(pattern, path))
        if not found:
            yield path, 1, "no SPDX-License-Identifier in the first lines"
        elif found.group(1) not in allowed:
            yield path, 1, f"licence {found.group(1)}, expected {' or '.join(sorted(allowed))}"


# ------------------------------------------------------------------ layers

def resolve(path, name):
    """The file of the tree that an #include means, or None for a system's."""
    places = [os.path.dirname(path), "module", "include", "include/uapi"]
    for place in places:
        candidate = os.path.normpath(os.path.join(place, name))
        if os.path.exists(os.path.join(TREE, candidate)):
            return candidate
    return None


def includes(path):
    for number, line in enumerate(read(path).split("\n"), 1):
        found = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        if found:
            yield number, found.group(1)


def check_layers():
    for path in files(r"^(module|include)/.*\.[ch]$"):
        mine = layer(path)
        if not mine:
            yield path, 1, "it is in no folder of a layer"
            continue
        for number, name in includes(path):
            target = resolve(path, name)
            theirs = layer(target) if target else None
            if theirs and RANK[theirs] > RANK[mine]:
                yield path, number, f"{mine} includes {target}, which is of the layer above: {theirs}"
        code = without_comments(read(path)).split("\n")
        for number, line in enumerate(code, 1):
            for what, words, allowed in RESERVED_WORDS:
                if (mine not in allowed and (what, path) not in EXCEPTIONS
                        and re.search(words, line)):
                    yield path, number, f"{what}: {line.strip()}"
    for path in files(r"^tools/.*\.[ch]$"):
        for number, name in includes(path):
            if re.search(r"(^|/)(lib/src|module)/", name) or (
                    not os.path.exists(os.path.join(TREE, os.path.dirname(path), name))
                    and os.path.exists(os.path.join(TREE, "lib/src", name))):
                yield path, number, f"the tool includes {name}; it may use the public header only"


# ----------------------------------------------------------------- lengths

def check_lengths():
    for path in files(r"\.([chS]|c\.inc)$"):
        text = read(path)
        lines = text.split("\n")
        count = len(lines) - 1
        if count > MAX_FILE_LINES:
            yield path, count, f"{count} lines, more than {MAX_FILE_LINES}: split it by noun"
        start = None
        for number, line in enumerate(without_comments(text).split("\n"), 1):
            if line.startswith("{"):
                start = number
            elif line.startswith("}") and start:
                length = number - start - 1
                # "};" closes a table of data, which may be long.
                if length > MAX_FUNCTION_LINES and not line.startswith("};"):
                    yield path, start, f"a function of {length} lines, more than {MAX_FUNCTION_LINES}"
                start = None


# ------------------------------------------------------------- white space

def check_spaces():
    for path in files(r"\.(c|h|inc|sh|py|mk|awk|md|conf|list|map|in|[1-8])$|/?(Makefile|Kbuild|VERSION)$"):
        text = read(path)
        if text and not text.endswith("\n"):
            yield path, text.count("\n") + 1, "no newline at the end"
        for number, line in enumerate(text.split("\n"), 1):
            if line != line.rstrip():
                yield path, number, "white space at the end of the line"


# ------------------------------------------------------------------- pages

# What is built, or is somewhere else than in this tree
NOT_HERE = re.compile(r"^(build|tests/kmod|tests/fuzz/abi/found)(/|$)|[*{}<>|$\[]|Module\.symvers|NAME|SUITE|AREA")
TOP = ("docs", "examples", "include", "lib", "man", "module", "tests", "tools")


# Functions of ours that a page may name
FUNCTION = re.compile(r"`((?:pmuctl|hwpmu|ring|auxbuf)_[a-z0-9_]+)\(\)")


def parameters():
    """Names of the module's parameters, with the place of each."""
    for path in files(r"^module/.*\.c$"):
        for number, line in enumerate(read(path).split("\n"), 1):
            found = re.match(r"module_param\w*\((\w+)", line)
            if found:
                yield path, number, found.group(1)


def anchors(path):
    """What links may name of a page: its headings, as they are shown on the web."""
    text = re.sub(r"^```.*?^```", "", read(path), flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        yield re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


# A test of the table of features: a backquoted word, behind "unit" or "fuzz" one of these
TEST_LIST = re.compile(r"\b(unit|fuzz) ((?:`\w+`(?: \([^)]*\))?(?:, )?)+)")
TEST_NAME = re.compile(r"`([a-z0-9]+_[a-z0-9_]+|[a-z0-9_]+\.sh)`")


def lacking_tests():
    """Names of tests in docs/status.md that there are none of, with their lines. What begins like
    an area of tests/vm is one, unless it is a field of the attr."""
    fields = set()
    for path in files(r"^(module|tests)/.*\.[ch]$"):
        fields.update(re.findall(r"\battr(?:\.|->)(\w+)", read(path)))
    guest = {re.sub(r"\.c$", "", os.path.basename(path)) for path in files(r"^tests/vm/\w+/\w+\.(c|sh)$")}
    unit = {os.path.basename(path)[:-2] for path in files(r"^tests/unit/\w+\.c$")}
    fuzz = {os.path.basename(path)[:-2] for path in files(r"^tests/fuzz/\w+\.c$")}
    areas = {os.path.basename(os.path.dirname(path)) for path in files(r"^tests/vm/\w+/")}
    for number, line in enumerate(read("docs/status.md").split("\n"), 1):
        for kind, names in TEST_LIST.findall(line):
            first, *others = re.findall(r"`(\w+)`", names)
            if first not in (unit if kind == "unit" else fuzz):
                yield number, f"there is no test {kind} {first}"
            for name in others:
                if name not in unit | fuzz | guest:
                    yield number, f"there is no test {name}"
        for name in TEST_NAME.findall(TEST_LIST.sub("", line)):
            if (name.endswith(".sh") or name.split("_")[0] in areas) and \
                    name not in guest | unit | fields:
                yield number, f"there is no test {name}"


# A file, as comments name it; one with a path from elsewhere is another project's.
SOURCE_NAME = re.compile(r"(?<![\w/<.-])([a-z0-9_]+\.c)\b")


def lacking_sources():
    """Names of C files in comments that there is none of in the same part of the tree."""
    for top in ("module", "lib", "tools"):
        paths = files(rf"^{top}/.*\.[ch]$")
        names = {os.path.basename(path) for path in paths}
        for path in paths:
            for number, line in enumerate(read(path).split("\n"), 1):
                if not re.match(r"\s*(/\*|\*)", line):
                    continue
                for name in SOURCE_NAME.findall(line):
                    if name not in names:
                        yield path, number, f"there is no {name}"


def check_pages():
    """Every page of docs/ is in its list, every path, heading and function that a page names
    exists, so does every file that a comment names and every test of the table of features, and
    every parameter has a row."""
    yield from lacking_sources()
    index = read("docs/README.md")
    table = read("docs/parameters.md")
    for path, number, name in parameters():
        if f"| `{name}` |" not in table:
            yield path, number, f"docs/parameters.md has no row for {name}"
    words = set()
    for path in files(r"^(module|include|lib|tools|examples|tests)/.*\.[ch]$"):
        words.update(re.findall(r"\w+", read(path)))
    for path in files(r"^docs/[^/]+\.md$"):
        name = os.path.basename(path)
        if name != "README.md" and f"({name})" not in index:
            yield path, 1, "docs/README.md does not list it"
    for path in files(r"^[^/]+\.md$|^docs/.*\.md$"):
        for number, line in enumerate(read(path).split("\n"), 1):
            for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", line):
                target = os.path.normpath(os.path.join(os.path.dirname(path), link)) if link else path
                if not os.path.exists(os.path.join(TREE, target)):
                    yield path, number, f"there is no {link}"
                elif anchor and target.endswith(".md") and anchor not in anchors(target):
                    yield path, number, f"there is no {link}#{anchor}"
            for name in re.findall(rf"`((?:{'|'.join(TOP)})/[^`\s]*[^`\s/:,])`", line):
                if not (NOT_HERE.search(name) or os.path.exists(os.path.join(TREE, name))):
                    yield path, number, f"there is no {name}"
            for name in FUNCTION.findall(line):
                if name not in words:
                    yield path, number, f"there is no {name}()"
    if os.path.exists(os.path.join(TREE, "docs/status.md")):
        for number, what in lacking_tests():
            yield "docs/status.md", number, what


CHECKS = {
    "licences": check_licences,
    "layers": check_layers,
    "lengths": check_lengths,
    "spaces": check_spaces,
    "pages": check_pages,
}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        print(f"usage: tests/style/sources.py {'|'.join(CHECKS)}", file=sys.stderr)
        return 2
    found = 0
    for path, number, what in CHECKS[sys.argv[1]]():
        print(f"{path}:{number}: {what}")
        found = 1
    return found


if __name__ == "__main__":
    sys.exit(main())
