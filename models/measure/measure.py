#!/usr/bin/env python3
"""Measure a recognizer of people.

    python models/measure/measure.py --program 'target/release/examples/detect PERSON' \\
        --sets gen_names.jsonl presidio_synth_v2.jsonl --negatives negatives.test.jsonl [--show]

PROGRAM reads lines {"id", "text"} and answers each with {"spans": [{"start", "end", "label"}]} in code
points. A line of a set is {"text", "spans": [...], "kind"?}; figures are by kind if it has one.
Precision and recall count names that overlap; every find in a negative is false.
"""
import argparse
import json
import subprocess
from collections import Counter, defaultdict
from pathlib import Path


def load(file):
    return [json.loads(line) for line in open(file, encoding="utf-8")]


def run(program, rows):
    lines = "".join(json.dumps({"id": i, "text": row["text"]}) + "\n" for i, row in enumerate(rows))
    done = subprocess.run(["sh", "-c", program], input=lines.encode(), capture_output=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(rows), done.stderr.decode()
    return [people(answer["spans"]) for answer in answers]


def people(spans):
    return [(s["start"], s["end"]) for s in spans if s["label"] == "PERSON"]


def overlaps(span, others):
    return any(span[0] < end and start < span[1] for start, end in others)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--sets", nargs="*", default=[])
    arguments.add_argument("--negatives", nargs="*", default=[])
    arguments.add_argument("--show", action="store_true", help="the commonest false finds, and misses")
    options = arguments.parse_args()
    false, missed = Counter(), []
    for file in options.sets:
        rows = load(file)
        counts = defaultdict(Counter)
        for row, found in zip(rows, run(options.program, rows)):
            gold, count = people(row["spans"]), counts[row.get("kind", Path(file).stem)]
            for span in found:
                hit = overlaps(span, gold)
                count["right" if hit else "false"] += 1
                if not hit:
                    false[row["text"][slice(*span)]] += 1
            for span in gold:
                count["found" if overlaps(span, found) else "missed"] += 1
                count["exact"] += span in found
                if not overlaps(span, found):
                    missed.append(row["text"][max(0, span[0] - 20) : span[1] + 15])
        for kind, c in counts.items():
            names = c["found"] + c["missed"]
            precision, recall = c["right"] / max(1, c["right"] + c["false"]), c["found"] / max(1, names)
            f1 = 2 * precision * recall / max(1e-9, precision + recall)
            print(f"{kind:20} {names:5} names  P {precision:.2f}  R {recall:.2f}  F1 {f1:.3f}  exact R {c['exact'] / max(1, names):.2f}")
    for file in options.negatives:
        rows = load(file)
        size, finds = Counter(), Counter()
        for row, found in zip(rows, run(options.program, rows)):
            size[row["kind"]] += len(row["text"].encode())
            finds[row["kind"]] += len(found)
            false.update(row["text"][slice(*span)] for span in found)
        for kind in size:
            print(f"{kind:20} {size[kind] / 1e6:5.2f} MB  {finds[kind] * 1e6 / size[kind]:6.0f} false finds a MB")
        print(f"{'all':20} {size.total() / 1e6:5.2f} MB  {finds.total() * 1e6 / size.total():6.0f} false finds a MB")
    if options.show:
        print(false.most_common(60), *missed[:: max(1, len(missed) // 40)], sep="\n")


if __name__ == "__main__":
    main()
