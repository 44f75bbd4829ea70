#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dataset cards against those who read them: huggingface_hub and PyYAML (README.md), mlcroissant (Croissant), file(1) and
the shared MIME database.

    test_cards.py --bin PATH

A peer that is not there is left out, with a line that says so. Exit status 77: there is no pyarrow, which makes the files.
The last line is `N passed, N failed`.
"""
import argparse
import hashlib
import html.parser
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "build/third_party/jsonpath_rw"))

try:
    import pyarrow as pa
    import pyarrow.ipc
except ImportError:
    pa = None
try:
    import yaml
    from huggingface_hub import DatasetCard
except ImportError:
    yaml = None
try:
    import mlcroissant
    logging.getLogger("absl").setLevel(logging.ERROR)
except ImportError:
    mlcroissant = None

README = """---
annotations_creators:
- expert-generated
language:
- en
- 'no'
license: cc-by-4.0
multilinguality: monolingual
pretty_name: "Palmer: penguins \U0001F427"
size_categories:
- n<1K
source_datasets: [original]
tags: [birds, '1', antarctica]
task_categories:
- tabular-classification
paperswithcode_id: null
version: 1.10
dataset_info:
  features:
  - name: id
    dtype: int64
  - name: label
    dtype:
      class_label:
        names:
          '0': Adelie
          '1': Gentoo
  splits:
  - name: train
    num_bytes: 1_000
    num_examples: 2
  download_size: 0x10
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*
extra_gated_prompt: >-
  You agree to
  nothing.
note: |
  two
    lines
---

# Penguins

Text with `---` in it:

---

<script>alert("x")</script> & [a](javascript:alert(1))
"""


class Failed(Exception):
    """What differs."""


class Skipped(Exception):
    """What is not there."""


def check(condition, what):
    if not condition:
        raise Failed(what)


class Place:
    """A folder, the command, and a file of two rows."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.table(pa.table({"id": [1, 2], "label": ["a", "b"]}), "data.ald")

    def run(self, *args, exit_code=0, **kwargs):
        result = subprocess.run([self.binary, *args], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                timeout=120, **kwargs)
        check(result.returncode == exit_code, f"{args}: exit {result.returncode}: {result.stderr.decode()}")
        return result.stdout.decode()

    def table(self, table, name):
        with pa.ipc.new_file(self.folder / "table.arrow", table.schema) as out:
            out.write_table(table)
        self.run("convert", "table.arrow", name, "--force")

    def write(self, name, text):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def read(self, name):
        return (self.folder / name).read_bytes().decode()

    def card(self, name="data.ald"):
        return json.loads(self.run("card", "--json", name))["card"]


def need(peer, name):
    if peer is None:
        raise Skipped(f"no {name}")


# ---- README.md

def imported(place):
    place.write("README.md", README)
    place.run("card", "data.ald", "--from", "README.md")
    return place.card()


def check_import(place):
    """What PyYAML reads, save what has a key of its own, and dates and versions, which are texts here."""
    need(yaml, "huggingface_hub")
    card = imported(place)
    _, front, body = README.split("---\n", 2)
    wanted = yaml.safe_load(front)
    wanted.update(version="1.10", license="CC-BY-4.0", description=body.strip("\n"), name=wanted.pop("pretty_name"))
    check(card == wanted, f"\n{card}\n{wanted}")


def check_round_trip(place):
    card = imported(place)
    place.run("card", "data.ald", "--export", "out.md", "--force")
    place.run("convert", "table.arrow", "again.ald", "--card", "out.md", "--force")
    check(place.card("again.ald") == card, f"{place.card('again.ald')}\n{card}")
    place.run("card", "again.ald", "--export", "out2.md", "--force")
    check(place.read("out.md") == place.read("out2.md"), "the second card differs")


