#!/usr/bin/env python3
"""Train the name head and its gate, and add them to a model.

    cargo run --release -p cloak-names --example vectors <lines.jsonl >vectors.bin
    python models/train/head.py lines.jsonl vectors.bin models/spacy-en-sm/model.safetensors [EPOCHS]

A model that has a head already is trained further. It is saved after each epoch.

A token's lexical vector is the mean of the embeddings of its character n-grams, with eleven facts of
its shape. The gate sees those of a token and its two neighbours on either side; the head sees them
and the token's vector from the frozen network. Tensors added, row-major:
    lexical.grams [32768, 8]
    gate.hidden.weight [16, 95]  .bias [16]   gate.out.weight [1, 16]  .bias [1]
    head.hidden.weight [64, 191] .bias [64]   head.out.weight [3, 64]  .bias [3]    outside, first, later
"""
import json
import sys
from collections import Counter

import numpy as np
import scipy.sparse as sparse
from safetensors.numpy import load_file, save_file
from safetensors import safe_open

BUCKETS, LEXICAL, SHAPE, AROUND, HIDDEN, GATE = 1 << 15, 8, 11, 2, 64, 16
OWN = LEXICAL + SHAPE
LONGEST = 24


def fnv1a(data):
    h = 0x811C9DC5
    for b in data:
        h = ((h ^ b) * 0x01000193) & 0xFFFFFFFF
    return h


def grams(word):
    """Buckets of the whole word, then of its n-grams of 2 to 4 characters."""
    marked = "<" + word.lower()[:LONGEST] + ">"
    out = [fnv1a(marked.encode()) % BUCKETS]
    for n in (2, 3, 4):
        out += [fnv1a(marked[i : i + n].encode()) % BUCKETS for i in range(len(marked) - n + 1)]
    return out


def shape(word, apart):
    letters = [c for c in word if c.isalpha()]
    return [
        word[0].isupper(),
        len(letters) > 1 and all(c.isupper() for c in letters),
        bool(letters) and all(c.islower() for c in letters),
        any(c.isnumeric() for c in word),
        any(not c.isalnum() and c not in "'’-." for c in word),
        any(a.islower() and b.isupper() for a, b in zip(word, word[1:])),
        len(word) == 1,
        apart,
        any(ord(c) >= 0x370 for c in letters),
        not any(c.isalnum() for c in word),
        min(len(word), 20) / 10,
    ]


def read(lines, vectors):
    data = memoryview(open(vectors, "rb").read())
    at, ids, types, words, shapes, labels, starts, xs = 0, {}, [], [], [], [], [], []
    for line in open(lines, encoding="utf-8"):
        row = json.loads(line)
        text = row["text"].encode()
        offsets = np.cumsum([0] + [len(c.encode()) for c in row["text"]])
        names = [(offsets[a], offsets[b]) for a, b in row["names"]]
        (n,) = np.frombuffer(data[at : at + 4], "<u4")
        at += 4
        spans = np.frombuffer(data[at : at + 8 * n], "<u4").reshape(-1, 2)
        at += 8 * n
        xs.append(np.frombuffer(data[at : at + 192 * n], "<f2").reshape(n, 96))
        at += 192 * n
        starts.append(len(types))
        last = None
        for a, b in spans:
            word = text[a:b].decode()
            if word not in ids:
                ids[word] = len(words)
                words.append(word)
            types.append(ids[word])
            shapes.append(shape(word, last != a))
            last = b
            inside = [k for k, (s, e) in enumerate(names) if a < e and b > s]
            first = inside and a <= names[inside[0]][0]
            labels.append(0 if not inside else 1 if first else 2)
    starts.append(len(types))
    return words, np.array(types), np.array(shapes, np.float32), np.array(labels), np.array(starts), np.concatenate(xs)


