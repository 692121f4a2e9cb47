# SPDX-License-Identifier: GPL-2.0-only
#
# What the formats in JSON must have, as JSON schemas. They are stricter than what the formats
# themselves say: nothing may be there that is not named here. Sources: the schema that is
# published at www.speedscope.app/file-format-schema.json; the types of a processed profile of
# version 48 and the versions before it, docs-developer/CHANGELOG-formats.md of the Firefox
# Profiler; the document "Trace Event Format" of Chrome.

NUMBER = {"type": "number", "minimum": 0}
INDEX = {"type": "integer", "minimum": 0}
TEXT = {"type": "string"}
NULL = {"type": "null"}
MAYBE_INDEX = {"anyOf": [INDEX, NULL]}


def all_of(**properties):
    """An object that has all of these and nothing else."""
    return {"type": "object", "properties": properties, "required": sorted(properties),
            "additionalProperties": False}


def list_of(items, **more):
    return {"type": "array", "items": items, **more}


def table(**columns):
    """Columns, and how long they are; that they are is for the check to say."""
    return all_of(length=INDEX, **{name: list_of(kind) for name, kind in columns.items()})


SPEEDSCOPE = all_of(
    **{"$schema": {"const": "https://www.speedscope.app/file-format-schema.json"}},
    exporter=TEXT, name=TEXT, activeProfileIndex=INDEX,
    shared=all_of(frames=list_of(all_of(name=TEXT, file=TEXT))),
    profiles=list_of(all_of(
        type={"const": "sampled"}, name=TEXT,
        unit={"enum": ["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"]},
        startValue=NUMBER, endValue=NUMBER,
        samples=list_of(list_of(INDEX)), weights=list_of(NUMBER))))

CATEGORY_COLOURS = ["transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown",
                    "magenta", "red", "lightred", "darkgrey", "grey"]

FIREFOX_THREAD = all_of(
    processType=TEXT, processStartupTime=NUMBER, processShutdownTime={"anyOf": [NUMBER, NULL]},
    registerTime=NUMBER, unregisterTime={"anyOf": [NUMBER, NULL]}, pausedRanges=list_of({}, maxItems=0),
    name=TEXT, isMainThread={"type": "boolean"}, pid=TEXT, tid={"type": "integer"},
    samples=all_of(weightType={"enum": ["samples", "tracing-ms", "bytes"]}, weight=list_of(NUMBER),
                   stack=list_of(MAYBE_INDEX), time=list_of(NUMBER), length=INDEX),
    markers=table(data={}, name=INDEX, startTime=NUMBER, endTime=NUMBER, phase=INDEX, category=INDEX),
    stackTable=table(frame=INDEX, prefix=MAYBE_INDEX, category=INDEX, subcategory=INDEX),
    # An address or a resource of -1 is none.
    frameTable=table(address={"type": "integer", "minimum": -1}, inlineDepth=INDEX, category=MAYBE_INDEX,
                     subcategory=MAYBE_INDEX, func=INDEX, nativeSymbol=MAYBE_INDEX,
                     innerWindowID=MAYBE_INDEX, implementation=MAYBE_INDEX, line=MAYBE_INDEX,
                     column=MAYBE_INDEX),
    funcTable=table(isJS={"const": False}, relevantForJS={"const": False}, name=INDEX,
                    resource={"type": "integer", "minimum": -1}, fileName=MAYBE_INDEX,
                    lineNumber=MAYBE_INDEX, columnNumber=MAYBE_INDEX),
    resourceTable=table(lib=MAYBE_INDEX, name=INDEX, host=MAYBE_INDEX,
                        type={"type": "integer", "minimum": 0, "maximum": 5}),
    stringArray=list_of(TEXT),
    nativeSymbols=table(libIndex=INDEX, address=INDEX, name=INDEX, functionSize=MAYBE_INDEX))

FIREFOX = all_of(
    meta=all_of(
        version={"const": 27}, preprocessedProfileVersion={"const": 48}, interval=NUMBER,
        startTime=NUMBER, processType=INDEX, stackwalk={"enum": [0, 1]}, symbolicated={"const": True},
        product=TEXT, importedFrom=TEXT, markerSchema=list_of({}, maxItems=0),
        # One is grey: what has no category of its own is of that.
        categories={
            **list_of(all_of(name=TEXT, color={"enum": CATEGORY_COLOURS},
                             subcategories=list_of(TEXT, minItems=1))),
            "contains": {"properties": {"color": {"const": "grey"}}}}),
    libs=list_of({}, maxItems=0), pages=list_of({}, maxItems=0),
    threads=list_of(FIREFOX_THREAD))

ID = {"type": "integer"}

TRACE_EVENTS = all_of(
    displayTimeUnit={"enum": ["ms", "ns"]},
    traceEvents=list_of({"anyOf": [
        all_of(ph={"const": "B"}, pid=ID, tid=ID, ts=NUMBER, name=TEXT, cat=TEXT),
        all_of(ph={"const": "E"}, pid=ID, tid=ID, ts=NUMBER, name=TEXT),
        all_of(ph={"const": "M"}, pid=ID, tid=ID, name={"enum": ["process_name", "thread_name"]},
               args=all_of(name=TEXT)),
    ]}))
