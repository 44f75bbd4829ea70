# SPDX-License-Identifier: MIT
"""Packed chunks, rebuilt from section 26 of docs/FORMAT.md alone: slow, one value at a time, independent of the C code."""
import struct
from itertools import accumulate

import lz4.frame
import pyarrow as pa
import zstandard

from ald_bytes import BATCH, DICTIONARY, Message, buffer_count, inflate, need, tree_of, unpack

MOST = 1 << 27  # F-402
SLOTS_MOST = 1 << 30  # F-408
NAMES = ("RAW", "INTS", "DICT", "DECIMAL", "PLANES", "LENS", "STR", "STRFIX", "STRDICT", "STRNUM", "STRFRONT")


def frame(compression, data, size):  # F-406
    if compression == 4:
        need(len(data) >= 4 and data[:4] == b"\x28\xb5\x2f\xfd", "no zstd frame")
        try:
            head = zstandard.get_frame_parameters(data[:32])
        except zstandard.ZstdError:
            need(False, "a zstd frame's head")
        need(head.has_checksum and head.content_size == size, "a zstd frame's checksum flag or size")
    else:
        need(len(data) >= 7 and data[:4] == b"\x04\x22\x4d\x18", "no LZ4 frame")
        need(data[4] & 4, "an LZ4 frame without checksum")
        need((unpack("Q", data, 6) if data[4] & 8 and len(data) >= 14 else 0) == size, "an LZ4 frame's size")
        try:
            lz4.frame.get_frame_info(data)
        except RuntimeError:
            need(False, "an LZ4 frame's head")
    whole = 1 if compression == 4 else 3
    one = Stream(inflate(whole, data, size))
    need(single(compression, data), "more than one frame")
    return one


def single(compression, data):
    """Whether the first frame is all of it."""
    if compression == 4:
        d = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
    else:
        d = lz4.frame.LZ4FrameDecompressor()
    d.decompress(data)
    return d.eof and not d.unused_data


