#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes the fuzzers' seeds: FOLDER/safetensors/*, FOLDER/idx/*, FOLDER/pgm/*, FOLDER/npy/*, FOLDER/npz/*,
FOLDER/csv/*,
FOLDER/features/*, FOLDER/png/*, FOLDER/cluster_text/*,
FOLDER/table_delta/*, FOLDER/elastic_group/*. Small, valid, each showing one feature.
What it wrote is checked in under corpus/.

usage: make_seeds.py FOLDER
"""
import gzip
import io
import json
import pathlib
import struct
import sys
import zipfile
import zlib


def png(width, height, depth, colour, rows, *chunks, interlaced=0):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(*c) for c in chunks)
            + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def safetensors(header, data=b"", text=None):
    text = (text if text is not None else json.dumps(header)).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def table_delta(width, keys, removed, table="t"):
    n, gone = len(keys), len(removed)
    at, end = 8 * n, 8 * n + 4 * n * width
    header = {"__metadata__": {"table": table, "since": "3", "step": "7"}, "keys": tensor("I64", [n], 0, at),
              "values": tensor("F32", [n, width], at, end), "removed": tensor("I64", [gone], end, end + 8 * gone)}
    data = struct.pack(f"<{n}q", *keys) + struct.pack(f"<{n * width}f", *range(n * width)) \
        + struct.pack(f"<{gone}q", *removed)
    return bytes([width - 1]) + safetensors(header, data)


def idx(code, extents, data):
    return struct.pack(">BBBB", 0, 0, code, len(extents)) + struct.pack(f">{len(extents)}I", *extents) + data


def npy(descr, shape, data, version=1, fortran=False):
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode() + b"\n"
    return b"\x93NUMPY" + struct.pack("<BB" + ("H" if version == 1 else "I"), version, 0, len(text)) + text + data


def npz(method, **members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), data, method)
    return out.getvalue()


SEEDS = {
    "safetensors": {
        "empty": safetensors({}),
        "metadata": safetensors({"__metadata__": {"step": "1", "note": "\u20ac\n"}}),
        "two": safetensors({"w": tensor("F32", [2, 2], 0, 16), "b": tensor("I64", [], 16, 24)}, bytes(24)),
        "packed": safetensors({"q": tensor("F4", [2, 4], 0, 4), "f6": tensor("F6_E2M3", [4], 4, 7)}, bytes(7)),
        "no_elements": safetensors({"e": tensor("BF16", [0, 9], 0, 0), "u": tensor("U8", [3], 0, 3)}, b"abc"),
        "escapes": safetensors(
            None, b"x", r'{"\ud83d\ude00\u00e9\/\b" : {"data_offsets":[ 0,1 ] , "shape":[1],"dtype":"BOOL"} }  '
        ),
    },
    "idx": {
        "bytes": idx(0x08, [2, 3], b"abcdef"),
        "shorts": idx(0x0B, [2], b"\1\2\3\4"),
        "doubles": idx(0x0E, [1], bytes(8)),
        "none": idx(0x0D, [0, 7], b""),
        "gzip": gzip.compress(idx(0x08, [300], bytes(range(100)) * 3), mtime=0),
        "members": gzip.compress(idx(0x0C, [2], b""), mtime=0) + gzip.compress(bytes(8), mtime=0),
    },
    "npy": {
        "floats": npy("<f4", (2, 2), bytes(16)),
        "fortran": npy(">i2", (2, 3), bytes(range(12)), fortran=True),
        "complex": npy(">c8", (1,), bytes(8)),
        "scalar": npy("|b1", (), b"\1"),
        "none": npy("<f8", (0, 3), b""),
        "version_3": npy("<u8", (1,), bytes(8), version=3),
    },
    "npz": {
        "stored": npz(zipfile.ZIP_STORED, a=npy("<f4", (1,), bytes(4)), b=npy("|u1", (3,), b"abc")),
        "deflated": npz(zipfile.ZIP_DEFLATED, x=npy("<f4", (40,), bytes(160))),
        "empty": npz(zipfile.ZIP_STORED),
    },
    "pgm": {
        "text": b"P2\n# comment\n3 2\n255\n0 51 102\n153 204 255\n",
        "bytes": b"P5 3 2 255\n\x00\x33\x66\x99\xcc\xff",
        "wide": b"P5#c\n2 1 65535\n\x00\x00\xff\xff",
    },
    "png": {
        "grey": png(3, 2, 8, 0, [bytes(3), b"\x00\x80\xff"]),
        "bits": png(9, 2, 1, 0, [b"\xaa\x80", b"\x55\x00"]),
        "wide": png(2, 1, 16, 0, [b"\x00\x01\xff\xff"], (b"gAMA", struct.pack(">I", 45455))),
        "colours": png(2, 2, 8, 2, [bytes(range(6)), bytes(range(250, 256))], (b"sRGB", b"\x00")),
        "palette": png(4, 1, 2, 3, [b"\x1b"], (b"PLTE", bytes(range(12))), (b"tRNS", b"\x00\x80")),
        "transparent": png(1, 2, 8, 6, [b"\x10\x20\x30\x80", bytes(4)], (b"tEXt", b"Comment\0none")),
        "interlaced": png(1, 1, 8, 4, [b"\x7f\xff"], interlaced=1),
    },
    "csv": {
        "plain": b"age,job\n20,cook\n30,smith\n",
        "quotes": b'a,"b,"\r\n"two\nlines","say ""x"""\r\n',
        "missing": b"\xef\xbb\xbfa,b,c\n,?,\n\n\"\",NA,-1e3",
    },
    "features": {
        "numbers": b"sinter features,1\nnumber,a,0,1,0,38.5,13.25\nnumber,b,1,0,1,0,1\ntarget,a,0,1,0,1e3,2\n",
        "classes": b"sinter features,1\nindicator,bucketized,a,4,0,2,-1.5,10\nindex,quantiles,a,5,1,1,3\n"
        b'index,hashed,b,16,0,0\nindicator,vocabulary,b,4,1,2,"x,y",\nlabel,vocabulary,b,3,0,2,low,high\n',
        "crossed": b"sinter features,1\nindex,crossed,,9,0,2\npart,hashed,a,5,0,0\npart,vocabulary,b,2,0,1,x\n",
    },
    "cluster_text": {
        "ring": b"workers=64 flops=1T bandwidth=25Gbit/s latency=20us   # rented\nbatch=32, overlap=no memory=16GiB",
        "nodes": b"workers=32 workers_per_node=8 node_bandwidth=10GB/s node_latency=2us algorithm=hierarchical",
        "servers": b"workers=9 servers=2 algorithm=servers straggler=lognormal:0.05 samples=8 seed=3 critical_batch=4k",
        "measured": b"step_seconds=120ms sharded_update=yes bucket_bytes=1MB sum_bandwidth=infinite least_gain=0.1",
    },
    "table_delta": {
        "rows": table_delta(2, [-5, 7, 1 << 62], [3, -9]),
        "none": table_delta(3, [], []),
        "removed": table_delta(1, [], [4]),
        "twice": table_delta(1, [6, 6], []),
        "both": table_delta(1, [6], [6]),
        "another": table_delta(1, [6], [], "u"),
    },
    "elastic_group": {
        "records": bytes([0]) + 2 * struct.pack("<qqiiqiiqii", 48, 3, 1, 2, 2, 1, 3, 1, 4, 5),
        "lives": bytes([1]) + struct.pack("<qQqQ", 8, 77, 8, 1 << 63),
        "step": bytes([6]) + struct.pack("<qqqqdfBB2x", 9, 400, 12, -1, 12.0, 0.5, 1, 1),
        "bytes": bytes([14]) + struct.pack("<qqqqdfBB2x", 4, 80, -1, -1, -1.0, 0.0, 3, 0),
        "healed": bytes([3]) + struct.pack("<qq", 0, 0) + struct.pack("<qq8s", 1, 8, b"an image")
        + struct.pack("<qq4s", 2, 4, b"step") + struct.pack("<qqqq", 3, 0, 4, 0),
    },
}

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for target, files in SEEDS.items():
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)
