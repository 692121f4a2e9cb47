#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a piece of Python costs: the library through ctypes, without anything to be built.

	with Counter("instructions:u", "branches:u") as counter:
		...
	print(counter.counts)
"""
import ctypes
import sys


class Explanation(ctypes.Structure):
    """struct pmuctl_explanation of <linux/pmuctl.h>"""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("error", ctypes.c_uint32),
        ("code", ctypes.c_uint32),
        ("entry", ctypes.c_uint32),
        ("field", ctypes.c_char * 32),
        ("sentence", ctypes.c_char * 208),
    ]


class ParseError(ctypes.Structure):
    """struct pmuctl_parse_error of <pmuctl.h>"""

    _fields_ = [("position", ctypes.c_size_t), ("sentence", ctypes.c_char * 248)]


class Reading(ctypes.Structure):
    """struct pmuctl_reading of <pmuctl.h>"""

    _fields_ = [
        ("value", ctypes.c_uint64),
        ("time_enabled", ctypes.c_uint64),
        ("time_running", ctypes.c_uint64),
        ("id", ctypes.c_uint64),
        ("lost", ctypes.c_uint64),
        ("reserved", ctypes.c_uint64 * 3),
    ]


lib = ctypes.CDLL("libpmuctl.so.0")
pointer, index = ctypes.c_void_p, ctypes.c_size_t
for name, result, arguments in (
    ("pmuctl_device_open", ctypes.c_int, (ctypes.c_char_p, pointer, pointer)),
    ("pmuctl_device_explain", None, (pointer, pointer)),
    ("pmuctl_device_close", None, (pointer,)),
    ("pmuctl_events_parse", ctypes.c_int, (ctypes.c_char_p, pointer, pointer, pointer, pointer)),
    ("pmuctl_events_attr", pointer, (pointer, index)),
    ("pmuctl_events_free", None, (pointer,)),
    (
        "pmuctl_event_open",
        ctypes.c_int,
        (pointer, pointer, ctypes.c_int, ctypes.c_int, ctypes.c_ulong, pointer),
    ),
    ("pmuctl_event_read", ctypes.c_int, (pointer, pointer)),
    ("pmuctl_event_close", None, (pointer,)),
    ("pmuctl_reading_estimate", ctypes.c_uint64, (pointer,)),
):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments


class Counter:
    """Counts events of the calling thread between its entry and its exit."""

    def __init__(self, *names):
        self.names = names
        self.counts = {}
        self.device, self.events = pointer(), []
        why = Explanation()
        if lib.pmuctl_device_open(None, ctypes.byref(why), ctypes.byref(self.device)) < 0:
            raise OSError(why.error, why.sentence.decode())

    def open_event(self, name):
        """One event of this thread (0) on any CPU (-1), which counts at once"""
        listed, event, error = pointer(), pointer(), ParseError()
        if lib.pmuctl_events_parse(
            name.encode(), None, None, ctypes.byref(error), ctypes.byref(listed)
        ):
            raise ValueError(f"{name}: {error.sentence.decode()}")
        attr = lib.pmuctl_events_attr(listed, 0)
        refused = lib.pmuctl_event_open(self.device, attr, 0, -1, 0, ctypes.byref(event))
        lib.pmuctl_events_free(listed)
        if refused < 0:
            why = Explanation()
            lib.pmuctl_device_explain(self.device, ctypes.byref(why))
            raise OSError(why.error, f"{name}: {why.sentence.decode()}")
        self.events.append(event)

    def read(self, event):
        """Its count; an estimate if it took turns with others"""
        reading = Reading()
        if lib.pmuctl_event_read(event, ctypes.byref(reading)) < 0:
            raise OSError("the event cannot be read")
        return lib.pmuctl_reading_estimate(ctypes.byref(reading))

    def close(self):
        for event in self.events:
            lib.pmuctl_event_close(event)
        lib.pmuctl_device_close(self.device)

    def __enter__(self):
        try:
            for name in self.names:
                self.open_event(name)
            self.before = [self.read(event) for event in self.events]
        except Exception:
            self.close()
            raise
        return self

    def __exit__(self, *what):
        after = [self.read(event) for event in self.events]
        for name, begin, end in zip(self.names, self.before, after):
            self.counts[name] = end - begin
        self.close()


def main():
    try:
        for squares in 1000, 10000:
            with Counter(*(sys.argv[1:] or ["instructions:u", "branches:u"])) as counter:
                sum(i * i for i in range(squares))
            print(squares, "squares:", counter.counts)
    except (OSError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
