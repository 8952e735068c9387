#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ header and the Python module of the wire format from wire/schema.json.

usage: gen_wire.py SCHEMA --cc FILE --py FILE
"""

import argparse
import json
import pathlib

SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i32": 4, "bytes8": 8, "bytes24": 24}
C_TYPES = {"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "i32": "int32_t"}
PY_TYPES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "bytes8": "8s", "bytes24": "24s"}
PAYLOAD = 24
NOTE = "Generated from wire/schema.json by tools/gen_wire.py. Do not edit."


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def check(schema):
    """Refuses a schema whose records do not fit or whose fields are not naturally aligned."""
    for record in schema["records"]:
        offset = PAYLOAD
        for field in record["fields"]:
            size = SIZES[field["type"]]
            align = 1 if field["type"].startswith("bytes") else size
            if offset % align:
                raise SystemExit(f"{record['name']}.{field['name']} is not aligned")
            offset += size
        if offset > schema["record_size"]:
            raise SystemExit(f"record {record['name']} is {offset} bytes, more than {schema['record_size']}")
    numbers = [r["number"] for r in schema["records"]]
    if len(set(numbers)) != len(numbers):
        raise SystemExit("two records share a number")


def cc_field(field):
    kind = field["type"]
    if kind.startswith("bytes"):
        return f"  char {field['name']}[{SIZES[kind]}];"
    return f"  {C_TYPES[kind]} {field['name']};"


def cc_text(schema):
    out = [
        f"// {NOTE}",
        "#ifndef GPUWHY_WIRE_GEN_H_",
        "#define GPUWHY_WIRE_GEN_H_",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "namespace gpuwhy::wire {",
        f"inline constexpr char kMagic[9] = \"{schema['magic']}\";",
        f"inline constexpr uint32_t kVersion = {schema['version']};",
        f"inline constexpr size_t kHeaderSize = {schema['header_size']};",
        f"inline constexpr size_t kRecordSize = {schema['record_size']};",
        f"inline constexpr uint64_t kDefaultCapacity = {schema['default_capacity']};",
        "",
    ]
    for field in schema["header"]:
        out.append(f"inline constexpr size_t kOffset{camel(field['name'])} = {field['offset']};  // {field['doc']}")
    for name, values in schema["enums"].items():
        body = ", ".join(f"k{camel(key)} = {value}" for key, value in values.items())
        out.append(f"\nenum class {camel(name)} : uint32_t {{ {body} }};")
    body = ", ".join(f"k{camel(r['name'])} = {r['number']}" for r in schema["records"])
    out.append(f"\nenum class Type : uint16_t {{ {body} }};")
    common = "\n".join(cc_field(f) for f in schema["common"])
    for record in schema["records"]:
        used = PAYLOAD + sum(SIZES[f["type"]] for f in record["fields"])
        fields = "\n".join(cc_field(f) for f in record["fields"])
        tail = f"\n  char unused[{schema['record_size'] - used}];" if used < schema["record_size"] else ""
        name = camel(record["name"])
        out.append(
            f"\n// {record['doc']}\nstruct {name} {{\n  static constexpr Type kType = Type::k{name};\n{common}\n{fields}{tail}\n}};\n"
            f"static_assert(sizeof({name}) == kRecordSize);"
        )
    out.append(
        f"\n// The part that every record begins with.\nstruct Common {{\n{common}\n"
        f"  char payload[{schema['record_size'] - PAYLOAD}];\n}};\n"
        "static_assert(sizeof(Common) == kRecordSize);"
    )
    out += ["}  // namespace gpuwhy::wire", "#endif  // GPUWHY_WIRE_GEN_H_", ""]
    return "\n".join(out)


def py_text(schema):
    out = [
        f"# {NOTE}",
        f"MAGIC = b\"{schema['magic']}\"",
        f"VERSION = {schema['version']}",
        f"HEADER_SIZE = {schema['header_size']}",
        f"RECORD_SIZE = {schema['record_size']}",
        f"DEFAULT_CAPACITY = {schema['default_capacity']}",
        "",
    ]
    for field in schema["header"]:
        out.append(f"OFFSET_{field['name'].upper()} = {field['offset']}  # {field['doc']}")
    for name, values in schema["enums"].items():
        out.append("")
        out += [f"{name.upper()}_{key.upper()} = {value}" for key, value in values.items()]
    out.append("\n# struct formats behind seq: time_ns, type, flags, tid, then the record's own fields")
    for record in schema["records"]:
        formats = "".join(PY_TYPES[f["type"]] for f in record["fields"])
        out.append(f"TYPE_{record['name'].upper()} = {record['number']}")
        out.append(f"FORMAT_{record['name'].upper()} = \"<QHHI{formats}\"  # {', '.join(f['name'] for f in record['fields'])}")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("schema", type=pathlib.Path)
    parser.add_argument("--cc", type=pathlib.Path)
    parser.add_argument("--py", type=pathlib.Path)
    args = parser.parse_args()
    schema = json.loads(args.schema.read_text())
    check(schema)
    for path, text in ((args.cc, cc_text(schema)), (args.py, py_text(schema))):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)


if __name__ == "__main__":
    main()
