# SPDX-License-Identifier: MIT
"""The content hash of a pyarrow table, made from section 29 of docs/FORMAT.md alone. Slow and plain."""
import struct

import blake3
import numpy as np
import pyarrow as pa

FIXED = {pa.int8(): "c", pa.uint8(): "C", pa.int16(): "s", pa.uint16(): "S", pa.int32(): "i", pa.uint32(): "I",
         pa.int64(): "l", pa.uint64(): "L", pa.float16(): "e", pa.float32(): "f", pa.float64(): "g",
         pa.date32(): "tdD", pa.date64(): "tdm", pa.time32("s"): "tts", pa.time32("ms"): "ttm",
         pa.time64("us"): "ttu", pa.time64("ns"): "ttn", pa.duration("s"): "tDs", pa.duration("ms"): "tDm",
         pa.duration("us"): "tDu", pa.duration("ns"): "tDn", pa.month_day_nano_interval(): "tin"}
DECIMAL_BITS = {"decimal32": 32, "decimal64": 64, "decimal128": 128, "decimal256": 256}


def digest(data):
    return blake3.blake3(data).digest()


def number(value):
    return struct.pack("<Q", value)


def string(data):
    data = data.encode() if isinstance(data, str) else data
    return number(len(data)) + data


def is_text(kind):
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def is_bytes(kind):
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)


def is_list(kind):
    return (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_list_view(kind)
            or pa.types.is_large_list_view(kind))


def is_decimal(kind):
    return pa.types.is_decimal(kind)


def decimal_bits(kind):
    return DECIMAL_BITS[str(kind).split("(")[0]]


def format_of(kind):
    """F-452, for a type that is neither encoded nor an extension."""
    if kind in FIXED:
        return FIXED[kind]
    if pa.types.is_null(kind):
        return "n"
    if pa.types.is_boolean(kind):
        return "b"
    if is_decimal(kind):
        return f"d:{kind.precision},{kind.scale},{decimal_bits(kind)}"
    if pa.types.is_timestamp(kind):
        return f"ts{kind.unit[0]}:{kind.tz or ''}"
    if is_text(kind):
        return "u"
    if is_bytes(kind):
        return "z"
    if pa.types.is_fixed_size_binary(kind):
        return f"w:{kind.byte_width}"
    if is_list(kind):
        return "+l"
    if pa.types.is_fixed_size_list(kind):
        return f"+w:{kind.list_size}"
    if pa.types.is_struct(kind):
        return "+s"
    if pa.types.is_map(kind):
        return "+m"
    if pa.types.is_union(kind):
        return "+us:" + ",".join(map(str, kind.type_codes))
    raise NotImplementedError(str(kind))


def extension_of(field):
    """(name, metadata) or None, by what pyarrow makes of a field: a type of its own, or metadata."""
    if isinstance(field.type, pa.BaseExtensionType):
        serialize = getattr(field.type, "__arrow_ext_serialize__", bytes)  # pyarrow's own types lack it: they have none
        return field.type.extension_name.encode(), serialize()
    pairs = field.metadata or {}
    if b"ARROW:extension:name" in pairs:
        return pairs[b"ARROW:extension:name"], pairs.get(b"ARROW:extension:metadata", b"")
    return None


def type_bytes(field, extension=None):
    """T(field)"""
    extension = extension or extension_of(field)
    kind = field.type
    if isinstance(kind, pa.BaseExtensionType):
        return type_bytes(pa.field("", kind.storage_type), extension)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return type_bytes(pa.field("", kind.value_type), extension)
    out = string(format_of(kind))
    out += b"\0" if extension is None else b"\1" + string(extension[0]) + string(extension[1])
    if pa.types.is_map(kind):
        children = [kind.key_field, kind.item_field]
    elif is_list(kind) or pa.types.is_fixed_size_list(kind):
        children = [kind.value_field]
    elif pa.types.is_struct(kind) or pa.types.is_union(kind):
        children = [kind.field(i) for i in range(kind.num_fields)]
    else:
        children = []
    out += number(len(children))
    for child in children:
        if pa.types.is_struct(kind) or pa.types.is_union(kind):
            out += string(child.name)
        out += type_bytes(child)
    return out


# A node's rows are a list of places (array, index); index None is a null that an encoding made.

def resolve(place):
    """Through extension types, dictionaries and runs, to the value's own array."""
    array, i = place
    while i is not None:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif pa.types.is_dictionary(array.type):
            index = array.indices[i].as_py()
            array, i = array.dictionary, index
        elif pa.types.is_run_end_encoded(array.type):
            ends = np.asarray(array.run_ends)
            i = int(np.searchsorted(ends, array.offset + i, side="right"))
            array = array.values
        else:
            break
    return array, i


