"""What torch reports about the kernels that it made and ran: TorchInductor's provenance, and the events of torch's
profiler.

A profile is {"names": [text], "events": [[category, name, begin, duration, thread, correlation]]}. Category, name
and thread are indices into `names`; times are microseconds since the first event; an event on a card has the
correlation of the call that launched it, and 0 means that there is none. Each run is an event RUN, and an eager node
is an event NODE + its name. With TorchInductor, "kernels" lists its kernels as provenance() names them, in the order
in which a run calls them.
"""

import json
import os
import time

RUN = "fusescope.run"
NODE = "fusescope.node:"
MAPPINGS = "inductor_provenance_tracking_node_mappings.json"
CALLS = ("cuda_runtime", "cuda_driver")
ON_CARD = ("kernel", "gpu_memcpy", "gpu_memset")


def told_of_kernels(config, folder):
    """Returns the settings with which TorchInductor writes, below `folder`, what its kernels are made from."""
    settings = {"trace.enabled": True, "trace.debug_dir": folder, "force_disable_caches": True}
    known = config.get_config_copy()
    if "trace.provenance_tracking_level" in known:
        settings["trace.provenance_tracking_level"] = 1
    elif "trace.provenance_tracking" in known:
        settings["trace.provenance_tracking"] = True
    settings["cpp.enable_kernel_profile"] = True  # otherwise kernels of the CPU have no names in a profile
    return {name: value for name, value in settings.items() if name in known}


def provenance(folder):
    """Returns [{kernels: {name: [nodes after its passes]}, origins: {node: [nodes that it received]}}], one entry
    for each graph that it compiled, in their order."""
    found = []
    for place, _, names in os.walk(folder):
        if MAPPINGS in names:
            path = os.path.join(place, MAPPINGS)
            found.append((os.path.getmtime(path), place, path))
    graphs = []
    for _, _, path in sorted(found):
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        graphs.append({"kernels": told.get("cppCodeToPost", {}), "origins": told.get("postToPre", {})})
    return graphs


def in_order(kernels):
    """Returns the names of kernels ("NAME:7") in the order in which they are called."""

    def number(name):
        words = name.rsplit(":", 1)[-1]
        return int(words) if words.isdigit() else 0

    return sorted(kernels, key=number)


def profiled(torch, run, runs, on_card, folder):
    """Returns (milliseconds of each run except the first, the profile). `run(named)` runs the program; named(name)
    is the context in which a node is run."""
    profiler = torch.profiler
    activities = [profiler.ProfilerActivity.CPU] + ([profiler.ProfilerActivity.CUDA] if on_card else [])
    named = lambda node: profiler.record_function(NODE + node)  # noqa: E731
    ms = []
    run(named)
    with profiler.profile(activities=activities) as seen:
        for _ in range(runs + 1):
            begin = time.perf_counter()
            with profiler.record_function(RUN):
                run(named)
                if on_card:
                    torch.cuda.synchronize()
            ms.append(1e3 * (time.perf_counter() - begin))
    path = os.path.join(folder, "trace.json")
    seen.export_chrome_trace(path)
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return ms[1:], compact(json.load(file))
    finally:
        os.unlink(path)


def compact(trace):
    names, positions = [], {}

    def position(text):
        if text not in positions:
            positions[text] = len(names)
            names.append(text)
        return positions[text]

    events, kept = [], sorted((e for e in trace["traceEvents"] if is_kept(e)), key=lambda e: (e["ts"], -e["dur"]))
    start = kept[0]["ts"] if kept else 0
    for event in outermost(kept):
        correlation = event.get("args", {}).get("correlation", 0)
        row = [position(event["cat"]), position(event["name"]), round(event["ts"] - start, 3), round(event["dur"], 3)]
        events.append([*row, position(str(event.get("tid"))), correlation if isinstance(correlation, int) else 0])
    return {"names": names, "events": events}


def is_kept(event):
    if event.get("ph") != "X" or "dur" not in event:
        return False
    category = event.get("cat")
    return category in ("cpu_op", "user_annotation", *CALLS, *ON_CARD)


def outermost(events):
    """Returns `events`, which are sorted by their beginnings, without operators that another operator called."""
    ends = {}
    for event in events:
        if event["cat"] == "cpu_op":
            if event["ts"] < ends.get(event.get("tid"), 0):
                continue
            if "::" in event["name"]:
                ends[event.get("tid")] = event["ts"] + event["dur"]
        yield event
