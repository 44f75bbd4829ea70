#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SQLite tables, against Python's sqlite3.

    test_sqlite.py --bin PATH

Exit status 77: pyarrow, or SQLite, is missing. The last line is `N passed, N failed`.
"""
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import pyarrow as pa
except ImportError:
    print("skipped: no pyarrow")
    sys.exit(77)

from parquet_tools import check, convert, error_name, read_stream, run, run_cases

ROWS = 3000


def make(path, script, rows=()):
    connection = sqlite3.connect(path)
    connection.executescript(script)
    for sql, values in rows:
        connection.executemany(sql, values)
    connection.commit()
    connection.close()


def read(binary, path, *options):
    out = path.with_suffix(".arrows")
    status, _, stderr = run(binary, "convert", "--force", "--quiet", path, out, *options)
    check(status == 0, f"{path.name} {options}: exit {status}, {stderr}")
    return read_stream(out)


def refused(binary, path, text, *options, status=1):
    got, _, stderr = run(binary, "cat", path, *options)
    check(got == status and text in stderr and "Sanitizer" not in stderr, f"{options}: exit {got}, {stderr}; expected '{text}'")


def types_of_values(binary, folder):
    rng = random.Random(7)
    columns = {
        "i": ("INTEGER", "int64", lambda: rng.choice([0, 1, -1, 2**63 - 1, -2**63, rng.getrandbits(40)])),
        "r": ("REAL", "double", lambda: rng.choice([0.5, -0.0, 1e300, 5e-324, float("inf"), rng.random()])),
        "t": ("TEXT", "string", lambda: rng.choice(["", "a", "日本\0語", "x" * 3000, "\U0001F600"])),
        "b": ("BLOB", "binary", lambda: rng.choice([b"", b"\0", b"\xff" * 1000, rng.randbytes(20)])),
        "any": ("", "string", lambda: rng.choice(["1", "x"])),
        "text_as_int": ("INTEGER", "string", lambda: "no number"),
        "int_as_text": ("TEXT", "string", lambda: "12"),
        "numbers": ("NUMERIC", "double", lambda: rng.choice([1, 2.5, 2**53, -2**53])),
        "flag": ("BOOLEAN", "int64", lambda: rng.choice([0, 1])),
        "day": ("DATE", "string", lambda: "2024-02-29"),
        "nothing": ("INT", "int64", lambda: None), "nothing_r": ("FLOAT", "double", lambda: None),
        "nothing_t": ("VARCHAR(10)", "string", lambda: None), "nothing_x": ("", "null", lambda: None),
    }
    names = ", ".join(f'"{name}" {kind[0]}' for name, kind in columns.items())
    rows = [[None if i % 5 == n % 5 else kind[2]() for n, kind in enumerate(columns.values())] for i in range(ROWS)]
    make(folder / "t.db", f"CREATE TABLE t({names})", [(f"INSERT INTO t VALUES({','.join('?' * len(columns))})", rows)])
    table = read(binary, folder / "t.db")
    check(table.column_names == list(columns), f"columns {table.column_names}")
    connection = sqlite3.connect(folder / "t.db")  # -0.0 is 0.0 once it is in a database
    rows = connection.execute("SELECT * FROM t").fetchall()
    connection.close()
    for n, (name, kind) in enumerate(columns.items()):
        check(str(table.schema.field(name).type) == kind[1], f"{name}: {table.schema.field(name).type}, expected {kind[1]}")
        want = [row[n] if kind[1] != "double" or row[n] is None else float(row[n]) for row in rows]
        got = table[name].to_pylist()
        if kind[1] == "double":
            got, want = ([None if v is None else struct.pack("<d", v) for v in values] for values in (got, want))
        check(got == want, f"{name}: other values")
    # Through a .ald and the address with a table.
    convert(binary, folder / "t.db", folder / "t.ald")
    convert(binary, folder / "t.ald", folder / "t2.arrows")
    check(read_stream(folder / "t2.arrows").equals(table), "through a .ald")
    status, out, stderr = run(binary, "cat", "--json", f"sqlite:{folder}/t.db?table=t")
    check(status == 0 and out.count(b"\n") == ROWS, stderr)


def mixtures(binary, folder):
    make(folder / "m.db", """
        CREATE TABLE a(x); INSERT INTO a VALUES(1),(2),('three'),(4);
        CREATE TABLE b(x); INSERT INTO b VALUES(1.5),(9007199254740993);
        CREATE TABLE c(x); INSERT INTO c VALUES('t'),(x'00');
        CREATE TABLE d(x); INSERT INTO d VALUES(0.1),('b'),(7),(-5e-324),(1e20),(NULL);
        CREATE TABLE e(x); INSERT INTO e VALUES('ok'),(CAST(x'ff41' AS TEXT));
    """)
    path = folder / "m.db"
    refused(binary, path, "row 3, column 'x': text among integers", "--table", "a")
    refused(binary, path, "row 2, column 'x': an integer that no float64 is", "--table", "b")
    refused(binary, path, "row 2, column 'x': a blob among text", "--table", "c", "--mixed", "string")
    refused(binary, path, "row 2, column 'x': the text is not UTF-8", "--table", "e")
    check(read(binary, path, "--table", "a", "--mixed", "string")["x"].to_pylist() == ["1", "2", "three", "4"], "mixed")
    check(read(binary, path, "--table", "a", "--types", "x:string")["x"].to_pylist() == ["1", "2", "three", "4"], "--types string")
    check(read(binary, path, "--table", "b", "--mixed", "string")["x"].to_pylist() == ["1.5", "9007199254740993"], "a large integer")
    got = read(binary, path, "--table", "d", "--mixed", "string")["x"].to_pylist()
    check(got == ["0.1", "b", "7", "-5e-324", "1e20", None], f"floats as text: {got}")
    check(read(binary, path, "--table", "e", "--types", "x:binary")["x"].to_pylist() == [b"ok", b"\xffA"], "text as binary")
    refused(binary, path, "row 3, column 'x': 'three' is not int64", "--table", "a", "--types", "x:int64")
    refused(binary, path, "--mixed json is for JSON input", "--table", "a", "--mixed", "json", status=2)


def declared(binary, folder):
    make(folder / "d.db", """
        CREATE TABLE t(day, at, ok, price, n);
        INSERT INTO t VALUES('2024-02-29','2024-02-29 12:30:00',1,'1.10',300),(NULL,'1969-07-20 20:17:40',0,2,-1);
    """)
    path = folder / "d.db"
    table = read(binary, path, "--types", "day:date32,at:timestamp[s],ok:bool,price:decimal128(10, 2),n:int16")
    check([str(f.type) for f in table.schema] == ["date32[day]", "timestamp[s]", "bool", "decimal128(10, 2)", "int16"], f"{table.schema}")
    check(str(table["price"][0]) == "1.10" and table["n"].to_pylist() == [300, -1] and table["ok"].to_pylist() == [True, False], "values")
    check(str(table["at"][1]) == "1969-07-20 20:17:40", "a timestamp")
    refused(binary, path, "row 1, column 'n': 300 is not int8", "--types", "n:int8,price:string")
    refused(binary, path, "there is no column 'x'", "--types", "x:int8", status=2)
    refused(binary, path, "declared not null", "--schema", write_schema(folder))
    make(folder / "s.db", "CREATE TABLE s(a INT, b REAL, c TEXT, d BLOB) STRICT; INSERT INTO s VALUES(1,2,'x',x'01')")
    table = read(binary, folder / "s.db")
    check([str(f.type) for f in table.schema] == ["int64", "double", "string", "binary"], "STRICT")
    check(table.to_pylist() == [{"a": 1, "b": 2.0, "c": "x", "d": b"\1"}], "values of STRICT")


def write_schema(folder):
    path = folder / "schema.json"
    fields = ",".join('{"name":"%s","type":"string","nullable":false}' % name for name in ("day", "at", "ok", "price", "n"))
    path.write_text('{"fields":[%s]}' % fields)
    return path


def choosing(binary, folder):
    path = folder / "c.db"
    make(path, """
        CREATE TABLE "we""ird name?x"(a); INSERT INTO "we""ird name?x" VALUES(5);
        CREATE TABLE other(b TEXT, c INTEGER GENERATED ALWAYS AS (length(b)) VIRTUAL); INSERT INTO other(b) VALUES('abc');
        CREATE VIEW seen AS SELECT b || '!' AS b2, c + 1 AS d FROM other;
        CREATE TABLE empty(x INTEGER, y TEXT);
    """)
    refused(binary, path, "the database has 4 tables\nhint: choose with --table: empty, other, seen, we\"ird name?x", status=2)
    refused(binary, path, "there is no table 'nope'", "--table", "nope", status=2)
    check(read(binary, path, "--table", 'we"ird name?x').to_pylist() == [{"a": 5}], "a name with quotes")
    check(read(binary, path, "--table", "other").to_pylist() == [{"b": "abc", "c": 3}], "a computed column")
    check(read(binary, path, "--table", "seen").to_pylist() == [{"b2": "abc!", "d": 4}], "a view")
    empty = read(binary, path, "--table", "empty")
    check(empty.num_rows == 0 and [str(f.type) for f in empty.schema] == ["int64", "string"], "no rows")
    for address, want in ((f"sqlite:{path}?table=we%22ird%20name%3Fx", b'{"a":5}\n'),
                          (f"sqlite:{path}?query=SELECT count(*) AS n FROM other", b'{"n":1}\n')):
        status, out, stderr = run(binary, "cat", "--json", address)
        check(status == 0 and out == want, f"{address}: {stderr}")
    status, out, _ = run(binary, "cat", "--json", path, "--query", "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM t WHERE n < 3) SELECT n FROM t")
    check(status == 0 and out == b'{"n":1}\n{"n":2}\n{"n":3}\n', "a recursive query of the caller")
    refused(binary, path, "said once", "--table", "other", "--query", "SELECT 1", status=2)
    (folder / "c.csv").write_text("a\n1\n")
    refused(binary, folder / "c.csv", "--table has no effect here", "--table", "x", status=2)
    shutil.copy(path, folder / "noname")
    check(read(binary, folder / "noname", "--table", "empty").num_rows == 0, "found by its beginning")
    status, _, stderr = run(binary, "cat", f"sqlite:{folder}/gone.db?table=t")
    check(status == 3 and f"sqlite:{folder}/gone.db?table=t" in stderr, stderr)
    make(folder / "none.db", "CREATE TABLE t(a); DROP TABLE t")
    refused(binary, folder / "none.db", "no table")
    status, _, stderr = run(binary, "convert", folder / "c.db", folder / "x.sqlite", "--table", "other")
    check(status == 2 and "an SQLite database is only read" in stderr, stderr)


def encodings(binary, folder):
    for encoding in ("UTF-16le", "UTF-16be"):
        path = folder / f"{encoding}.db"
        make(path, f"PRAGMA encoding='{encoding}'; CREATE TABLE t(größe TEXT, n INT)",
             [("INSERT INTO t VALUES(?, ?)", [("日本\U0001F600" * (i % 50), i) for i in range(ROWS)])])
        table = read(binary, path)
        check(table.column_names == ["größe", "n"], "names")
        check(table["größe"].to_pylist() == ["日本\U0001F600" * (i % 50) for i in range(ROWS)], encoding)


def writers(binary, folder):
    """Databases that are open elsewhere."""
    path = folder / "w.db"
    make(path, "PRAGMA journal_mode=WAL; CREATE TABLE t(a)", [("INSERT INTO t VALUES(?)", [(i,) for i in range(10)])])
    writer = sqlite3.connect(path)
    writer.execute("INSERT INTO t VALUES(10)")
    check(read(binary, path).num_rows == 10, "rows that are not committed")
    writer.commit()
    check(read(binary, path).num_rows == 11, "rows in the write-ahead log")
    writer.close()
    for name in ("closed.db", "odd %41?#ü.db"):
        path = folder / name
        make(path, "PRAGMA journal_mode=WAL; CREATE TABLE t(a)", [("INSERT INTO t VALUES(?)", [(i,) for i in range(10)])])
        check([p.name for p in folder.iterdir() if p.name.startswith(name)] == [name], f"{name}: the test's own log")
        status, out, stderr = run(binary, "cat", "--json", "--from", "sqlite", path)
        check(status == 0 and out.count(b"\n") == 10, f"{name}: {stderr}")
        check([p.name for p in folder.iterdir() if p.name.startswith(name)] == [name], f"{name}: files were left beside it")
    changes_while_read(binary, folder)
    path = folder / "r.db"
    make(path, "CREATE TABLE t(a)", [("INSERT INTO t VALUES(?)", [(i,) for i in range(10)])])
    before = path.read_bytes()
    check(read(binary, path).num_rows == 10 and path.read_bytes() == before, "the file was changed")
    check(not list(folder.glob("r.db-*")), "a journal was left")


def changes_while_read(binary, folder):
    """With a log, but nobody who has it open: the database is read as one that does not change, until it does."""
    path = folder / "change.db"
    make(path, "PRAGMA journal_mode=WAL; CREATE TABLE t(a, b)", [("INSERT INTO t VALUES(?, ?)", [(i, "x" * 500) for i in range(200_000)])])
    reader = subprocess.Popen([binary, "cat", "--json", "--quiet", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reader.stdout.read(1000)  # it is at its rows, and waits for the pipe
    make(path, "UPDATE t SET b = 'y'; PRAGMA wal_checkpoint(TRUNCATE)")
    _, stderr = reader.communicate(timeout=60)
    check(reader.returncode == 3 and b"changed the database while it was read" in stderr, f"exit {reader.returncode}, {stderr}")


def hostile(binary, folder):
    path = folder / "h.db"
    make(path, """
        CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
        CREATE VIEW endless AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT n FROM r;
        CREATE VIEW ext AS SELECT load_extension('/tmp/x.so') AS x;
        CREATE VIEW big AS SELECT zeroblob(2000000000) AS x;
        CREATE VIRTUAL TABLE fts USING fts5(x);
        CREATE VIEW pragmas AS SELECT * FROM pragma_database_list;
    """, [("INSERT INTO t VALUES(?, ?)", [(i, "x" * (i % 90)) for i in range(1, 500)])])
    refused(binary, path, "not authorized", "--table", "endless")
    refused(binary, path, "", "--table", "ext")
    refused(binary, path, "", "--table", "big")
    refused(binary, path, "virtual table", "--table", "fts")
    refused(binary, path, "virtual table", "--table", "pragmas")
    for query in ("DELETE FROM t", "ATTACH 'x.db' AS x", "PRAGMA writable_schema=1", "CREATE TABLE x(a)", "VACUUM INTO 'y.db'",
                  "SELECT 1; SELECT 2", "", "SELECT load_extension('x')", "SELECT * FROM nowhere", "BEGIN"):
        refused(binary, path, "InvalidArgument", "--query", query, status=2)
    good = folder / "g.db"
    make(good, "PRAGMA page_size=512; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)",
         [("INSERT INTO t VALUES(?, ?)", [(i, "x" * (i % 90)) for i in range(1, 500)])])
    data = good.read_bytes()
    path = folder / "h.sqlite"
    rng = random.Random(3)
    for size in [0, 1, 15, 16, 99, 100, 511, 512, 513, *range(1024, len(data), 4096)]:
        path.write_bytes(data[:size])
        status, _, stderr = run(binary, "convert", "--force", path, folder / "no.ald")
        check(error_name(status, stderr) is not None, f"cut at {size}: exit {status}, {stderr}")
    for _ in range(200):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(rng.choice([100, 1024, len(data)]))
            broken[at] = rng.randrange(256)
        path.write_bytes(broken)
        status, _, stderr = run(binary, "convert", "--force", path, folder / "h.arrows", seconds=60)
        if status == 0:
            read_stream(folder / "h.arrows")
        else:
            check(status in (1, 2, 3) and "Sanitizer" not in stderr, f"changed bytes: exit {status}, {stderr}")
    # Interior pages that all lead to one leaf, many levels deep, would be rows without end.
    path.write_bytes(tree_of_one_page(data))
    status, _, stderr = run(binary, "convert", "--force", path, folder / "no.ald", seconds=60)
    check(error_name(status, stderr) == "InvalidFormat", f"a tree of one page: exit {status}, {stderr}")


def tree_of_one_page(data):
    """A table whose interior pages have all their children in common."""
    page_size = 512
    pages = [bytearray(data[i:i + page_size]) for i in range(0, len(data), page_size)]
    interior = [i for i, p in enumerate(pages) if i > 0 and p[0] == 5]
    leaf = next(i for i, p in enumerate(pages) if i > 0 and p[0] == 13)
    root = interior[0]
    chain = [root] + [i for i in range(2, len(pages)) if i not in (root, leaf)][:9]
    for depth, index in enumerate(chain):
        child = chain[depth + 1] if depth + 1 < len(chain) else leaf
        page = bytearray(page_size)
        cells = 60
        page[0] = 5
        struct.pack_into(">HHHB", page, 1, 0, cells, page_size - 5 * cells, 0)
        struct.pack_into(">I", page, 8, child + 1)
        for k in range(cells):
            at = page_size - 5 * (k + 1)
            struct.pack_into(">H", page, 12 + 2 * k, at)
            struct.pack_into(">IB", page, at, child + 1, k)
        pages[index] = page
    return b"".join(pages)


def large(binary, folder):
    path = folder / "l.db"
    make(path, "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL)",
         [("INSERT INTO t VALUES(?, ?, ?)", ((i, "text %d" % i, i / 7) for i in range(150_000)))])
    table = read(binary, path)
    check(table.num_rows == 150_000 and table["b"][149_999].as_py() == "text 149999", "rows of several batches")
    check(table["c"].to_pylist() == [i / 7 for i in range(150_000)], "floats of several batches")


def some_columns(binary, folder):
    """Only what is chosen is read: a mixture elsewhere does no harm, and a broken blob is not looked at."""
    path = folder / "c.db"
    make(path, 'CREATE TABLE "a ""table"""(id INTEGER PRIMARY KEY, mixed, "a, b" TEXT, "say ""hi""" REAL, big BLOB);'
         'CREATE VIEW v AS SELECT id, big, id + 1 AS next FROM "a ""table""";',
         [('INSERT INTO "a ""table""" VALUES(?, ?, ?, ?, ?)', ((i, [1, "x", b"y"][i % 3], f"t{i}", i / 2, bytes(9000)) for i in range(3000)))])
    table = 'a "table"'
    refused(binary, path, "among", "--table", table)
    got = read(binary, path, "--table", table, "--columns", 'say "hi",id')
    check(got.column_names == ['say "hi"', "id"] and got["id"].to_pylist() == list(range(3000)), f"{got.column_names}")
    check(got['say "hi"'].to_pylist() == [i / 2 for i in range(3000)], "floats")
    got = read(binary, path, "--table", table, "--columns", "a, b", "--where", "id >= 2990 and 'say \"hi\"' < 1497")
    check(got["a, b"].to_pylist() == ["t2990", "t2991", "t2992", "t2993"], str(got["a, b"].to_pylist()))
    got = read(binary, path, "--table", table, "--columns", "id", "--types", "id:string", "--where", "id = 7")
    check(got["id"].to_pylist() == ["7"], "a declared type")
    got = read(binary, path, "--table", "v", "--columns", "next")
    check(got["next"].to_pylist() == list(range(1, 3001)), "a view")
    refused(binary, path, "no column 'nothing'", "--table", "v", "--columns", "nothing", status=2)
    refused(binary, path, "no column 'big'", "--query", "SELECT id FROM v", "--columns", "big", status=2)


CASES = [types_of_values, mixtures, declared, choosing, some_columns, encodings, writers, hostile, large]


def choose(binary, cases):
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "probe.db", "CREATE TABLE t(a)")
        probe = subprocess.run([binary, "schema", f"{folder}/probe.db"], capture_output=True, text=True)
    return probe.stderr.splitlines()[0] if "Unsupported" in probe.stderr else cases


def main():
    return run_cases(CASES, choose)



if __name__ == "__main__":
    sys.exit(main())
