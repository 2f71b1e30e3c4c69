"""Checks a proof of `audit prove` without any of the gateway's code: RFC 9162 section 2.1.3.2 and
2.1.4.2 by the letter, and the note's signature. Usage: check_proof.py PROOF KEY"""
import base64
import hashlib
import json
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def leaf(data):
    return hashlib.sha256(b"\x00" + data).digest()


def node(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def inclusion(hash_, index, size, path):
    fn, sn, r = index, size - 1, hash_
    for p in path:
        assert sn != 0
        if fn & 1 or fn == sn:
            r = node(p, r)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = node(r, p)
        fn, sn = fn >> 1, sn >> 1
    assert sn == 0
    return r


def consistency(first, first_root, second, path):
    if first == second:
        assert not path
        return first_root, first_root
    if first & (first - 1) == 0:
        path = [first_root] + path
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        assert sn != 0
        if fn & 1 or fn == sn:
            fr, sr = node(c, fr), node(c, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node(sr, c)
        fn, sn = fn >> 1, sn >> 1
    assert sn == 0
    return fr, sr


def checkpoint(note, key):
    text, signatures = note.split("\n\n", 1)
    text += "\n"
    origin, size, root = text.split("\n")[:3]
    name, id_, encoded = key.split("+", 2)
    public = base64.b64decode(encoded)
    assert origin == name and public[0] == 1
    assert hashlib.sha256(name.encode() + b"\n" + public).digest()[:4].hex() == id_
    mark, signer, signature = signatures.splitlines()[0].split(" ")
    signature = base64.b64decode(signature)
    assert mark == "\u2014" and signer == name and signature[:4].hex() == id_
    Ed25519PublicKey.from_public_bytes(public[1:]).verify(signature[4:], text.encode())
    return int(size), base64.b64decode(root)


with open(sys.argv[1], encoding="utf-8") as file:
    proof = json.load(file)
hashes = [bytes.fromhex(h) for h in proof["hashes"]]
size, root = checkpoint(proof["checkpoint"], sys.argv[2])
if proof["proof"] == "inclusion":
    line = proof["entry"].encode()
    body = line[:-81] + b"}"
    entry_hash = hashlib.sha256(body).digest()
    assert entry_hash.hex().encode() == line[-66:-2]
    assert inclusion(leaf(entry_hash), proof["index"], size, hashes) == root
else:
    older_size, older_root = checkpoint(proof["older"], sys.argv[2])
    assert consistency(older_size, older_root, size, hashes) == (older_root, root)
print("proven")
