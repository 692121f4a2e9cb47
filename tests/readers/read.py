# SPDX-License-Identifier: GPL-2.0-only
#
# Has others' readers read what tests/readers/exports has written and what the command makes of
# it, and compares what they say with each other: perf, pprof, Prometheus and its client, and for
# JSON, for which there is no reader without a browser, schemas. perf's stacks are the measure of
# all that is made of the recording.
#
# usage: read.py DIRECTORY ROOT PMUCTL    (ROOT: where the readers are unpacked)

import collections
import json
import os
import re
import subprocess
import sys
import traceback
import xml.etree.ElementTree

import jsonschema
from prometheus_client.openmetrics import parser as openmetrics

import schemas

DIRECTORY, ROOT, PMUCTL = (os.path.abspath(path) for path in sys.argv[1:4])
EVENTS = ["cpu-clock", "branch-misses:u"]
UNITS = {"cpu-clock": "nanoseconds", "branch-misses:u": "count"}
# Of each line that tells a sample to the clock that Prometheus wants
WHEN = 1700000000
Sample = collections.namedtuple("Sample", "comm pid tid event period stack")


def run(*words, stdin=subprocess.DEVNULL):
    """What a program prints. It may have nothing to complain of."""
    done = subprocess.run(words, stdin=stdin, capture_output=True, check=False)
    assert done.returncode == 0, f"{words}: status {done.returncode}: {done.stderr.decode()}"
    assert not done.stderr, f"{words}: {done.stderr.decode()}"
    return done.stdout.decode()


def pmuctl(command, *words):
    return run(PMUCTL, command, "-i", "perf.data", "--kallsyms", "kallsyms", *words)


def perf(command, *words):
    return run("perf", command, "-i", "perf.data", "--kallsyms", "kallsyms", *words)


def same(what, got, want):
    """Both are the same; if not, a few of what only one of them has are told."""
    if isinstance(want, dict) and got != want:
        only = [f"{key}: {got.get(key)}, not {want.get(key)}"
                for key in list(got) + list(want) if got.get(key) != want.get(key)]
        raise AssertionError(f"{what}: {len(only)} differ: " + "; ".join(only[:5]))
    assert got == want, f"{what}: {str(got)[:2000]}, not {str(want)[:2000]}"


# ---- what perf has it as

def parse_script(text):
    """The samples in what "perf script" prints."""
    samples = []
    for block in text.strip("\n").split("\n\n"):
        head, *frames = block.split("\n")
        comm, pid, tid, period, event = re.fullmatch(
            r"(.*?)\s+(\d+)/(\d+)\s+(\d+)\s+(\S+):\s*", head).groups()
        stack = tuple(re.fullmatch(r"\s*[0-9a-f]+ (.*)", frame).group(1) for frame in frames)
        samples.append(Sample(comm, int(pid), int(tid), event, int(period), stack[::-1]))
    return samples


def sums(samples, key):
    """The sum of the periods of all samples of a key, and how many there are."""
    totals = collections.Counter()
    for sample in samples:
        totals[key(sample)] += sample.period
    return dict(totals)


def of_event(event):
    return [sample for sample in SAMPLES if sample.event == event]


FIELDS = ["-F", "comm,pid,tid,event,period,ip,sym"]


def check_recording():
    """perf reads all of it, and sees what the command sees."""
    same("samples", len(SAMPLES), 4000)
    same("events", perf_events(), EVENTS)
    # Of callers in user space perf tells where in their files they are: addresses are not compared.
    same("script", parse_script(pmuctl("script", *FIELDS)), SAMPLES)


def perf_events():
    return run("perf", "evlist", "-i", "perf.data").splitlines()


def check_stream():
    """What goes through a pipe is the same."""
    for words in (["perf"], [PMUCTL]):
        with open("stream.data", "rb") as stream:
            text = run(*words, "script", "-i", "-", "--kallsyms", "kallsyms", *FIELDS, stdin=stream)
        same(f"{words}", parse_script(text), SAMPLES)


def rows_of(text):
    """Rows of a report, whatever their order is where percentages are the same"""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return sorted(lines)


