# SPDX-License-Identifier: MIT
"""Values of Arrow's integration JSON, and of pyarrow arrays taken from their buffers, in one plain notation.

A table is (names, columns); a column is a list with one value a row: None, bool, int, float (as the type's bits), bytes
(binary and text), list, dict keyed by position (structs), (type id, value) (unions). Dates, times, decimals and intervals
are the integers that the format stores, so nothing is lost on the way through Python's own types.
"""
import struct

import numpy as np
import pyarrow as pa

FLOATS = {"HALF": "<e", "SINGLE": "<f", "DOUBLE": "<d"}


# ---- JSON

def json_float(value, code):
    if isinstance(value, str):
        value = float(value)
    return struct.pack(code, value)


def json_interval(value):
    if isinstance(value, dict):
        return tuple(int(value[key]) for key in ("months", "days", "milliseconds", "nanoseconds") if key in value)
    return int(value)


def json_view(view, column, is_text):
    if "INLINED" in view:
        return view["INLINED"].encode() if is_text else bytes.fromhex(view["INLINED"])
    data = bytes.fromhex(column["VARIADIC_DATA_BUFFERS"][view["BUFFER_INDEX"]])
    return data[view["OFFSET"]:view["OFFSET"] + view["SIZE"]]


def json_leaf(kind, column):
    name = kind["name"]
    if name in ("utf8view", "binaryview"):
        return [json_view(view, column, name == "utf8view") for view in column["VIEWS"]]
    data = column["DATA"]
    if name == "bool":
        return [bool(v) for v in data]
    if name == "floatingpoint":
        return [json_float(v, FLOATS[kind["precision"]]) for v in data]
    if name in ("utf8", "largeutf8"):
        return [v.encode() for v in data]
    if name in ("binary", "largebinary", "fixedsizebinary"):
        return [bytes.fromhex(v) for v in data]
    if name == "interval":
        return [json_interval(v) for v in data]
    return [int(v) for v in data]


def json_union(field, column, dictionaries):
    children = [json_column(f, c, dictionaries) for f, c in zip(field["children"], column["children"])]
    place = {number: i for i, number in enumerate(field["type"]["typeIds"])}
    dense = field["type"]["mode"] == "DENSE"
    rows = []
    for i, number in enumerate(column["TYPE_ID"]):
        row = int(column["OFFSET"][i]) if dense else i
        rows.append((number, children[place[number]][row]))
    return rows


def json_runs(field, column, dictionaries):
    ends, values = (json_column(f, c, dictionaries) for f, c in zip(field["children"], column["children"]))
    rows, run = [], 0
    for i in range(column["count"]):
        while ends[run] <= i:
            run += 1
        rows.append(values[run])
    return rows


def json_nested(field, column, dictionaries):
    name, count = field["type"]["name"], column["count"]
    children = [json_column(f, c, dictionaries) for f, c in zip(field["children"], column["children"])]
    if name == "struct":
        return [{k: child[i] for k, child in enumerate(children)} for i in range(count)]
    if name == "fixedsizelist":
        size = field["type"]["listSize"]
        return [children[0][i * size:(i + 1) * size] for i in range(count)]
    offsets = [int(v) for v in column["OFFSET"]]
    if name in ("listview", "largelistview"):
        sizes = [int(v) for v in column["SIZE"]]
        return [children[0][o:o + n] for o, n in zip(offsets, sizes)]
    return [children[0][offsets[i]:offsets[i + 1]] for i in range(count)]


NESTED = {"struct", "list", "largelist", "map", "fixedsizelist", "listview", "largelistview"}


def json_column(field, column, dictionaries):
    kind = field["type"]["name"]
    if "dictionary" in field:
        plain = {key: value for key, value in field.items() if key != "dictionary"}
        data = dictionaries[field["dictionary"]["id"]]
        values = json_column(plain, data["columns"][0], dictionaries)
        rows = [values[int(i)] if ok else None for i, ok in zip(column["DATA"], column["VALIDITY"])]
        return rows
    if kind == "null":
        return [None] * column["count"]
    if kind == "union":
        return json_union(field, column, dictionaries)
    if kind == "runendencoded":
        return json_runs(field, column, dictionaries)
    rows = json_nested(field, column, dictionaries) if kind in NESTED else json_leaf(field["type"], column)
    validity = column.get("VALIDITY", [1] * len(rows))
    return [row if ok else None for row, ok in zip(rows, validity)]


def json_table(document):
    """(names, columns) of a whole document, batches joined"""
    fields = document["schema"]["fields"]
    dictionaries = {item["id"]: item["data"] for item in document.get("dictionaries", [])}
    columns = [[] for _ in fields]
    for batch in document["batches"]:
        for rows, field, column in zip(columns, fields, batch["columns"]):
            rows.extend(json_column(field, column, dictionaries))
    return [field["name"] for field in fields], columns