def check_golden(place):
    """Cards of other writers come back as they were; what YAML cannot say is refused by name."""
    seen = 0
    for path in sorted((ROOT / "tests/golden/wire-1.3").glob("[mpf]*.ald")):
        card = place.card(path)
        license_ = card.get("license")
        result = subprocess.run([place.binary, "card", path, "--export", "out.md", "--force"], cwd=place.folder,
                                capture_output=True, timeout=60)
        if result.returncode != 0:
            check(b"Unsupported" in result.stderr and b"extension" in result.stderr, f"{path}: {result.stderr}")
            continue
        place.run("convert", "table.arrow", "again.ald", "--card", "out.md", "--force")
        again = place.card("again.ald")
        if license_ is not None and b"no SPDX" in result.stderr:
            card["license"] = again["license"]    # its own words are no license id
        check(again == {k: v for k, v in card.items() if v is not None or k in again}, f"{path}:\n{card}\n{again}")
        seen += 1
    check(seen > 40, f"only {seen} files")


def check_hub(place):
    """The hub's own class loads what is written, and has the same values."""
    need(yaml, "huggingface_hub")
    card = imported(place)
    place.run("card", "data.ald", "--export", "out.md", "--force")
    loaded = DatasetCard.load(place.folder / "out.md")
    check(loaded.data.license == "cc-by-4.0", loaded.data.license)
    check(loaded.data.pretty_name == card["name"], loaded.data.pretty_name)
    check(loaded.data.language == ["en", "no"], loaded.data.language)
    check(loaded.data.size_categories == ["n<1K"], loaded.data.size_categories)
    check(loaded.data.to_dict()["dataset_info"] == card["dataset_info"], loaded.data.to_dict())
    check(loaded.text.strip("\n") == card["description"], loaded.text)
    front = yaml.safe_load(place.read("out.md").split("---\n", 2)[1])
    renamed = {"license": "cc-by-4.0", "pretty_name": front["pretty_name"]}
    wanted = {k: v for k, v in card.items() if k not in ("description", "name", "license")} | renamed
    check(front == wanted, f"\n{front}\n{wanted}")


def check_licenses(place):
    need(yaml, "huggingface_hub")
    for license_, slug, name in (("MIT OR Apache-2.0", "other", "MIT OR Apache-2.0"), ("GPL-3.0-only", "gpl-3.0", None),
                                 ("MIT AND ISC", ["mit", "isc"], None), ("LicenseRef-own", "other", "LicenseRef-own"),
                                 ("NOASSERTION", "unknown", None)):
        place.run("card", "data.ald", "own.ald", "--force", "--set", f"license={license_}")
        place.run("card", "own.ald", "--export", "out.md", "--force")
        data = DatasetCard.load(place.folder / "out.md").data.to_dict()
        check((data["license"], data.get("license_name")) == (slug, name), f"{license_}: {data}")
        place.run("convert", "table.arrow", "again.ald", "--card", "out.md", "--force")
        check(place.card("again.ald")["license"] == license_, place.card("again.ald")["license"])


