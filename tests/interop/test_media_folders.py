#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Folders of images and audio files.

    test_media_folders.py --bin PATH

What Hugging Face's loaders make of the same folders is compared where `datasets` is there. Exit status 77: there is no pyarrow. The last line is `N passed, N failed`.
"""
import io
import json
import os
import struct
import sys
import wave
import zlib

try:
    import pyarrow as pa
except ImportError:
    print("skipped: no pyarrow")
    sys.exit(77)

from parquet_tools import check, read_stream, run, run_cases


def png(width, shade):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    rows = b"".join(b"\0" + bytes([shade]) * width for _ in range(width))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, width, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def wav(samples):
    out = io.BytesIO()
    with wave.open(out, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(8000)
        w.writeframes(struct.pack(f"<{samples}h", *range(samples)))
    return out.getvalue()


IMAGES = {"png": png(3, 7), "jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0", "gif": b"GIF89a\1\0\1\0", "webp": b"RIFF\x04\0\0\0WEBPVP8 ",
          "bmp": b"BM" + struct.pack("<IIII", 70, 0, 54, 40) + bytes(50), "tiff": b"II*\0\x08\0\0\0", "tif": b"MM\0*\0\0\0\x08"}
AUDIO = {"wav": wav(20), "flac": b"fLaC\0\0\0\x22", "ogg": b"OggS\0\x02", "mp3": b"ID3\x04\0\0\0\0\0\0", "m4a": b"\0\0\0\x20ftypM4A \0\0\0\0"}
RAW_MP3 = b"\xff\xfb\x90\x64" + bytes(100)


def fill(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


def read(binary, folder, *options):
    """-> (table, what was said)"""
    out = folder.with_suffix(".arrows")
    status, _, stderr = run(binary, "convert", "--force", folder, out, *options)
    check(status == 0, f"exit {status}, {stderr}")
    return read_stream(out), stderr


def dataset_type(binary, folder):
    ald = folder.with_suffix(".ald")
    status, _, stderr = run(binary, "convert", "--force", "--quiet", folder, ald)
    check(status == 0, stderr)
    status, out, _ = run(binary, "info", "--json", ald)
    check(run(binary, "verify", ald)[0] == 0, "verify")
    return json.loads(out)["dataset_type"]


def classes(binary, folder):
    root = folder / "im"
    files = {f"class {i % 3}/{i:02}.{ext}": data + bytes([i]) for i, (ext, data) in enumerate(IMAGES.items())}
    fill(root, files | {"class 0/notes.txt": "hi", "class 1/fake.png": "no image", ".hidden/x.png": IMAGES["png"]})
    table, said = read(binary, root)
    check(table.column_names == ["bytes", "name", "label"], f"{table.schema}")
    check(table.schema.field("label").type == pa.dictionary(pa.int32(), pa.string()), f"{table.schema}")
    check(table["name"].to_pylist() == sorted(files), "the order of the names")
    check(table["bytes"].to_pylist() == [files[name] for name in sorted(files)], "bytes")
    check(table["label"].to_pylist() == [name.split("/")[0] for name in sorted(files)], "classes")
    check(table["label"].chunk(0).dictionary.to_pylist() == ["class 0", "class 1", "class 2"], "numbers of classes")
    check("2 files are no image and left out: class 0/notes.txt, class 1/fake.png" in said
          or "2 files are no image and left out: class 1/fake.png, class 0/notes.txt" in said, said)
    check(dataset_type(binary, root) == "IMAGE_CLASSIFICATION", "dataset type")


def audio(binary, folder):
    root = folder / "au"
    files = {f"{split}/{label}/{i}.{ext}": data for i, (ext, data) in enumerate(AUDIO.items())
             for split in ("train", "test") for label in ("no", "yes")} | {"train/yes/raw.mp3": RAW_MP3}
    fill(root, files)
    table, said = read(binary, root)
    check("note" not in said, said)
    check(table.column_names == ["bytes", "name", "label", "split"], f"{table.schema}")
    check(dict(zip(table["name"].to_pylist(), table["bytes"].to_pylist())) == files, "files")
    for name, label, split in zip(*(table[c].to_pylist() for c in ("name", "label", "split"))):
        check(name.split("/")[:2] == [split, label], f"{name}: {split}, {label}")
    check(dataset_type(binary, root) == "AUDIO_CLASSIFICATION", "dataset type")


def shapes(binary, folder):
    root = folder / "flat"
    fill(root, {"b.png": IMAGES["png"], "a.png": IMAGES["png"]})
    table, _ = read(binary, root)
    check(table.column_names == ["bytes", "name"] and table["name"].to_pylist() == ["a.png", "b.png"], "without classes")
    check(dataset_type(binary, root) == "TABULAR", "dataset type without classes")
    root = folder / "some"
    fill(root, {"top.png": IMAGES["png"], "train/deep/er/x.png": IMAGES["png"]})
    table, _ = read(binary, root)
    check(table.column_names == ["bytes", "name", "label"] and table["label"].to_pylist() == [None, "train"],
          f"not every file in a split: {table['label']}")
    root = folder / "both"
    fill(root, {"x/1.png": IMAGES["png"], "x/2.png": IMAGES["png"], "x/3.wav": AUDIO["wav"]})
    check(read(binary, root)[0].num_rows == 2, "most files are images")
    table, said = read(binary, root, "--from", "audiofolder")
    check(table["name"].to_pylist() == ["x/3.wav"] and "2 files are no audio file" in said, said)
    (root / "x/data.csv").write_text("a\n1\n")
    status, out, _ = run(binary, "cat", "--json", root)
    check(status == 0 and out == b'{"a":1}\n', "a folder with a table is a folder of tables")
    check(read(binary, root, "--from", "imagefolder")[0].num_rows == 2, "--from")


def metadata(binary, folder):
    root = folder / "meta"
    files = {f"{i}.png": png(2, i) for i in range(5)}
    fill(root, files | {"metadata.csv": "file_name,caption,size\n3.png,three,3\n0.png,zero,0\n3.png,again,3\n"})
    table, said = read(binary, root)
    check(table.column_names == ["bytes", "name", "caption", "size"], f"{table.schema}")
    check(table.drop_columns(["bytes"]).to_pylist() == [{"name": "3.png", "caption": "three", "size": 3}, {"name": "0.png", "caption": "zero", "size": 0},
                                                        {"name": "3.png", "caption": "again", "size": 3}], "rows")
    check(table["bytes"].to_pylist() == [files[n] for n in ("3.png", "0.png", "3.png")], "bytes")
    check("3 files are not named in the metadata and left out, first '1.png'" in said, said)
    (root / "metadata.csv").unlink()
    fill(root, {"metadata.jsonl": '{"file_name":"a/x.png","label":{"k":1}}\n', "a/x.png": IMAGES["png"]})
    table, _ = read(binary, root)
    check(table.column_names == ["bytes", "name", "label"] and table["label"].to_pylist() == [{"k": 1}], "its own label")
    for text, want in (('{"file_name":"nope.png"}', "row 1: there is no image 'nope.png'"), ('{"x":1}', "no column file_name"),
                       ('{"file_name":"a/x.png","bytes":1}', "may not have columns"), ('{"file_name":"../secret"}', "there is no image"),
                       ('{"file_name":null}', "there is no image")):
        fill(root, {"metadata.jsonl": text + "\n"})
        status, _, stderr = run(binary, "convert", "--force", "--quiet", root, folder / "no.ald")
        check(status == 1 and want in stderr and "Sanitizer" not in stderr, f"{text}: {stderr}")


def split_metadata(binary, folder):
    root = folder / "hf"
    fill(root, {"train/metadata.jsonl": '{"file_name":"1.png","text":"one"}\n{"file_name":"2.png","text":null}\n',
                "test/metadata.csv": "file_name,text\n1.png,uno\n", "test/metadata.jsonl": "{}",
                **{f"{split}/{i}.png": png(2, i) for split in ("train", "test") for i in (1, 2)}})
    table, said = read(binary, root)
    check(table.column_names == ["bytes", "name", "text", "split"], f"{table.schema}")
    check(table.drop_columns(["bytes"]).to_pylist() == [
        {"name": "test/1.png", "text": "uno", "split": "test"}, {"name": "train/1.png", "text": "one", "split": "train"},
        {"name": "train/2.png", "text": None, "split": "train"}], f"{table.drop_columns(['bytes'])}")
    check(table["bytes"].to_pylist() == [png(2, 1), png(2, 1), png(2, 2)], "bytes")
    check("left out: test/metadata.jsonl" in said and "first 'test/2.png'" in said, said)
    fill(root, {"train/metadata.jsonl": '{"file_name":"1.png","other":"one"}\n'})
    status, _, stderr = run(binary, "convert", "--force", "--quiet", root, folder / "no.ald")
    check(status == 1 and "train/metadata.jsonl" in stderr, stderr)


def some_columns(binary, folder):
    """The bytes are not read when nobody wants them."""
    root = folder / "large"
    fill(root, {"a/x.png": IMAGES["png"], "b/y.png": IMAGES["png"]})
    with open(root / "b/y.png", "r+b") as out:
        out.truncate(2**31 + 1)
    status, out, stderr = run(binary, "cat", "--json", "-c", "label,name", root, "--where", "label = 'b'")
    check(status == 0 and out == b'{"label":"b","name":"b/y.png"}\n', stderr)
    status, _, stderr = run(binary, "cat", "--json", root)
    check(status == 1 and "LimitExceeded" in stderr and "b/y.png" in stderr, stderr)


def hostile(binary, folder):
    root = folder / "h"
    fill(root, {"a/x.png": IMAGES["png"], "b/y.png": IMAGES["png"]})
    (root / "a/loop").symlink_to("..")
    (root / "loop").symlink_to(".")
    (root / "a/gone.png").symlink_to("nowhere")
    (root / "b/linked.png").symlink_to("../a/x.png")
    os.mkfifo(root / "b/pipe.png")
    table, said = read(binary, root)
    check(table["name"].to_pylist() == ["a/x.png", "b/linked.png", "b/y.png"], f"{table['name']}")
    check("4 files are no image" in said, said)
    deep = root
    for i in range(40):
        deep = deep / "d"
    fill(root, {str(deep.relative_to(root)) + "/z.png": IMAGES["png"]})
    status, _, stderr = run(binary, "head", root, "--from", "imagefolder")
    check(status == 3 and "nested too deep" in stderr, stderr)
    for bad in ("a.png", "-"):
        status, _, stderr = run(binary, "head", "--from", "imagefolder", bad)
        check(status == 2 and "is not a folder" in stderr, stderr)
    empty = folder / "empty"
    empty.mkdir()
    status, _, stderr = run(binary, "head", "--from", "imagefolder", empty)
    check(status == 2 and "no image in this folder" in stderr, stderr)
    status, _, stderr = run(binary, "convert", empty, folder / "x.ald", "--to", "imagefolder")
    check(status == 2 and "is only read" in stderr, stderr)


def batches(binary, folder):
    root = folder / "many"
    files = {f"c{i % 7}/{i:04}.png": IMAGES["png"] + bytes([i % 256]) * 100_000 for i in range(400)}
    fill(root, files)
    table, _ = read(binary, root)
    check(table.num_rows == 400 and len(table["bytes"].chunks) > 1, f"{len(table['bytes'].chunks)} batches")
    check(table["bytes"].to_pylist() == [files[name] for name in sorted(files)], "bytes of several batches")
    check(table["label"].to_pylist() == [name[:2] for name in sorted(files)], "classes of several batches")


def loader_rows(kind, root):
    """What the loader of `datasets` finds, before it decodes: -> (names of classes or None, rows as dicts)"""
    import datasets
    builder = datasets.load_dataset_builder(f"{kind}folder", data_dir=str(root), cache_dir=str(root) + ".cache")
    rows = []
    for part in builder._split_generators(datasets.DownloadManager()):
        for _, row in builder._generate_examples(**part.gen_kwargs):
            row["name"] = os.path.relpath(row.pop(kind), root)
            rows.append(row)
    label = builder.info.features.get("label")
    return (label.names if isinstance(label, datasets.ClassLabel) else None), rows


def hugging_face(binary, folder):
    """Names, classes and metadata as `datasets` has them; docs/INPUTS.md, 4.5, says where it differs."""
    image, sound = IMAGES["png"], AUDIO["wav"]
    table = "file_name,text,n\n%s,two,2\n%s,one,1\n"
    cases = {
        "classes": ("image", {name: image for name in ("cat/1.png", "dog/2.png", "Ant/b.png", "cat/10.png", "cat/2.png", "ä b/c.png")}),
        "splits": ("image", {name: image for name in ("train/cat/1.png", "train/dog/2.png", "test/cat/3.png", "validation/eel/4.png")}),
        "flat": ("image", {"2.png": image, "1.png": image, "10.png": image}),
        "csv": ("image", {"1.png": image, "2.png": image, "metadata.csv": table % ("2.png", "1.png")}),
        "left out": ("image", {"1.png": image, "2.png": image, "3.png": image, "metadata.csv": table % ("3.png", "1.png")}),
        "jsonl": ("image", {"x.png": image, "y.png": image, "metadata.jsonl":
                            '{"file_name":"y.png","tags":["a","b"],"o":{"k":1}}\n{"file_name":"x.png","tags":null,"o":null}\n'}),
        "two tables": ("image", {"train/1.png": image, "test/1.png": image, "test/2.png": image, "train/metadata.csv": "file_name,text\n1.png,x\n",
                                 "test/metadata.csv": "file_name,text\n2.png,y\n1.png,\n"}),
        "own label": ("image", {"1.png": image, "2.png": image, "metadata.csv": "file_name,label\n2.png,7\n1.png,9\n"}),
        "sounds": ("audio", {name: sound for name in ("train/yes/a.wav", "train/no/b.wav", "test/no/c.wav")}),
        "sounds csv": ("audio", {"a.wav": sound, "b.wav": sound, "metadata.csv": table % ("b.wav", "a.wav")}),
    }
    for what, (kind, files) in cases.items():
        root = folder / what
        fill(root, files)
        names, want = loader_rows(kind, root)
        got, _ = read(binary, root)
        if names is not None:
            check(got["label"].chunk(0).dictionary.to_pylist() == names, f"{what}: classes {got['label'].chunk(0).dictionary}, wanted {names}")
        rows = got.drop_columns([c for c in ("bytes", "split") if c in got.column_names]).to_pylist()
        if "split" in got.column_names:   # the loader has a table for each, in an order of its own
            rows, want = (sorted(r, key=lambda row: row["name"]) for r in (rows, want))
        check(rows == want, f"{what}: {rows}, wanted {want}")


def choose(_binary, cases):
    import importlib.util
    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")
    return [case for case in cases if case is not hugging_face or importlib.util.find_spec("datasets") is not None]


CASES = [classes, audio, shapes, metadata, split_metadata, some_columns, hostile, batches, hugging_face]


def main():
    return run_cases(CASES, choose)



if __name__ == "__main__":
    sys.exit(main())