class Stream:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        need(n <= len(self.data) - self.at, "a stream past its end")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def end(self, what):
        need(self.at == len(self.data), f"bytes left over: {what}")

    def planes(self, n, bits):  # F-412
        values = [0] * n
        for j in range(bits // 8):
            for i, byte in enumerate(self.take(n)):
                values[i] |= byte << 8 * j
        shift = bits // 8 * 8
        for k in (4, 2, 1):
            if bits & k:
                plane = self.take((n * k + 7) // 8)
                for i in range(n):
                    values[i] |= (plane[i * k // 8] >> k * (i % (8 // k)) & (1 << k) - 1) << shift
                need(not plane or n * k % 8 == 0 or plane[-1] >> n * k % 8 == 0, "spare bits")
                shift += k
        return values

    def transposed(self, n, width):
        planes = [self.take(n) for _ in range(width)]
        return [bytes(p[i] for p in planes) for i in range(n)]


class Ints:  # F-411
    def __init__(self, table, width):
        self.width, self.flags, self.bits = width, table.number(1), table.number(1)
        need(self.flags & ~0x77 == 0 and not (self.flags & 1 and self.flags & 4), "flags of numbers")
        need(self.flags & 1 or not self.flags & 64, "start without delta")
        need(self.bits <= 8 * width, "bits of numbers")
        self.base = table.number(width) if self.flags & 16 else 0
        self.factor = table.number(width) if self.flags & 32 else 1
        self.start = table.number(width) if self.flags & 64 else 0
        self.stride = table.number(4) if self.flags & 4 else 0
        need(self.factor and (self.stride or not self.flags & 4), "factor or stride of 0")

    def values(self, stream, n):
        mask, out, before = (1 << 8 * self.width) - 1, [], self.start
        for i, x in enumerate(stream.planes(n, self.bits)):
            if self.flags & 2:
                x = x >> 1 ^ -(x & 1)
            x = (x * self.factor + self.base) & mask
            if self.flags & 1:
                x = before = (before + x) & mask
            elif self.stride and i >= self.stride:
                x = (out[i - self.stride] + x) & mask
            out.append(x)
        return out


class Node:
    """A field node: what FORMAT.md asks of its buffers, and where they are in the body."""

    def __init__(self, kind, length, nulls):
        kind = kind.index_type if pa.types.is_dictionary(kind) else kind
        self.kind, self.n, self.nulls, self.places = kind, length, nulls, []
        t = pa.types
        self.is_text = t.is_string(kind) or t.is_large_string(kind) or kind.id in (pa.binary().id, pa.large_binary().id)
        self.is_list = t.is_list(kind) or t.is_large_list(kind) or t.is_map(kind)
        self.is_float = t.is_float32(kind) or t.is_float64(kind)
        large = t.is_large_list(kind) or t.is_large_string(kind) or kind.id == pa.large_binary().id
        self.offset = (8 if large else 4) if self.is_text or self.is_list else 0
        fixed = (t.is_primitive(kind) or t.is_decimal(kind) or t.is_fixed_size_binary(kind) or t.is_interval(kind))
        self.width = kind.bit_width // 8 if fixed and not t.is_boolean(kind) else 0
        self.has_validity = not (t.is_null(kind) or t.is_union(kind) or t.is_run_end_encoded(kind))
        self.child = None

    def exact(self, i):
        """The size of buffer i behind the validity, or None: any (F-408)."""
        if pa.types.is_boolean(self.kind):
            return (self.n + 7) // 8
        if self.width or pa.types.is_fixed_size_binary(self.kind):
            return self.n * self.width
        return (self.n + 1) * self.offset if self.offset and i == 0 else None

    def check(self):
        for i, (_, size) in enumerate(self.places):
            if self.has_validity and i == 0:
                need(size in (0, (self.n + 7) // 8), "a validity's size")
                need(self.n <= SLOTS_MOST or not size, "too many slots")
                continue
            need(self.n <= SLOTS_MOST, "too many slots")
            want = self.exact(i - self.has_validity)
            need(want is None or size == want, "a buffer's size")


def nodes_of(schema, message):
    _, _, buffers, variadic = message.batch()
    lengths = message.header.vector(1, "qq")
    kinds = [k for f in schema for k in tree_of(f.type)]
    need(len(kinds) == len(lengths), "number of field nodes")
    nodes, buffers, variadic, end = [], iter(buffers), iter(variadic), 0
    for kind, (length, nulls) in zip(kinds, lengths):
        need(0 <= nulls <= length, "a node's null count")
        node = Node(kind, length, nulls)
        if nodes and nodes[-1].is_list:
            nodes[-1].child = length
        count = buffer_count(kind)
        if kind.id in (pa.string_view().id, pa.binary_view().id):
            count += next(variadic, 0)
        for _ in range(count):
            place = next(buffers, None)
            need(place is not None and place[0] == end, "a buffer's place")
            node.places.append(place)
            end = (sum(place) + 7) // 8 * 8
        node.check()
        nodes.append(node)
    need(next(buffers, None) is None and next(variadic, None) is None, "too many buffers")
    return nodes, end


def valid_of(node, stream):
    """Whether each slot has a value (F-413), and the validity's bytes."""
    if not node.has_validity or not node.places[0][1]:
        return [True] * node.n, b""
    raw = stream.take(node.places[0][1])
    bits = [bool(raw[i // 8] >> i % 8 & 1) for i in range(node.n)]
    need(sum(bits) == node.n - node.nulls, "ones of a validity")
    return bits, raw


class Entry:  # F-410, F-415
    def __init__(self, table, node):
        self.id = table.number(1)
        fixed, text = node.width, node.is_text
        numbers = fixed in (1, 2, 4, 8, 16)
        suits = (True, numbers, numbers and fixed > 1, node.is_float, 2 <= fixed <= 255, node.is_list, text, text, text, text, text)
        need(self.id < len(NAMES) and suits[self.id], f"filter {self.id} for {node.kind}")
        w = min(node.width, 8)
        if self.id == 1:
            self.ints = Ints(table, w)
        elif self.id == 2:
            self.count, self.bits, self.ints = table.number(4), table.number(1), Ints(table, w)
        elif self.id == 3:
            self.e, self.count = table.number(1), table.number(4)
            need(self.e <= 22, "e")
            if self.count:
                self.positions, self.raw = Ints(table, 4), Ints(table, w)
            self.ints = Ints(table, w)
        elif self.id in (5, 6):
            self.ints = Ints(table, 4)
        elif self.id == 7:
            self.length = table.number(1)
            need(self.length, "L = 0")
        elif self.id == 8:
            self.words(table)
        elif self.id == 9:
            self.j, self.templates, self.by_words = table.number(1), table.number(4), table.number(1)
            need(1 <= self.j <= 12 and self.by_words <= 1, "J or d")
            if self.by_words:
                self.words(table)
                need(self.bytes <= self.templates, "a dictionary larger than its templates")
            else:
                self.ints = Ints(table, 4)
            self.slots = [(table.number(4), Ints(table, 8)) for _ in range(self.j)]
            need(sum(c for c, _ in self.slots) <= self.templates, "more values than bytes")
        elif self.id == 10:
            self.bytes, self.shared, self.rest = table.number(4), Ints(table, 4), Ints(table, 4)
        need(self.id not in (2, 8) and not (self.id == 9 and self.by_words) or self.bits <= 16, "index bits")

    def words(self, table):
        self.count, self.bytes, self.bits, self.ints = table.number(4), table.number(4), table.number(1), Ints(table, 4)


def cut(text, lengths):
    need(sum(lengths) == len(text), "lengths that do not add up")
    ends = list(accumulate(lengths))
    return [text[e - n:e] for e, n in zip(ends, lengths)]


def look_up(stream, entry, values, n):
    need(entry.count <= n and entry.count <= 65536, "D")
    indices = stream.planes(n, entry.bits)
    need(all(i < len(values) for i in indices), "an index past its dictionary")
    return [values[i] for i in indices]


def decimals(stream, entry, node, n):  # F-414
    w = node.width
    need(entry.count <= n, "x")
    positions = raw = ()
    if entry.count:
        positions = entry.positions.values(stream, entry.count)
        need(all(a < b for a, b in zip(positions, positions[1:])) and positions[-1] < n, "positions")
        raw = entry.raw.values(stream, entry.count)
    out = []
    for k in entry.ints.values(stream, n):
        k -= (k >> 8 * w - 1) << 8 * w
        need(abs(k) < 1 << 51, "k")
        out.append(struct.pack("<f" if w == 4 else "<d", k / float(f"1e{entry.e}")))
    for p, v in zip(positions, raw):
        out[p] = v.to_bytes(w, "little")
    return out


def numbered(entry, templates, stream, room):  # F-416
    need(sum(map(len, templates)) == entry.templates, "bytes of templates")
    need(all(c <= len(templates) for c, _ in entry.slots), "c")
    slots = [iter(ints.values(stream, c)) for c, ints in entry.slots]
    out = []
    for t in templates:
        made, slot = bytearray(), 0
        for byte in t:
            if byte != 1 and not 15 <= byte <= 31:
                made.append(byte)
                continue
            need(slot < entry.j, "a marker beyond the slots")
            v = next(slots[slot], None)
            slot += 1
            need(v is not None, "a slot without values")
            need(byte == 1 or v < 10 ** (byte - 14), "a number too large for its digits")
            made += b"%d" % v if byte == 1 else b"%0*d" % (byte - 14, v)
            need(len(made) <= room, "text past the column")
        out.append(bytes(made))
    need(all(next(s, None) is None for s in slots), "values left over")
    return out


def strings(stream, entry, n, size):  # F-415 to F-417
    if entry.id == 6:
        lengths = entry.ints.values(stream, n)
        need(sum(lengths) == size, "lengths")
        return cut(stream.take(size), lengths)
    if entry.id == 7:
        need(entry.length * n == size, "L")
        return stream.transposed(n, entry.length)
    if entry.id == 10:
        need(entry.bytes <= size, "bytes")
        shared, rests = entry.shared.values(stream, n), entry.rest.values(stream, n)
        out, before = [], b""
        for k, rest in zip(shared, cut(stream.take(entry.bytes), rests)):
            need(k <= len(before), "shared bytes")
            before = before[:k] + rest
            out.append(before)
        return out
    need((entry.templates if entry.id == 9 else entry.bytes) <= size, "bytes")
    if entry.id == 9 and not entry.by_words:
        lengths = entry.ints.values(stream, n)
        templates = cut(stream.take(entry.templates), lengths)
    else:
        need(entry.count <= n and entry.count <= 65536, "D")
        lengths = entry.ints.values(stream, entry.count)
        templates = look_up(stream, entry, cut(stream.take(entry.bytes), lengths), n)
    return templates if entry.id == 8 else numbered(entry, templates, stream, size)


def node_bytes(node, entry, stream):
    """The node's buffers."""
    valid, validity = valid_of(node, stream)
    n, behind = sum(valid), node.places[node.has_validity:]
    out = [validity] if node.has_validity else []
    if entry.id == 0:
        return out + [stream.take(size) for _, size in behind]
    if entry.id in (1, 2, 3, 4):
        if entry.id == 3:
            values = decimals(stream, entry, node, n)
        elif entry.id == 4:
            values = stream.transposed(n, node.width)
        else:
            w = min(node.width, 8)
            if entry.id == 2:
                need(entry.count <= n and entry.count <= 65536, "D")
            ints = entry.ints.values(stream, n if entry.id == 1 else entry.count)
            values = [v.to_bytes(w, "little") for v in ints]
            if entry.id == 2:
                values = look_up(stream, entry, values, n)
            if node.width == 16:
                values = [v + (b"\xff" if v[7] & 128 else b"\0") * 8 for v in values]
        values = iter(values)
        return out + [b"".join(next(values) if v else bytes(node.width) for v in valid)]
    if entry.id == 5:
        lengths = entry.ints.values(stream, n)
        total, data = node.child, []
    else:
        data = strings(stream, entry, n, behind[1][1])
        lengths, total = list(map(len, data)), behind[1][1]
    need(sum(lengths) == total, "lengths of a column")
    rest = iter(lengths)
    offsets = accumulate((next(rest) if v else 0 for v in valid), initial=0)
    out.append(b"".join(o.to_bytes(node.offset, "little") for o in offsets))
    return out + ([b"".join(data)] if node.is_text else [])


def directory(piece, chunk):  # F-403
    need(len(piece) >= 24 and piece[:4] == b"\x5a\x2a\x4d\x18" and piece[8:12] == b"ALDP", "no directory")
    content, n = unpack("I", piece, 4), unpack("I", piece, 12)
    need(content <= len(piece) - 8 and n >= 1 and content == 8 + 8 * n, "a directory's size")
    frames = [unpack("II", piece, 16 + 8 * i) for i in range(n)]
    need(sum(a for a, _ in frames) == len(piece) - 8 - content, "stored sizes")
    need(sum(b for _, b in frames) <= 2 * chunk.uncompressed_size + 65536, "inflated sizes")
    return frames, 8 + content


def read_head(head, size):
    """(filter table, IPC bytes, record batch) of an inflated head (F-404)."""
    table = Stream(head.take(head.number(4)))
    ipc, at = head.take(len(head.data) - head.at), 0
    need(len(ipc) <= size, "a head larger than its chunk")
    padded = ipc + bytes(size - len(ipc))
    while True:
        message = Message(padded, at)
        need(message.body <= len(ipc), "a message past the head")
        if message.kind == BATCH:
            break
        need(message.kind == DICTIONARY and message.end <= len(ipc), "a head's messages")
        at = message.end
    need(message.body == len(ipc) and message.end == size, "the record batch's body")
    return table, ipc, message


def rebuild(compression, piece, chunk, schema):
    """The IPC bytes of a stored chunk; fills chunk.column_frames and chunk.filters."""
    frames, at = directory(piece, chunk)
    head = frame(compression, piece[at:at + frames[0][0]], frames[0][1])
    at += frames[0][0]
    table, ipc, message = read_head(head, chunk.uncompressed_size)
    need(message.batch()[0] == chunk.num_rows, "rows of the record batch")
    nodes, end = nodes_of(schema, message)
    need(end == chunk.uncompressed_size - len(ipc), "the body's size")
    per_column = iter([len(tree_of(f.type)) for f in schema])
    bodies, left, used = [], iter(nodes), 0
    while table.at < len(table.data):
        columns = table.number(2)
        need(columns >= 1 and used + columns <= len(schema), "columns of a body")
        used += columns
        mine = [next(left) for _ in range(sum(next(per_column) for _ in range(columns)))]
        bodies.append([(node, Entry(table, node)) for node in mine])
    need(used == len(schema) and len(bodies) == len(frames) - 1, "columns or bodies of the table")
    body = bytearray(end)
    for (stored, inflated), entries in zip(frames[1:], bodies):
        stream = frame(compression, piece[at:at + stored], inflated)
        at += stored
        for node, entry in entries:
            for (offset, size), data in zip(node.places, node_bytes(node, entry, stream)):
                need(len(data) == size, "a rebuilt buffer's size")
                body[offset:offset + size] = data
        stream.end("a body")
    chunk.column_frames = frames
    chunk.filters = [[NAMES[e.id] for _, e in entries] for entries in bodies]
    return ipc + bytes(body)