def check_large(place):
    """100 MB of front matter, and 60 MB that is read but not parsed: refused soon, in little memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    sanitized = b"__asan_init" in Path(place.binary).read_bytes()
    before = (place.folder / "data.ald").read_bytes()
    for size in (100_000_000, 60_000_000):
        place.write("large.md", b"---\n" + b"key: value\n" * (size // 11) + b"---\n")
        started = time.monotonic()
        result = subprocess.run([place.binary, "card", "data.ald", "--from", "large.md"], cwd=place.folder,
                                capture_output=True, timeout=120, preexec_fn=None if sanitized else limit)
        check(result.returncode == 1 and b"LimitExceeded" in result.stderr, result.stderr.decode())
        check(time.monotonic() - started < 60, "it took over a minute")
    check((place.folder / "data.ald").read_bytes() == before, "the file was changed")
    (place.folder / "large.md").unlink()


# ---- Croissant

def every_type():
    f32 = pa.float32()
    point = pa.struct([("x", f32), ("tags", pa.list_(pa.string())), ("in", pa.struct([("y", pa.int8())]))])
    types = {
        "b": (pa.bool_(), "sc:Boolean"), "i8": (pa.int8(), "cr:Int8"), "i16": (pa.int16(), "cr:Int16"),
        "i32": (pa.int32(), "cr:Int32"), "i64": (pa.int64(), "cr:Int64"), "u8": (pa.uint8(), "cr:UInt8"),
        "u16": (pa.uint16(), "cr:UInt16"), "u32": (pa.uint32(), "cr:UInt32"), "u64": (pa.uint64(), "cr:UInt64"),
        "f16": (pa.float16(), "cr:Float16"), "f32": (f32, "cr:Float32"), "f64": (pa.float64(), "cr:Float64"),
        "text": (pa.string(), "sc:Text"), "large text": (pa.large_string(), "sc:Text"), "view": (pa.string_view(), "sc:Text"),
        "bytes": (pa.binary(), "sc:Text"), "fixed": (pa.binary(4), "sc:Text"), "none": (pa.null(), "sc:Text"),
        "d128": (pa.decimal128(10, 2), "sc:Float"), "d256": (pa.decimal256(40, 2), "sc:Float"),
        "date32": (pa.date32(), "sc:Date"), "date64": (pa.date64(), "sc:Date"),
        "time32": (pa.time32("s"), "sc:Time"), "time64": (pa.time64("ns"), "sc:Time"),
        "ts": (pa.timestamp("us"), "sc:DateTime"), "ts zone": (pa.timestamp("ns", "Europe/Berlin"), "sc:DateTime"),
        "duration": (pa.duration("s"), ["cr:Int64", "sc:Duration"]), "interval": (pa.month_day_nano_interval(), "sc:Text"),
        "dict": (pa.dictionary(pa.int8(), pa.string()), "sc:Text"),
        "run ends": (pa.run_end_encoded(pa.int32(), pa.int64()), "cr:Int64"),
        "list": (pa.list_(pa.int32()), ("cr:Int32", "-1")),
        "large list": (pa.large_list(pa.string()), ("sc:Text", "-1")),
        "lists": (pa.list_(pa.list_(pa.int8(), 3)), ("cr:Int8", "-1,3")),
        "embedding": (pa.list_(f32, 384), ("cr:Float32", "384")),
        "struct": (point, None), "structs": (pa.list_(point), (None, "-1")),
        "map": (pa.map_(pa.string(), pa.int64()), (None, "-1")),
        "a \"quoted\" na]me": (pa.int64(), "cr:Int64"), "<b>": (pa.int64(), "cr:Int64"), "naïve": (pa.int64(), "cr:Int64"),
    }
    fields = [pa.field(name, kind, metadata={"ald.description": f"about {name} </script>", "ald.values": "any"})
              for name, (kind, _) in types.items()]
    return pa.schema(fields), {name: wanted for name, (_, wanted) in types.items()}


def export_croissant(place):
    schema, wanted = every_type()
    place.table(schema.empty_table(), "types.ald")
    place.write("README.md", README)
    place.run("card", "types.ald", "--from", "README.md", "--set", "citation=@misc{x, title={Y}}", "--set",
              "created_at=2026-11-30T08:00:00Z", "--set", "intended_uses=tests", "--set", "limitations=few", "--set",
              "creator=Ada", "--set", "version=1.1.0")
    place.run("card", "types.ald", "--export", "croissant.json", "--force", "--url", "https://example.org/types.ald")
    return wanted


def check_croissant_json(place):
    """Every type, the file's own size and hash, and nothing that ends a script."""
    wanted = export_croissant(place)
    text = place.read("croissant.json")
    check("<" not in text, "there is a < in it")
    data = json.loads(text)
    file, content = data["distribution"][0], (place.folder / "types.ald").read_bytes()
    check(file["sha256"] == hashlib.sha256(content).hexdigest(), file)
    check(file["contentSize"] == f"{len(content)} B" and file["name"] == "types.ald", file)
    check(file["encodingFormat"] == "application/vnd.alimentar.ald", file)
    check(file["contentUrl"] == "https://example.org/types.ald", file)
    fields = {field["name"]: field for field in data["recordSet"][0]["field"]}
    check(list(fields) == list(wanted), list(fields))
    for name, value in wanted.items():
        kind, shape = value if isinstance(value, tuple) else (value, None)
        field = fields[name]
        check(field.get("dataType") == kind, f"{name}: {field}")
        check((field.get("isArray", False), field.get("arrayShape")) == (shape is not None, shape), f"{name}: {field}")
        check(("subField" in field) == (kind is None), f"{name}: {field}")
        check(field["description"] == f"about {name} </script>\nValues: any", field)
        check(field["source"]["extract"] == {"column": name}, field)
    inner = [f["name"] for f in fields["struct"]["subField"]]
    check(inner == ["x", "tags", "in"] and fields["struct"]["subField"][2]["subField"][0]["dataType"] == "cr:Int8", inner)
    check([f["name"] for f in fields["map"]["subField"]] == ["key", "value"], fields["map"])
    check(data["license"] == "https://spdx.org/licenses/CC-BY-4.0.html" and data["version"] == "1.1.0", data["license"])