def check_perf_report():
    """The rows of perf's reports are the command's."""
    for words in (["--no-children"], ["--children"]):
        for keys in ("sym", "comm,sym", "comm", "dso"):
            words = words[:1] + ["--stdio", "-g", "none", "-n", "-s", keys]
            got = rows_of(pmuctl("report", *words))
            assert got, "rows"
            same(f"report {words}", got, rows_of(perf("report", *words)))


# ---- folded stacks

def check_folded():
    for event in EVENTS:
        got = {}
        for line in pmuctl("report", "-e", event, "--folded").splitlines():
            stack, period = line.rsplit(" ", 1)
            assert stack not in got, f"{stack} is there twice"
            got[stack] = int(period)
        same(event, got, sums(of_event(event), lambda sample: ";".join((sample.comm,) + sample.stack)))


def check_svg():
    """It is XML; a browser runs the script in it."""
    for event in EVENTS:
        tree = xml.etree.ElementTree.fromstring(pmuctl("report", "-e", event, "--svg", "-"))
        same("the outermost element", tree.tag, "{http://www.w3.org/2000/svg}svg")
        titles = {title.text.split(" (")[0] for title in tree.iter("{http://www.w3.org/2000/svg}title")}
        functions = {name for sample in of_event(event) for name in sample.stack}
        assert titles, "there are no titles"
        missing = {name for name in functions if not any(name in title for title in titles)}
        assert not missing, f"without a title: {missing}"


# ---- pprof

PPROF_ROW = re.compile(r"\s*(\S+)\s+([\d.e-]+)%\s+[\d.e-]+%\s+(\S+)\s+([\d.e-]+)%  (.*)")


def export_pprof(event):
    pmuctl("report", "-e", event, "--format", "pprof", "-o", "profile.pb.gz")


def pprof(*words):
    return run(os.path.join(ROOT, "pprof"), "-symbolize=none", *words, "profile.pb.gz")


def parse_raw(text):
    """Samples and functions of what pprof prints as a profile's parts"""
    stacks, names, part = [], {}, None
    for line in text.splitlines():
        if line in ("Samples:", "Locations", "Mappings"):
            part = line
        elif part == "Samples:" and (found := re.fullmatch(r"\s+(\d+)\s+(\d+): ([\d ]+)", line)):
            stacks.append([int(found[1]), int(found[2]), found[3].split(), {}])
        elif part == "Samples:" and stacks:
            # Labels, of text and of numbers, each line one kind
            stacks[-1][3].update(re.findall(r"(comm|pid|tid):\[(.*?)\](?= \w+:\[|\s*$)", line))
        elif part == "Locations" and (found := re.match(r"\s*(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*?) :0", line)):
            names[found[1]] = found[2]
    return stacks, names


def check_pprof_raw():
    """All stacks, with their threads, to the event"""
    for event in EVENTS:
        export_pprof(event)
        text = pprof("-raw")
        assert f"samples/count {event}/{UNITS[event]}[dflt]" in text, text[:500]
        stacks, names = parse_raw(text)
        got, counts = collections.Counter(), collections.Counter()
        for count, period, locations, labels in stacks:
            key = (labels["comm"], int(labels["pid"]), int(labels["tid"]),
                   tuple(names[number] for number in reversed(locations)))
            got[key] += period
            counts[key] += count
        want = sums(of_event(event), lambda sample: (sample.comm, sample.pid, sample.tid, sample.stack))
        same(event, dict(got), want)
        same("samples", sum(counts.values()), len(of_event(event)))


def pprof_percent(percent):
    """A percentage as pprof prints it"""
    if 99.95 <= percent <= 100.05:
        return "100"
    return f"{percent:.2f}" if percent >= 1 else f"{percent:.2g}"


def check_pprof_top():
    """Its percentages of each function are the command's, of itself and with what it called."""
    for event in EVENTS:
        export_pprof(event)
        text = pprof("-top", "-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-sample_index=1")
        got = {found[5]: (found[2], found[4]) for found in map(PPROF_ROW.fullmatch, text.splitlines())
               if found}
        rows = json.loads(pmuctl("report", "-e", event, "-j", "--children", "-s", "sym"))["events"][0]["rows"]
        same(event, got, {row["symbol"]: (pprof_percent(row["percent"]),
                                          pprof_percent(row["children_percent"])) for row in rows})