# ---- pyarrow

def bits(buffer, array):
    if buffer is None:
        return [True] * len(array)
    data = np.frombuffer(buffer, dtype=np.uint8)
    return np.unpackbits(data, bitorder="little")[array.offset:array.offset + len(array)].astype(bool).tolist()


def fixed_rows(array, width):
    data = array.buffers()[1]
    raw = b"" if data is None else data.to_pybytes()
    return [raw[i * width:(i + 1) * width] for i in range(array.offset, array.offset + len(array))]


def string_rows(array, code, width):
    _, offsets, data = array.buffers()[:3]
    if offsets is None or len(array) == 0:
        return []
    ends = struct.unpack_from(f"<{len(array) + 1}{code}", offsets.to_pybytes(), array.offset * width)
    raw = b"" if data is None else data.to_pybytes()
    return [raw[a:b] for a, b in zip(ends, ends[1:])]


def view_rows(array):
    buffers = array.buffers()
    data = [b"" if b is None else b.to_pybytes() for b in buffers[2:]]
    rows = []
    for view in fixed_rows(array, 16):
        size, = struct.unpack_from("<i", view)
        number, offset = struct.unpack_from("<ii", view, 8)
        rows.append(view[4:4 + size] if 0 <= size <= 12 else data[number][offset:offset + size] if 0 <= number < len(data)
                    else b"")
    return rows


def leaf_rows(array):
    kind = array.type
    if pa.types.is_boolean(kind):
        return bits(array.buffers()[1], array)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return view_rows(array)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return string_rows(array, "i", 4)
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return string_rows(array, "q", 8)
    rows = fixed_rows(array, kind.bit_width // 8)
    if pa.types.is_floating(kind) or pa.types.is_fixed_size_binary(kind) and not pa.types.is_decimal(kind):
        return rows
    if pa.types.is_interval(kind):
        return [struct.unpack("<iiq", row) for row in rows]
    return [int.from_bytes(row, "little", signed=not pa.types.is_unsigned_integer(kind)) for row in rows]


def list_rows(array):
    kind, values = array.type, arrow_rows(array.values)
    if pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        return [values[i * size:(i + 1) * size] for i in range(array.offset, array.offset + len(array))]
    offsets = array.offsets.to_pylist()
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return [values[o:o + n] if ok else None
                for o, n, ok in zip(offsets, array.sizes.to_pylist(), bits(array.buffers()[0], array))]
    return [values[a:b] for a, b in zip(offsets, offsets[1:])]


def union_rows(array):
    kind = array.type
    children = [arrow_rows(array.field(i)) for i in range(kind.num_fields)]
    place = {number: i for i, number in enumerate(kind.type_codes)}
    # From the buffers: pyarrow's own accessors crash on empty unions without buffers.
    buffers = array.buffers()
    numbers = struct.unpack_from(f"<{len(array)}b", buffers[1].to_pybytes(), array.offset) if len(array) > 0 else ()
    rows = range(len(array))
    if kind.mode == "dense" and len(array) > 0:
        rows = struct.unpack_from(f"<{len(array)}i", buffers[2].to_pybytes(), array.offset * 4)
    return [(number, children[place[number]][row]) for number, row in zip(numbers, rows)]


def run_rows(array):
    ends, values, rows, run = arrow_rows(array.run_ends), arrow_rows(array.values), [], 0
    for i in range(array.offset, array.offset + len(array)):
        while ends[run] <= i:
            run += 1
        rows.append(values[run])
    return rows


def is_list(kind):
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_map,
                                       pa.types.is_list_view, pa.types.is_large_list_view))


def arrow_rows(array):
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return arrow_rows(array.storage)
    if pa.types.is_null(kind):
        return [None] * len(array)
    if pa.types.is_union(kind):
        return union_rows(array)
    if pa.types.is_run_end_encoded(kind):
        return run_rows(array)
    if pa.types.is_dictionary(kind):
        values = arrow_rows(array.dictionary)
        return [None if i is None else values[i] for i in arrow_rows(array.indices)]
    if pa.types.is_struct(kind):
        children = [arrow_rows(array.field(i)) for i in range(kind.num_fields)]
        rows = [{k: child[i] for k, child in enumerate(children)} for i in range(len(array))]
    else:
        rows = list_rows(array) if is_list(kind) else leaf_rows(array)
    return [row if ok else None for row, ok in zip(rows, bits(array.buffers()[0], array))]


def first_difference(got, want):
    """None when two columns are equal, else a line about the first row that differs"""
    if len(got) != len(want):
        return f"{len(got)} rows, wanted {len(want)}"
    for i, (a, b) in enumerate(zip(got, want)):
        if a != b:
            return f"row {i} is {a!r}, wanted {b!r}"
    return None