def check_mlcroissant(place):
    need(mlcroissant, "mlcroissant")
    wanted = export_croissant(place)
    metadata = mlcroissant.Dataset(str(place.folder / "croissant.json")).metadata
    check(not metadata.ctx.issues.errors, metadata.ctx.issues.errors)
    check(not metadata.ctx.issues.warnings, metadata.ctx.issues.warnings)
    check(metadata.ctx.is_v1_1(), metadata.ctx.conforms_to)
    check(metadata.cite_as == "@misc{x, title={Y}}" and metadata.version == "1.1.0", metadata.cite_as)
    fields = {field.name: field for field in metadata.record_sets[0].fields}
    check(set(fields) == set(wanted), set(fields) ^ set(wanted))
    check(fields["embedding"].array_shape == "384" and fields["embedding"].is_array, fields["embedding"].array_shape)
    check(str(fields["f32"].data_types[0]).endswith("Float32"), fields["f32"].data_types)


def check_mlcroissant_can_fail(place):
    need(mlcroissant, "mlcroissant")
    export_croissant(place)
    data = json.loads(place.read("croissant.json"))
    del data["distribution"][0]["contentUrl"]
    place.write("broken.json", json.dumps(data))
    try:
        mlcroissant.Dataset(str(place.folder / "broken.json"))
    except mlcroissant.ValidationError:
        return
    raise Failed("a file without contentUrl passed")


def check_media(place):
    """Bytes of an image dataset are images."""
    place.table(pa.table({"bytes": pa.array([b"x"], pa.binary()), "name": ["a"]}), "images.ald")
    place.run("describe", "images.ald", "--dataset-type", "image-classification")
    place.run("card", "images.ald", "--export", "images.json")
    types = [field["dataType"] for field in json.loads(place.read("images.json"))["recordSet"][0]["field"]]
    check(types == ["sc:ImageObject", "sc:Text"], types)


def check_tensor(place):
    kind = pa.fixed_shape_tensor(pa.float32(), [2, 3])
    values = pa.ExtensionArray.from_storage(kind, pa.array([[0.0] * 6], pa.list_(pa.float32(), 6)))
    place.table(pa.table({"t": values}), "tensor.ald")
    place.run("card", "tensor.ald", "--export", "tensor.json")
    field = json.loads(place.read("tensor.json"))["recordSet"][0]["field"][0]
    check((field["dataType"], field["arrayShape"]) == ("cr:Float32", "2,3"), field)


# ---- datasheets

