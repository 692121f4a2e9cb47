#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# What the files of the module need of each other, by the symbols of their objects: no file
# needs what is of a layer above it, and no more than MAX_CIRCLE files need each other, all
# around. Each circle is within one folder then: through two it would have to go up again.
#
# A file needs another if its object has an undefined symbol, of a function or of data, that the
# other defines. So a file that defines a table of functions needs those files that have the
# functions; who names the table needs the file that defines it; and a call through a pointer
# counts for nobody. What is inlined from a header is needed by who includes that. What a
# configuration leaves out is not seen.
#
# usage: tests/style/symbols.py OBJECTS     (OBJECTS: module/ of a build)
#
# Prints "FILE: what is wrong" for each finding, below a circle what makes it one. Exit status:
# 0 nothing found, 1 something found, 2 wrong use.

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # tests/remember looks at all files of this folder

from sources import RANK, layer, read  # noqa: E402

MAX_CIRCLE = 6


def objects():
    """What pmuctl.ko is linked of; older objects may lie beside them."""
    for words in re.findall(r"^pmuctl-y\s*[:+]?=(.*)$", read("module/Kbuild"), re.M):
        yield from words.split()


def source(name):
    return f"module/{name[:-2]}.c"


def needs_of(folder, names):
    """{file: {other file: the symbols of it that the file needs}}"""
    output = subprocess.run(["nm", "-A", "-P", "-g", *names], cwd=folder, check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    definer, undefined = {}, []
    for line in output.splitlines():
        name, symbol, kind = re.match(r"(.*): (\S+) (\S)", line).groups()
        if kind in "Uvw":
            undefined.append((source(name), symbol))
        else:
            definer[symbol] = source(name)
    needs = {source(name): {} for name in names}
    for path, symbol in undefined:
        if symbol in definer:
            needs[path].setdefault(definer[symbol], []).append(symbol)
    return needs


def circles(needs):
    """Sets of files that need each other, all around"""
    def reached(start):
        found, left = set(), [start]
        while left:
            new = set(needs[left.pop()]) - found
            found |= new
            left += new
        return found
    reach = {path: reached(path) for path in needs}
    return {frozenset(other for other in reach[path] if path in reach[other])
            for path in needs if path in reach[path]}


def check(needs):
    for path in needs:
        if not layer(path):
            yield f"{path}: it is in no folder of a layer"
    for path, others in needs.items():
        for other, symbols in others.items():
            mine, theirs = layer(path), layer(other)
            if mine and theirs and RANK[theirs] > RANK[mine]:
                yield (f"{path}: {mine} needs {', '.join(symbols)} of {other}, "
                       f"which is of the layer above: {theirs}")
    for circle in sorted(map(sorted, circles(needs))):
        if len(circle) > MAX_CIRCLE:
            yield (f"{circle[0]}: one of {len(circle)} files that need each other, "
                   f"more than {MAX_CIRCLE}")
            for path in circle:
                for other in sorted(set(needs[path]) & set(circle)):
                    yield f"    {path} -> {other}: {', '.join(needs[path][other])}"


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        print("usage: tests/style/symbols.py OBJECTS", file=sys.stderr)
        return 2
    folder = sys.argv[1]
    names = sorted(objects())
    lacking = [name for name in names if not os.path.exists(os.path.join(folder, name))]
    for name in lacking:
        print(f"{source(name)}: there is no {os.path.join(folder, name)}")
    if lacking or not names:
        return 1
    found = 0
    for what in check(needs_of(folder, names)):
        print(what)
        found = 1
    return found


if __name__ == "__main__":
    sys.exit(main())