def check_pprof_comm():
    """The labels are what pprof can choose by."""
    export_pprof("cpu-clock")
    want = sums(of_event("cpu-clock"), lambda sample: sample.comm)
    for comm, period in want.items():
        text = pprof("-top", "-unit=ns", "-tagfocus=comm=^" + re.escape(comm) + "$", "-sample_index=1")
        total = re.search(r"accounting for (\d+)ns", text)
        same(comm, int(total[1]), period)


# ---- JSON

def export_json(event, form, schema):
    pmuctl("report", "-e", event, "--format", form, "-o", form + ".json")
    return load(form + ".json", schema)


def load(name, schema):
    with open(name, encoding="utf-8") as file:
        data = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(data, schema, cls=jsonschema.Draft7Validator)
    return data


def check_speedscope():
    for event in EVENTS:
        data = export_json(event, "speedscope", schemas.SPEEDSCOPE)
        frames = [frame["name"] for frame in data["shared"]["frames"]]
        got = collections.Counter()
        for profile in data["profiles"]:
            same("unit", profile["unit"], UNITS[event].replace("count", "none"))
            same("weights", len(profile["weights"]), len(profile["samples"]))
            same("endValue", profile["endValue"], sum(profile["weights"]))
            for stack, weight in zip(profile["samples"], profile["weights"]):
                got[(profile["name"], tuple(frames[number] for number in stack))] += weight
        want = sums(of_event(event),
                    lambda sample: (f"{sample.comm} {sample.pid}/{sample.tid}", sample.stack))
        same(event, dict(got), want)


def firefox_stack(thread, number):
    """The names of a stack, of which each comes after its caller"""
    names = []
    while number is not None:
        frame = thread["stackTable"]["frame"][number]
        function = thread["frameTable"]["func"][frame]
        names.append(thread["stringArray"][thread["funcTable"]["name"][function]])
        caller = thread["stackTable"]["prefix"][number]
        assert caller is None or caller < number, "a caller comes behind"
        number = caller
    return tuple(reversed(names))


def check_columns(thread):
    for name, columns in thread.items():
        if isinstance(columns, dict):
            for column, cells in columns.items():
                if isinstance(cells, list):
                    same(f"{name}.{column}", len(cells), columns["length"])


def check_firefox():
    for event in EVENTS:
        data = export_json(event, "firefox", schemas.FIREFOX)
        got = collections.Counter()
        for thread in data["threads"]:
            check_columns(thread)
            same("main", thread["isMainThread"], thread["pid"] == str(thread["tid"]))
            samples = thread["samples"]
            same("times", samples["time"], sorted(samples["time"]))
            for stack, weight in zip(samples["stack"], samples["weight"]):
                got[(thread["name"], int(thread["pid"]), thread["tid"], firefox_stack(thread, stack))] += weight
        want = sums(of_event(event), lambda sample: (sample.comm, sample.pid, sample.tid, sample.stack))
        same(event, dict(got), want)


def check_timeline():
    """In each thread times do not go back, and each end is that of what began last."""
    data = load("timeline.json", schemas.TRACE_EVENTS)
    began, last, named = collections.defaultdict(list), collections.defaultdict(int), {}
    for event in data["traceEvents"]:
        lane = (event["pid"], event["tid"])
        if event["ph"] == "M":
            named[lane + (event["name"],)] = event["args"]["name"]
            continue
        assert event["ts"] >= last[lane], f"{event} goes back"
        last[lane] = event["ts"]
        if event["ph"] == "B":
            began[lane].append(event["name"])
        else:
            same("an end", event["name"], began[lane].pop())
    assert len(last) == 2 and not any(began.values()), f"not ended: {dict(began)}"
    same("names", named, {(70, 70, "process_name"): 'main "1"', (70, 70, "thread_name"): 'main "1"',
                          (70, 71, "thread_name"): "\\worker"})


# ---- OpenMetrics

# As exports.c has it, where what is no text is a '?'
STRANGE = 'a "b\\\nc?ä{},=# '


def client_samples():
    """Each series and its value, as Prometheus' client library for Python has them"""
    with open("metrics", encoding="utf-8", newline="") as file:
        families = list(openmetrics.text_string_to_metric_families(file.read()))
    same("families", [(family.name, family.type, family.unit) for family in families],
         [("pmuctl_events", "counter", ""), ("pmuctl_event_enabled_seconds", "counter", "seconds"),
          ("pmuctl_event_running_seconds", "counter", "seconds"), ("pmuctl_metric", "gauge", ""),
          ("pmuctl_elapsed_seconds", "gauge", "seconds")])
    # A label without a value is none.
    return {(sample.name, tuple(sorted(pair for pair in sample.labels.items() if pair[1]))): sample.value
            for family in families for sample in family.samples}


