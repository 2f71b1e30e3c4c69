#!/usr/bin/env python3
"""Writes small random token classifiers, and what they answer by a plain computation in double precision.

    pip install numpy safetensors
    python models/tiny.py names/tests/tiny

Each family of models that the gateway runs gets a folder with `config.json`, `tokenizer.json`,
`model.safetensors` and `expected.jsonl`: texts, and the words in them that some label has by half or more,
as [first byte, last byte, label, chance]. `names/tests/transformer.rs` compares.
"""
import json
import sys
from math import erf, sqrt
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

WIDTH, INNER, HEADS, LAYERS, POSITIONS, TYPES = 24, 40, 3, 2, 300, 2
CLASSES = ["O", "B-PER", "I-PER", "B-CITY", "B-NOBODY_KNOWS"]
LABELS = {"PERSON": [1, 2], "GPE": [3]}
WORDS = ["<pad>", "<s>", "</s>", "<unk>", "ann", "bob", "lima", "rome", "red", "blue", "runs", "sits", "7", "日"]
SEQUENCE, SHARED = 254, 64
GAP = "   "
PARTS = {
    "bert": ("bert", "encoder.layer", "attention.self.query attention.self.key attention.self.value "
             "attention.output.dense attention.output.LayerNorm intermediate.dense output.dense output.LayerNorm"),
    "distilbert": ("distilbert", "transformer.layer", "attention.q_lin attention.k_lin attention.v_lin "
                   "attention.out_lin sa_layer_norm ffn.lin1 ffn.lin2 output_layer_norm"),
}
PARTS["roberta"] = ("roberta",) + PARTS["bert"][1:]


def make(family, rng):
    prefix, layer, parts = PARTS[family]
    parts = parts.split()
    made = {}

    def dense(name, outputs, inputs, size=1.0):
        made[name + ".weight"] = rng.normal(0, size / sqrt(inputs), (outputs, inputs))
        made[name + ".bias"] = rng.normal(0, 0.3, outputs)

    def norm(name):
        made[name + ".weight"] = rng.normal(1, 0.2, WIDTH)
        made[name + ".bias"] = rng.normal(0, 0.2, WIDTH)

    made[f"{prefix}.embeddings.word_embeddings.weight"] = rng.normal(0, 1, (len(WORDS), WIDTH))
    made[f"{prefix}.embeddings.position_embeddings.weight"] = rng.normal(0, 0.5, (POSITIONS, WIDTH))
    if family != "distilbert":
        made[f"{prefix}.embeddings.token_type_embeddings.weight"] = rng.normal(0, 0.5, (TYPES, WIDTH))
    norm(f"{prefix}.embeddings.LayerNorm")
    for at in range(LAYERS):
        names = [f"{prefix}.{layer}.{at}.{part}" for part in parts]
        for name in names[:4]:
            dense(name, WIDTH, WIDTH, 2.0)
        norm(names[4])
        dense(names[5], INNER, WIDTH)
        dense(names[6], WIDTH, INNER)
        norm(names[7])
    dense("classifier", len(CLASSES), WIDTH, 4.0)
    return {name: values.astype(np.float16) for name, values in made.items()}


def normalize(x, made, name):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-12) * made[name + ".weight"] + made[name + ".bias"]


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def chances(family, made, ids):
    prefix, layer, parts = PARTS[family]
    made = {name: values.astype(np.float64) for name, values in made.items()}
    linear = lambda x, name: x @ made[name + ".weight"].T + made[name + ".bias"]
    embed = lambda kind: made[f"{prefix}.embeddings.{kind}_embeddings.weight"]
    first = 1 if family == "roberta" else 0
    x = embed("word")[ids] + embed("position")[first : first + len(ids)]
    if family != "distilbert":
        x = x + embed("token_type")[0]
    x = normalize(x, made, f"{prefix}.embeddings.LayerNorm")
    size = WIDTH // HEADS
    for at in range(LAYERS):
        query, key, value, out, norm1, up, down, norm2 = (f"{prefix}.{layer}.{at}.{p}" for p in parts.split())
        context = np.empty_like(x)
        for head in range(HEADS):
            own = slice(head * size, (head + 1) * size)
            q, k, v = linear(x, query)[:, own], linear(x, key)[:, own], linear(x, value)[:, own]
            context[:, own] = softmax(q @ k.T / sqrt(size)) @ v
        x = normalize(x + linear(context, out), made, norm1)
        wide = linear(x, up)
        wide = wide * 0.5 * (1 + np.vectorize(erf)(wide / sqrt(2)))
        x = normalize(x + linear(wide, down), made, norm2)
    return softmax(linear(x, "classifier"))


def tag(family, made, words):
    """The chances of each word, from the sequence in which it is farther from the edge."""
    found, start = [], 0
    while True:
        end = min(len(words), start + SEQUENCE)
        some = chances(family, made, [1, *words[start:end], 2])[1:-1]
        begin = 0 if start == 0 else SHARED // 2
        last = end == len(words)
        found.extend(some[begin:] if last else some[begin : len(some) - SHARED + SHARED // 2])
        if last:
            return found
        start = end - SHARED


def texts(rng):
    for length in [1, 2, 3, 5, 8, 20, 253, 254, 255, 400, 700]:
        # So much white space keeps names apart: each word is an answer of its own.
        yield GAP.join(rng.choice(WORDS[4:] + ["unheard"], length))


def main():
    for family in PARTS:
        rng = np.random.default_rng(len(family))
        folder = Path(sys.argv[1]) / family
        folder.mkdir(parents=True, exist_ok=True)
        made = make(family, rng)
        save_file(made, str(folder / "model.safetensors"))
        names = {"dim": WIDTH, "hidden_dim": INNER, "n_layers": LAYERS, "n_heads": HEADS, "activation": "gelu"}
        if family != "distilbert":
            names = {
                "hidden_size": WIDTH, "intermediate_size": INNER, "num_hidden_layers": LAYERS,
                "num_attention_heads": HEADS, "hidden_act": "gelu", "type_vocab_size": TYPES,
                "layer_norm_eps": 1e-12,
            }
        labels = {str(at): label for at, label in enumerate(CLASSES)}
        config = {
            "model_type": family, "vocab_size": len(WORDS), "max_position_embeddings": POSITIONS,
            "pad_token_id": 0, "id2label": labels, **names,
        }
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
        special = [
            {"id": at, "content": WORDS[at], "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True}
            for at in range(4)
        ]
        marks = {word: {"id": word, "ids": [WORDS.index(word)], "tokens": [word]} for word in ("<s>", "</s>")}
        single = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                  {"SpecialToken": {"id": "</s>", "type_id": 0}}]
        tokenizer = {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
            "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
            "post_processor": {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": marks},
            "decoder": None,
            "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(WORDS)}, "unk_token": "<unk>"},
        }
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer, indent=1, ensure_ascii=False) + "\n")
        with open(folder / "expected.jsonl", "w", encoding="utf-8") as out:
            for text in texts(rng):
                words = text.split()
                ids = [WORDS.index(word) if word in WORDS else 3 for word in words]
                at, found = 0, []
                for word, chance in zip(words, tag(family, made, ids)):
                    end = at + len(word.encode())
                    for label, classes in LABELS.items():
                        if chance[classes].sum() >= 0.5:
                            found.append([at, end, label, round(float(chance[classes].sum()), 6)])
                    at = end + len(GAP)
                out.write(json.dumps({"text": text, "names": found}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
