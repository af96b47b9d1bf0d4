"""Reads a memory snapshot as Python does, holds it against the rules of PyTorch's viewer and prints
it as JSON. The rules are restated here from what the viewer does, not shared with what writes."""

import json
import pickle
import pickletools
import sys

# What the viewer's own reader of pickles knows.
OPCODES = set(
    "PROTO FRAME MARK STOP NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 BINFLOAT "
    "SHORT_BINUNICODE BINUNICODE EMPTY_LIST APPEND APPENDS LIST EMPTY_DICT SETITEM SETITEMS DICT "
    "EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 BINPUT LONG_BINPUT MEMOIZE BINGET LONG_BINGET".split()
)


def check_opcodes(data):
    depth_of_marks, batch = [], 0
    stack = []  # values pushed since each mark
    for opcode, argument, position in pickletools.genops(data):
        name = opcode.name
        assert name in OPCODES, f"{name} at {position}"
        if name == "PROTO":
            assert 2 <= argument <= 4, argument
        if name == "LONG1":
            assert abs(argument) < 2**53, argument
        if name == "MARK":
            stack.append(0)
            continue
        pushes = len(opcode.stack_after) and name not in ("APPENDS", "SETITEMS", "BINPUT", "LONG_BINPUT")
        if name in ("APPENDS", "SETITEMS"):
            batch = stack.pop()
            assert name != "APPENDS" or batch <= 1000, f"a batch of {batch} at {position}"
        elif name == "TUPLE2":
            stack[-1] -= 1
        elif pushes and stack and name != "STOP":
            stack[-1] += 1


def fold(trace):
    """free_requested and free_completed of one address, one after the other, are one event."""
    result = []
    for event in trace:
        if (
            event["action"] == "free_completed"
            and result
            and result[-1]["action"] == "free_requested"
            and result[-1]["addr"] == event["addr"]
        ):
            result[-1]["action"] = "free"
        else:
            result.append(dict(event))
    return result


def walk_backwards(snapshot, device):
    """The viewer knows the end, and undoes one event after the other."""
    segments, blocks = [], {}
    for segment in snapshot["segments"]:
        assert segment["device"] == device
        segments.append([segment["address"], segment["total_size"]])
        at = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == at and block["size"] > 0
            assert block["requested_size"] <= block["size"]
            if block["state"] == "active_allocated":
                assert block["frames"], "a live block without a frame"
                blocks[at] = block["size"]
            at += block["size"]
        assert at == segment["address"] + segment["total_size"], "blocks do not fill the segment"
        live = [b for b in segment["blocks"] if b["state"] == "active_allocated"]
        assert segment["allocated_size"] == segment["active_size"] == sum(b["size"] for b in live)
        assert segment["requested_size"] == sum(b["requested_size"] for b in live)

    def draw():
        for address in blocks:
            assert any(a <= address < a + size for a, size in segments), "a block without a segment"

    draw()
    for event in reversed(fold(snapshot["device_traces"][device])):
        action = event["action"]
        if action == "free":
            blocks[event["addr"]] = event["size"]
        elif action == "alloc":
            del blocks[event["addr"]]
        elif action in ("segment_free", "segment_unmap"):
            segments.append([event["addr"], event["size"]])
            if action == "segment_unmap":
                join(segments)
        elif action == "segment_alloc":
            segments.remove([event["addr"], event["size"]])
        elif action == "segment_map":
            cut(segments, event["addr"], event["size"])
        else:
            assert action in ("oom", "snapshot"), action
        draw()
    known = any(e["action"].startswith("segment") for e in snapshot["device_traces"][device])
    assert not blocks and (not segments or not known), "something was there before the recording"


def join(segments):
    segments.sort()
    joined = []
    for address, size in segments:
        if joined and joined[-1][0] + joined[-1][1] == address:
            joined[-1][1] += size
        else:
            joined.append([address, size])
    segments[:] = joined


def cut(segments, address, size):
    for segment in segments:
        if segment[0] <= address and address + size <= segment[0] + segment[1]:
            end = segment[0] + segment[1]
            segments.remove(segment)
            if segment[0] < address:
                segments.append([segment[0], address - segment[0]])
            if address + size < end:
                segments.append([address + size, end - address - size])
            return
    raise AssertionError("a map outside of every segment")


def check_annotations(annotations):
    open_names, time = [], 0
    for annotation in annotations:
        assert annotation["time_us"] >= time
        time = annotation["time_us"]
        if annotation["stage"] == "START":
            open_names.append(annotation["name"])
        else:
            assert annotation["stage"] == "END" and open_names.pop() == annotation["name"]
    assert not open_names


def main():
    data = open(sys.argv[1], "rb").read()
    check_opcodes(data)
    snapshot = pickle.loads(data)
    for trace in snapshot["device_traces"]:
        categories = {event["category"] for event in trace}
        assert "unknown" in categories, categories
        for event in trace:
            assert event["frames"] and event["stream"] == 0
            assert ("addr" in event) != (event["action"] == "oom")
            for frame in event["frames"]:
                assert isinstance(frame["name"], str) and isinstance(frame["filename"], str)
                assert isinstance(frame["line"], int)
    walk_backwards(snapshot, 0)
    check_annotations(snapshot["external_annotations"])
    print(json.dumps(snapshot, sort_keys=True))


main()