def gram_matrices(words):
    whole, parts, rows, weights = [], [], [], []
    for i, word in enumerate(words):
        g = grams(word)
        whole.append(g[0])
        parts += g[1:]
        rows += [i] * (len(g) - 1)
        weights.append(1 / len(g))
    weights = np.array(weights, np.float32)
    n = len(words)
    shape = (n, BUCKETS)
    return (
        sparse.csr_matrix((weights, (np.arange(n), whole)), shape),
        sparse.csr_matrix((weights[rows], (rows, parts)), shape),
    )


class Adam:
    def __init__(self, params, rate):
        self.p, self.rate, self.t = params, rate, 0
        self.m = {k: np.zeros_like(v) for k, v in params.items()}
        self.v = {k: np.zeros_like(v) for k, v in params.items()}

    def step(self, grads, rate):
        self.t += 1
        for k, g in grads.items():
            self.m[k] += 0.1 * (g - self.m[k])
            self.v[k] += 0.001 * (g * g - self.v[k])
            m, v = self.m[k] / (1 - 0.9**self.t), self.v[k] / (1 - 0.999**self.t)
            self.p[k] -= rate * m / (np.sqrt(v) + 1e-8)


def windowed(own, line):
    """The rows of a token and of its neighbours in the same line, zeros beyond it."""
    out = []
    for d in range(-AROUND, AROUND + 1):
        moved = np.zeros_like(own)
        same = np.zeros(len(own), bool)
        src = slice(max(0, d), len(own) + min(0, d))
        dst = slice(max(0, -d), len(own) - max(0, d))
        same[dst] = line[src] == line[dst]
        moved[dst] = own[src]
        moved[~same] = 0
        out.append(moved)
    return np.concatenate(out, 1)


