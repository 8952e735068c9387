#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Reads rings as gpuwhy does, straight from wire/schema.json. For tests and by hand: ring_reader.py SPOOL_OR_RING..."""
import json
import pathlib
import struct
import sys

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parents[2] / "wire" / "schema.json").read_text())
FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "bytes8": "8s", "bytes24": "24s"}


class Ring:
    """One ring file: header fields as attributes of `header`, complete records as dictionaries."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.data = self.path.read_bytes()
        self.header = {field["name"]: self._value(field, field["offset"]) for field in SCHEMA["header"]}
        assert self.header["magic"].decode() == SCHEMA["magic"], "the magic is missing"
        assert self.header["version"] == SCHEMA["version"]
        assert len(self.data) == SCHEMA["header_size"] + self.header["capacity"] * SCHEMA["record_size"]
        self.records = list(self._read())

    def _value(self, field, offset):
        return struct.unpack_from("<" + FORMATS[field["type"]], self.data, offset)[0]

    def _read(self):
        names = {record["number"]: record for record in SCHEMA["records"]}
        index = self.header["tail"]
        while True:
            slot = SCHEMA["header_size"] + (index % self.header["capacity"]) * SCHEMA["record_size"]
            record = {field["name"]: self._value(field, slot + field["offset"]) for field in SCHEMA["common"]}
            if record["seq"] != index + 1:
                break
            kind = names.get(record["type"])
            record["name"] = kind["name"] if kind else "unknown"
            offset = slot + 24
            for field in kind["fields"] if kind else ():
                record[field["name"]] = self._value(field, offset)
                offset += struct.calcsize(FORMATS[field["type"]])
            yield record
            index += 1

    def of(self, name):
        return [record for record in self.records if record["name"] == name]

    def blobs(self, kind):
        """[(id, text)] of all complete texts of one kind, in the order of their end."""
        number, parts, done = SCHEMA["enums"]["blob_kind"][kind], {}, []
        for record in self.of("blob"):
            if record["kind"] != number:
                continue
            text = parts.setdefault(record["id"], bytearray())
            assert len(text) == record["offset"], "pieces of a text must follow each other"
            text += record["data"][:record["length"]]
            if len(text) == record["total"]:
                done.append((record["id"], bytes(parts.pop(record["id"])).decode()))
        return done

    def facts(self):
        """The last complete facts text; {} where none was written."""
        texts = self.blobs("facts_json")
        return json.loads(texts[-1][1])["facts"] if texts else {}

    def states(self):
        texts = self.blobs("facts_json")
        return json.loads(texts[-1][1])["states"] if texts else {}

    def gaps(self):
        return [json.loads(text) for _, text in self.blobs("gap_json")]


def rings(spool):
    return [Ring(path) for path in sorted(pathlib.Path(spool).glob("*.ring"))]


def main():
    for argument in sys.argv[1:]:
        path = pathlib.Path(argument)
        for ring in rings(path) if path.is_dir() else [Ring(path)]:
            counts = {}
            for record in ring.records:
                counts[record["name"]] = counts.get(record["name"], 0) + 1
            header = {name: value for name, value in ring.header.items() if isinstance(value, int)}
            print(ring.path.name, header, counts)
            print(json.dumps({"facts": ring.facts(), "states": ring.states(), "gaps": ring.gaps()}, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