class Tags(html.parser.HTMLParser):
    """The tags of a text."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)


def check_datasheet(place):
    place.table(pa.table({"<img src=x>": [1, None, 3], "t|x": ["<b>", "a", "`c`"]}), "sheet.ald")
    place.write("README.md", README)
    place.run("card", "sheet.ald", "--from", "README.md", "--set", "limitations=<script>x</script>, _few_", "--set",
              "name=A *b* <i>")
    place.run("card", "sheet.ald", "--export", "datasheet.md")
    text = place.read("datasheet.md")
    tags = Tags()
    tags.feed(text)
    check(tags.found == [], tags.found)
    check("# Datasheet: A \\*b\\* &lt;i\\>" in text, text[:80])
    check("3 rows with 2 columns" in text and "1 of 3" in text, text)
    check("| t\\|x | string | 0 | 3 |" in text, text)
    check(text.count("OPEN: not answered yet.") > 20, text)
    count = text.count("OPEN: not answered yet.")
    check(f"{count} of {text.count('**' + chr(10)) } questions are open." in text, text[-200:])


# ---- who knows the file

def check_magic(place):
    tool = shutil.which("file")
    need(tool, "file(1)")
    magic = ROOT / "share/alimentar.magic"
    place.write("text.txt", "ALDF is how they begin\n")
    place.write("pass", "p\n")
    place.run("encrypt", "data.ald", "secret.ald", "--passphrase-file", "pass", "--force")

    def ask(*args):
        return subprocess.run([tool, "-b", "-m", magic, *args], cwd=place.folder, check=True, capture_output=True,
                              text=True).stdout.strip()
    check(ask("--mime-type", "data.ald") == "application/vnd.alimentar.ald", ask("--mime-type", "data.ald"))
    check(ask("data.ald").startswith("alimentar dataset, version 1.") and "2 rows" in ask("data.ald"), ask("data.ald"))
    check("encrypted" in ask("secret.ald"), ask("secret.ald"))
    check("alimentar" not in ask("text.txt"), ask("text.txt"))
    # The command agrees: what is no .ald for file(1) is text here, and the other way round.
    place.write("text.csv", "ALDF,b\n1,2\n")
    check("ALDF" in place.run("cat", "--json", "text.csv"), "a CSV file that begins with ALDF")
    shutil.copy(place.folder / "data.ald", place.folder / "data.csv")
    place.run("cat", "data.csv", exit_code=1)


def check_mime(place):
    tree = ElementTree.parse(ROOT / "share/alimentar.xml")
    name = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    check(tree.find("m:mime-type", name).get("type") == "application/vnd.alimentar.ald", "the type")
    check(tree.find("m:mime-type/m:glob", name).get("pattern") == "*.ald", "the pattern")
    tool = shutil.which("update-mime-database")
    need(tool, "update-mime-database")
    folder = place.folder / "mime"
    (folder / "packages").mkdir(parents=True)
    shutil.copy(ROOT / "share/alimentar.xml", folder / "packages")
    result = subprocess.run([tool, folder], capture_output=True, text=True, env=dict(os.environ, XDG_DATA_HOME="/nowhere"))
    check(result.returncode == 0 and "alimentar.xml" not in result.stderr, result.stderr)
    check("50:application/vnd.alimentar.ald:*.ald" in (folder / "globs2").read_text(), "globs2")
    check(b"ALDF" in (folder / "magic").read_bytes(), "magic")


CHECKS = (check_import, check_round_trip, check_golden, check_hub, check_licenses, check_large, check_croissant_json, check_mlcroissant,
          check_mlcroissant_can_fail, check_media, check_tensor, check_datasheet, check_magic, check_mime)


def main():
    parser = argparse.ArgumentParser(description="Compares cards with what others read.")
    parser.add_argument("--bin", required=True, type=Path)
    args = parser.parse_args()
    if pa is None:
        print("skipped: no pyarrow")
        return 77
    passed = failed = 0
    for test in CHECKS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Place(args.bin.resolve(), Path(folder)))
                passed += 1
            except Skipped as skipped:
                print(f"{test.__name__}: left out: {skipped}")
            except (Failed, OSError, subprocess.SubprocessError, ValueError, KeyError) as failure:
                failed += 1
                print(f"{test.__name__}: {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