def unwindowed(grad, line):
    own = np.zeros((len(grad), grad.shape[1] // (2 * AROUND + 1)), np.float32)
    w = own.shape[1]
    for k, d in enumerate(range(-AROUND, AROUND + 1)):
        src = slice(max(0, d), len(own) + min(0, d))
        dst = slice(max(0, -d), len(own) - max(0, d))
        own[src] += grad[dst, k * w : (k + 1) * w] * (line[src] == line[dst])[:, None]
    return own


def softmax(z):
    z = np.exp(z - z.max(1, keepdims=True))
    return z / z.sum(1, keepdims=True)


def main():
    lines, vectors, model = sys.argv[1:4]
    epochs = int(sys.argv[4]) if len(sys.argv) > 4 else 6
    rng = np.random.default_rng(1)
    words, types, shapes, labels, starts, xs = read(lines, vectors)
    whole, parts = gram_matrices(words)
    print(len(words), "words", len(types), "tokens", Counter(labels.tolist()), flush=True)
    line_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    init = lambda o, i: (rng.standard_normal((o, i)) * np.sqrt(2 / i)).astype(np.float32)
    zeros = lambda n: np.zeros(n, np.float32)
    wide = OWN * (2 * AROUND + 1)
    P = {
        "lexical.grams": (rng.standard_normal((BUCKETS, LEXICAL)) * 0.3).astype(np.float32),
        "gate.hidden.weight": init(GATE, wide), "gate.hidden.bias": zeros(GATE), "gate.out.weight": init(1, GATE), "gate.out.bias": zeros(1),
        "head.hidden.weight": init(HIDDEN, wide + 96), "head.hidden.bias": zeros(HIDDEN), "head.out.weight": init(3, HIDDEN), "head.out.bias": zeros(3),
    }

    with safe_open(model, "np") as f:
        metadata = f.metadata()
    tensors = load_file(model)
    P.update({k: tensors[k].astype(np.float32) for k in P if k in tensors})

    def run(index, train):
        unique, back = np.unique(types[index], return_inverse=True)
        w, p = whole[unique], parts[unique]
        if train:  # forget whole words now and then, so that their parts are learnt
            w = sparse.diags((rng.random(len(unique)) < 0.6).astype(np.float32)) @ w
        lexical = np.asarray((w + p) @ P["lexical.grams"])
        own = np.concatenate([lexical[back], shapes[index]], 1)
        line = line_of[index]
        around = windowed(own, line)
        x = xs[index].astype(np.float32)
        drop_x = drop_a = 1
        if train:
            drop_x = (rng.random(x.shape) > 0.1) / np.float32(0.9)
            drop_a = (rng.random(around.shape) > 0.1) / np.float32(0.9)
        a = around * drop_a
        inputs = np.concatenate([a, x * drop_x], 1).astype(np.float32)
        gz = a @ P["gate.hidden.weight"].T + P["gate.hidden.bias"]
        gh = np.maximum(gz, 0)
        g = 1 / (1 + np.exp(-(gh @ P["gate.out.weight"].T + P["gate.out.bias"])[:, 0]))
        hz = inputs @ P["head.hidden.weight"].T + P["head.hidden.bias"]
        hh = np.maximum(hz, 0)
        q = softmax(hh @ P["head.out.weight"].T + P["head.out.bias"])
        if not train:
            return g, q
        y, n = labels[index], len(index)
        dg = ((g - (y > 0)) / n)[:, None].astype(np.float32)
        dq = q.copy()
        dq[np.arange(n), y] -= 1
        dq = (dq / n).astype(np.float32)
        G = {"gate.out.weight": dg.T @ gh, "gate.out.bias": dg.sum(0), "head.out.weight": dq.T @ hh, "head.out.bias": dq.sum(0)}
        dgh = (dg @ P["gate.out.weight"]) * (gz > 0)
        G["gate.hidden.weight"], G["gate.hidden.bias"] = dgh.T @ a, dgh.sum(0)
        dhh = (dq @ P["head.out.weight"]) * (hz > 0)
        G["head.hidden.weight"], G["head.hidden.bias"] = dhh.T @ inputs, dhh.sum(0)
        da = (dgh @ P["gate.hidden.weight"] + dhh @ P["head.hidden.weight"][:, :wide]) * drop_a
        down = unwindowed(da.astype(np.float32), line)[:, :LEXICAL]
        per_type = np.zeros((len(unique), LEXICAL), np.float32)
        np.add.at(per_type, back, down)
        G["lexical.grams"] = np.asarray((w + p).T @ per_type) + 1e-6 * P["lexical.grams"]
        loss = -np.log(q[np.arange(n), y] + 1e-9).mean()
        return loss, G

    count = len(starts) - 1
    order = rng.permutation(count)
    held, used = order[: count // 25], order[count // 25 :]
    tokens_of = lambda some: np.concatenate([np.arange(starts[i], starts[i + 1]) for i in some])
    adam = Adam(P, 0.003)
    size = 300
    steps, step = epochs * (len(used) // size), 0
    for epoch in range(epochs):
        rng.shuffle(used)
        total = 0
        for k in range(len(used) // size):
            loss, G = run(tokens_of(used[k * size : (k + 1) * size]), True)
            adam.step(G, 0.003 * (1 - step / steps) + 1e-5)
            total += loss
            step += 1
        index = tokens_of(held)
        g, q = run(index, False)
        y, name = labels[index] > 0, 1 - q[:, 0]
        for threshold in (0.3, 0.5, 0.7):
            found = name > threshold
            print(f"epoch {epoch} loss {total / (k + 1):.4f} p>{threshold} precision {(found & y).sum() / max(1, found.sum()):.4f} recall {(found & y).sum() / y.sum():.4f}")
        for threshold in (0.01, 0.02, 0.05, 0.1):
            print(f"  gate >{threshold} passes {(g > threshold).mean():.3f}, keeps {((g > threshold) & y & (name > .5)).sum() / (y & (name > .5)).sum():.4f} of the head's finds", flush=True)
        tensors.update({k: v.astype(np.float16) for k, v in P.items()})
        save_file(tensors, model, metadata=metadata)


if __name__ == "__main__":
    main()
