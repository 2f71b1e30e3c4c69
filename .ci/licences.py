"""Refuses a dependency whose licence deny.toml does not allow. Reads `cargo metadata` on standard input.

Stands in for `cargo deny check licenses` where cargo-deny is not installed.
"""
import json
import re
import sys
import tomllib

with open("deny.toml", "rb") as file:
    allowed = set(tomllib.load(file)["licenses"]["allow"])


def passes(expression):
    """Whether an SPDX expression can be satisfied with allowed licences only."""
    tokens = re.findall(r"\(|\)|[^\s()]+(?: WITH [^\s()]+)?", expression.replace("/", " OR "))
    words = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    return eval(" ".join(words.get(token, str(token in allowed)) for token in tokens))


packages = json.load(sys.stdin)["packages"]
bad = [
    f"{package['name']} {package['version']}: {package['license']}"
    for package in packages
    if package["source"] and not (package["license"] and passes(package["license"]))
]
print(f"{len(packages)} packages looked at, {len(bad)} with a licence that is not allowed")
print("\n".join(bad))
sys.exit(bool(bad))
