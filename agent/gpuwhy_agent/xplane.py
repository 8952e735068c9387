# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Reads tf.data's events out of a serialised XSpace, in slices, so that no step of the job is held up.

Field numbers: xplane.proto of OpenXLA (tsl/profiler/protobuf). XSpace.planes 1; XPlane: name 2, lines 3, event_metadata 4;
XLine: name 2, events 4; XEvent: metadata_id 1, duration_ps 3; XEventMetadata: id 1, name 2.
"""

EVENTS_A_SLICE = 500
# tf.data gives kernels of one input thread these names: IteratorGetNext, IteratorGetNextAsOptional, IteratorGetNextSync.
GET_NEXT = "IteratorGetNext"
ITERATOR = "Iterator::"


def varint(data, position):
    """(value, next position); IndexError on a torn number."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError("a number longer than 64 bits")


def fields(data, position, end):
    """Yields (number, value) of one message; the value of a length-delimited field is (start, end)."""
    while position < end:
        tag, position = varint(data, position)
        kind = tag & 7
        if kind == 0:
            value, position = varint(data, position)
        elif kind == 2:
            size, position = varint(data, position)
            value = (position, position + size)
            position += size
        elif kind in (1, 5):
            value = None
            position += 8 if kind == 1 else 4
        else:
            raise ValueError("wire type %d" % kind)
        if position > end:
            raise ValueError("a field runs over the end of its message")
        yield tag >> 3, value


def _metadata(data, span):
    """(id, name) of one entry of the map event_metadata."""
    identity, name = 0, ""
    for number, value in fields(data, *span):
        if number == 1:
            identity = value
        elif number == 2:
            for inner, inner_value in fields(data, *value):
                if inner == 1:
                    identity = inner_value
                elif inner == 2:
                    name = bytes(data[inner_value[0]:inner_value[1]]).decode("utf-8", "replace")
    return identity, name


def _is_input(name):
    return name.startswith(GET_NEXT) or ITERATOR in name


def read(data, totals):
    """Generator: adds up {name: [seconds, count]} of input events into `totals`, giving way after every few events."""
    seen = 0
    for number, plane in fields(data, 0, len(data)):
        if number != 1:
            continue
        names, lines = {}, []
        for inner, value in fields(data, *plane):
            if inner == 3:
                lines.append(value)
            elif inner == 4:
                identity, name = _metadata(data, value)
                if _is_input(name):
                    names[identity] = name.split("#")[0]
                seen += 1
                if seen % EVENTS_A_SLICE == 0:
                    yield seen
        if not names:
            continue
        for line in lines:
            for inner, event in fields(data, *line):
                if inner == 4:
                    _add_event(data, event, names, totals)
                    seen += 1
                    if seen % EVENTS_A_SLICE == 0:
                        yield seen


def _add_event(data, event, names, totals):
    start, end = event
    # metadata_id comes first in what every writer produces; anything else is read in full.
    if start < end and data[start] == 8:
        identity, _ = varint(data, start + 1)
        if identity not in names:
            return
    identity = duration = 0
    for number, value in fields(data, start, end):
        if number == 1:
            identity = value
        elif number == 3:
            duration = value
    if identity in names:
        entry = totals.setdefault(names[identity], [0.0, 0])
        entry[0] += duration / 1e12
        entry[1] += 1
