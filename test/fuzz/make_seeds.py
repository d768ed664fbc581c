#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes the fuzzers' seeds: FOLDER/safetensors/*, FOLDER/idx/*, FOLDER/pgm/*, FOLDER/npy/*, FOLDER/npz/*,
FOLDER/csv/*, FOLDER/csv_places/*,
FOLDER/features/*, FOLDER/scaling/*, FOLDER/png/*, FOLDER/cluster_text/*,
FOLDER/table_delta/*, FOLDER/assembly/*, FOLDER/control_message/*, FOLDER/parameter_server/*, FOLDER/run_record/*,
FOLDER/launch_progress/*, FOLDER/row_lists/*, FOLDER/elastic_group/*,
FOLDER/tfrecord/*, FOLDER/example/*. Small, valid, each showing one feature.
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


def archive(form, *values):
    """As include/sinter/net/archive.hpp has it: b bytes of the struct's letter, s a text, and a list in each list."""
    out = b""
    for kind, value in zip(form, values, strict=True):
        if isinstance(value, list):
            out += struct.pack("<I", len(value)) + b"".join(archive(kind, v) for v in value)
        elif kind == "s":
            out += struct.pack("<I", len(value)) + value
        else:
            out += struct.pack("<" + kind, value)
    return out


def datagram(kind, sender, state, list_of, *, after=5, admits=0, epoch=1, ballot=0, before=0):
    """With the byte that says when, and the one that says how long it is."""
    text = archive("BBBiQqQQqqqqiQqQQQii", kind, state, admits, sender, 10 + sender, 3, 7, 99, epoch, ballot, before,
                   epoch, [s for s in list_of], [10 + s for s in list_of], [3 for s in list_of], 0, 0, 0,
                   [s for s in list_of if s != sender], -1)
    return bytes([after, len(text)]) + text


def rows(*keys, width=2, most=4):
    """A member's slot: how many bytes follow, a list's header, keys, rows."""
    text = struct.pack("<i60x", len(keys)) + struct.pack(f"<{len(keys)}i", *keys) \
        + struct.pack(f"<{len(keys) * width}f", *[k + 0.5 for k in keys for _ in range(width)])
    return (struct.pack("<q", len(text)) + text).ljust(8 + 64 + 4 * most * (1 + width), b"\0")


def header(operation, bucket, step, elements, offset, size):
    """Of a frame, as fuzzers of servers draw one."""
    return struct.pack("<B3xiqQQQ", operation, bucket, step, elements, offset, size)


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def tfrecord(*records):
    heads = [struct.pack("<Q", len(r)) for r in records]
    return b"".join(h + masked_crc32c(h) + r + masked_crc32c(r) for h, r in zip(heads, records))


def field(number, data):
    """Of protobuf: a message or bytes, fewer than 128 of them."""
    return bytes([number << 3 | 2, len(data)]) + data


def example(**features):
    return field(1, b"".join(field(1, field(1, k.encode()) + field(2, v)) for k, v in features.items()))


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
    "csv_places": {
        "behind_two": b"\2a,b\n\r\n20,\"two\nlines\"\r\n\n30,NA\n40,x",
        "behind_another_number": b"\3a,b\n1\n2,b\n3,4,5\n\"\"\"\",\n6,7\n",
        "from_the_beginning": b"\0\xef\xbb\xbfa,b\nc,d\"",
    },
    "scaling": {
        "standard": b"sinter scaling,1\nstandard,columns,0,1\n38.5,13.25\n-1e300,5e-324\n",
        "large": b"sinter scaling,1\nmin_max,everything,-1,1\n1.7e+18,7,1.5\n",
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
    "assembly": {
        "meets": b"\0" + datagram(1, 0, 0, []) + datagram(2, 1, 0, [], after=20),
        "agrees": b"\3" + datagram(3, 0, 3, [0, 1, 2, 3], ballot=8) + datagram(5, 0, 3, [0, 1, 2], ballot=8, epoch=2)
        + datagram(6, 0, 2, [0, 1, 2], after=250, ballot=8, epoch=2),
        "dead": b"\7" + datagram(2, 1, 3, [0, 1, 3], after=200)
        + datagram(4, 1, 3, [0, 1], after=200, ballot=8, before=5),
    },
    "control_message": {
        "heartbeat": b"\0" + archive("qQds", 12, 3, 0.5, b"train"),
        "failure": b"\1" + archive("iqssss", 1, 12, b"worker/1", b"127.0.0.1:7000", b"all_reduce", b"closed"),
        "failure_without_words": b"\1" + archive("iqssss", -1, -1, b"", b"", b"", b""),
        "stop": b"\2" + archive("s", b"a signal"),
        "leave": b"\3" + archive("q", 12),
        "exchange": b"\4" + archive("Qss", 2, b"program", bytes(8)),
        "roster": b"\5" + archive("s", [b"10.0.0.1:7000", b"10.0.0.2:7000"]),
        "numbers": b"\6" + archive("Qd", 1, [0.25, -1.0]),
    },
    "parameter_server": {
        **{f"header_{w}": bytes([0]) + header(w, 0, 3, 8, 16, 32) for w in range(1, 16)},
        "sections": b"\1" + struct.pack("<Iiqqff", 1, 0, 60, 2, 0, 0)
        + struct.pack("<Iiqq2q6f", 2, 0, 0, 2, 3, 5, *range(6)),
        "commit": b"\2" + struct.pack("<QQq5dfIIIqq", 1, 2, 3, 0.5, 4, 4, 0.1, 4, 0.01, 0, 1, 0, 1, 0),
        "answer": b"\3" + struct.pack("<4q3dIIII5q", 3, 4, 5, 0, 0.5, 4, 4, 0, 0, 0, 0, 1, -1, -1, -1, -1),
        "log": b"\4" + archive("qqqBQq", 3, [4, 4], 9, 0, [1, 2, 0], 3),
        "note": b"\7" + archive("QBB", 1, 1, 1),
        "call_join": b"\10\1" + archive("qQqqQBqqqqqq", 1, 2, 3, 4, 5, 1, 7, 8, 9, [10, 11], 12, 13),
        "call_open": b"\10\5" + archive("qqBq", 9, -1, 1, [2, 3]),
        "call_all_reduce": b"\10\15" + archive("Qd", 2, [0.5, -1.0]),
        "call_restore_sums": b"\10\16" + archive("Qd", 3, [[], [2.5]]),
        "call_stop": b"\10\17" + archive("s", b"a signal"),
        "call_put_rows": b"\10\27" + archive("qqiiqqf", 1, 1, 1, 1, [-5, 7], [3, 4], [1.0, 2.0, 3.0, 4.0]),
        "call_load_tables": b"\10\32" + archive("ssB", b"/a", b"step-3", 1),
        "call_follow": b"\10\35" + archive("QBB", 5, 1, 0),
        "answer_join": b"\11\1" + archive("BQQQQqBqQBB", 1, 2, 3, 4, 5, 6, 1, [8, 9], 10, 2, 1),
        "answer_find_non_finite": b"\11\25" + archive("q", [1, 2, 3, 4, 5]),
        "answer_read_rows": b"\11\26" + archive("qqiiqqf", 1, 1, 1, 0, [-5], [3], [1.0]),
        **{f"copied_{w}": bytes([5]) + header(w - 76, 0, 3, 1, 0, 4) for w in (80, 81, 82, 83, 84, 85, 89)},
    },
    "run_record": {
        "begun": b"3 7 2 host:12:34:56\n",
        "largest": b"9223372036854775807 7 9223372036854775807 host\n",
        "ended": b"300\n",
        "words": b"300 and more",
    },
    "launch_progress": {
        "steps": b"step 12 rate 3.5 loss 0.25 busy 0.9\nstep 12 rate 3.5 busy 0.1\nstep 12 rate 3.5 busy 0.1\n",
        "slow": b"step 1 rate 3\nstep 9 rate 30\nstep 9 rate 30\n",
        "not_finite": b"step 1 rate nan busy inf\nstep 9 rate inf\nstep 9 rate nan busy nan\nstep 9 rate 1\n",
        "counts": b"count staleness 1 most_staleness 2 sent 1e9 dropped 1\ntable words rows 12 bytes 4\nrest\n"
        b"note \x1b[2J\xff",
    },
    "tfrecord": {
        "plain": tfrecord(b"", b"hello", bytes(range(40))),
        "gzip": gzip.compress(tfrecord(b"hello", b"x" * 300), mtime=0),
        "zlib": zlib.compress(tfrecord(b"hello", b"x" * 300)),
        "cut": tfrecord(b"hello", b"hello")[:30],
        "index": b"0 16\n16 21\n37 316\n",
    },
    "example": {
        "kinds": example(t=field(1, field(1, b"abc") + field(1, b"")), x=field(2, field(1, struct.pack("<2f", 1, 2))),
                         i=field(3, field(1, b"\3\xff\x01")), n=b""),
        "not_packed": example(x=field(2, b"\x0d\0\0\x80\x3f"), i=field(3, b"\x08\x05\x08\x07")),
        "pieces": example(x=field(3, field(1, b"\1")) + field(2, b"") + field(3, field(1, b"\2")) * 2)
        + example(x=field(3, b"")),
        "sequence": example(n=field(3, field(1, b"\2")))
        + field(2, field(1, field(1, b"l") + field(2, field(1, field(3, field(1, b"\1"))) * 2))),
        "group": b"\x0b\x13\x14\x0c" + example(x=b""),
    },
    "row_lists": {
        "lists": rows(1, 8, 3) + rows() + rows(3, 0, 1, 2),
        "twice": rows(1, 1) + rows() + rows(),
        "no_row": rows() + rows(9) + rows(),
        "beyond_its_slot": rows() + rows() + struct.pack("<qi60x9i", 64 + 9 * 12, 9, *range(9)).ljust(120, b"\0"),
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