def check_metrics_client():
    samples = client_samples()
    same("series", len(samples), 3 * 12 + 4 + 1)
    for cpu in range(2):
        for n, cgroup in enumerate(['a.slice/"b\\x2d"', "/"]):
            want = {"instructions": 300 + cpu * 2 + n, "cycles": (2**64 - 1) // 4096 - cpu * 2 - n,
                    STRANGE: 0}
            for event, value in want.items():
                labels = (("cgroup", cgroup), ("cpu", str(cpu)), ("event", event))
                same(event, samples.get(("pmuctl_events_total", labels)), value)
                same(event, samples.get(("pmuctl_event_running_seconds_total", labels)), 2.000000001)
    same("elapsed", samples[("pmuctl_elapsed_seconds", ())], 1.5)


def promtool(*words):
    return run(os.path.join(ROOT, "promtool"), *words)


def check_metrics_prometheus():
    """Prometheus' own parser, and its database; it wants to be told when each was, which is added."""
    with open("metrics", encoding="utf-8", newline="") as file, \
         open("metrics.when", "w", encoding="utf-8", newline="") as out:
        for line in file:
            out.write(line if line.startswith("#") else f"{line[:-1]} {WHEN}\n")
    os.makedirs("blocks/wal")
    promtool("tsdb", "create-blocks-from", "openmetrics", "metrics.when", "blocks")
    got = {}
    for line in promtool("tsdb", "dump", "blocks").splitlines():
        labels, value, when = re.fullmatch(r"\{(.*)\} (\S+) (\d+)", line).groups()
        same("when", int(when), WHEN * 1000)
        # Values are quoted as a Go program is.
        pairs = {name: json.loads(text) for name, text in re.findall(r'(\w+)=("(?:[^"\\]|\\.)*")', labels)}
        got[(pairs.pop("__name__"), tuple(sorted(pairs.items())))] = float(value)
    same("series", got, client_samples())


def check_metrics_lint():
    """
    "promtool check metrics" reads the format before OpenMetrics, in which a counter's name has its
    _total in the line of its help, too: that it lacks that is all that it has to say.
    """
    done = subprocess.run([os.path.join(ROOT, "promtool"), "check", "metrics"], capture_output=True,
                          check=False, input=open("metrics", "rb").read())
    same("what it finds", sorted(done.stderr.decode().splitlines()),
         [f"pmuctl_{name}_total no help text"
          for name in ("event_enabled_seconds", "event_running_seconds", "events")])


CHECKS = [
    ("perf: the recording", check_recording),
    ("perf: the recording as a pipe has it", check_stream),
    ("perf: reports are the same", check_perf_report),
    ("folded stacks are perf's", check_folded),
    ("flame graphs are XML with all functions", check_svg),
    ("pprof: stacks, threads and periods are perf's", check_pprof_raw),
    ("pprof: percentages are those of pmuctl report", check_pprof_top),
    ("pprof: commands can be chosen", check_pprof_comm),
    ("speedscope: the schema; stacks, threads and periods are perf's", check_speedscope),
    ("Firefox Profiler: the schema; stacks, threads and periods are perf's", check_firefox),
    ("Trace Event Format: the schema; each call ends", check_timeline),
    ("OpenMetrics: Prometheus' client for Python", check_metrics_client),
    ("OpenMetrics: Prometheus takes each series", check_metrics_prometheus),
    ("OpenMetrics: promtool check metrics", check_metrics_lint),
]

os.chdir(DIRECTORY)
SAMPLES = parse_script(perf("script", *FIELDS))
PASSED = 0
for what, check in CHECKS:
    try:
        check()
        print("ok  ", what)
        PASSED += 1
    except Exception:  # whatever it is, the others are to run
        print("FAIL", what)
        print("     | " + traceback.format_exc().strip().replace("\n", "\n     | "))
print(f"{PASSED} passed, {len(CHECKS) - PASSED} failed")
sys.exit(PASSED < len(CHECKS))