def is_null(array, i):
    if i is None or pa.types.is_null(array.type):
        return True
    if pa.types.is_union(array.type):
        return False
    bits = array.buffers()[0]
    at = array.offset + i
    return bits is not None and not (bits[at >> 3] >> (at & 7)) & 1


def raw(buffer, at, width):
    return buffer[at * width:(at + 1) * width].to_pybytes() if isinstance(buffer, pa.Buffer) else b""


def fixed_value(array, i):
    kind = array.type
    width = decimal_bits(kind) // 8 if is_decimal(kind) else kind.bit_width // 8
    return raw(array.buffers()[1], array.offset + i, width) if width else b""


def null_runs(nulls):
    out, begin = b"", None
    for at, null in enumerate(list(nulls) + [False]):
        if null and begin is None:
            begin = at
        elif not null and begin is not None:
            out += number(begin) + number(at - begin)
            begin = None
    return out


def plain(kind):
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def items_of(array, i):
    """(child, first, count) of a list's slot."""
    at, buffers = array.offset + i, array.buffers()
    kind = array.type
    wide = pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind)
    letter, width = ("<q", 8) if wide else ("<i", 4)
    first = struct.unpack(letter, raw(buffers[1], at, width))[0]
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        count = struct.unpack(letter, raw(buffers[2], at, width))[0]
    else:
        count = struct.unpack(letter, raw(buffers[1], at + 1, width))[0] - first
    return first, count


def union_slot(array, i):
    return struct.unpack("<i", raw(array.buffers()[2], array.offset + i, 4))[0]


def streams(kind, places):
    """S(node) for rows of a type."""
    kind = plain(kind)
    rows = [resolve(place) for place in places]
    nulls = [is_null(array, i) for array, i in rows]
    there = [row for row, null in zip(rows, nulls) if not null]
    out = digest(null_runs(nulls))
    if pa.types.is_boolean(kind):
        return out + digest(bytes(array[i].as_py() for array, i in there))
    if kind in FIXED or is_decimal(kind) or pa.types.is_timestamp(kind) or pa.types.is_fixed_size_binary(kind):
        return out + digest(b"".join(fixed_value(array, i) for array, i in there))
    if is_text(kind) or is_bytes(kind):
        values = [array[i].as_buffer().to_pybytes() for array, i in there]
        return out + digest(b"".join(number(len(v)) for v in values)) + digest(b"".join(values))
    if is_list(kind) or pa.types.is_map(kind):
        lists = [(array, *items_of(array, i)) for array, i in there]
        out += digest(b"".join(number(count) for _, _, count in lists))
        if pa.types.is_map(kind):
            for side, child in (("keys", kind.key_type), ("items", kind.item_type)):
                out += streams(child, [(getattr(array, side), first + k) for array, first, count in lists
                                       for k in range(count)])
            return out
        return out + streams(kind.value_type, [(array.values, first + k) for array, first, count in lists
                                               for k in range(count)])
    if pa.types.is_fixed_size_list(kind):
        return out + streams(kind.value_type, [(array.values, (array.offset + i) * kind.list_size + k)
                                               for array, i in there for k in range(kind.list_size)])
    if pa.types.is_struct(kind):
        for n in range(kind.num_fields):
            out += streams(kind.field(n).type, [(array.field(n), i) for array, i in there])
        return out
    if pa.types.is_union(kind):
        codes = [array.buffers()[1][array.offset + i] for array, i in there]  # type_codes forgets the offset
        out += digest(bytes(codes))
        dense = kind.mode == "dense"
        for n, code in enumerate(kind.type_codes):
            mine = [row for row, c in zip(there, codes) if c == code]
            out += streams(kind.field(n).type,
                           [(array.field(n), union_slot(array, i) if dense else i) for array, i in mine])
        return out
    return out


def column_hash(field, chunks):
    places = [(chunk, i) for chunk in chunks for i in range(len(chunk))]
    return digest(b"ald.column.1\0" + type_bytes(field) + streams(field.type, places))


def content_hash(table):
    """64 hexadecimal digits."""
    out = b"ald.content.1\0" + number(table.num_rows) + number(table.num_columns)
    for field, column in zip(table.schema, table.columns):
        out += string(field.name) + column_hash(field, column.chunks)
    return digest(out).hex()
