#!/usr/bin/env python3
"""Write a set of tool data with names, unlike the templates that the head is trained on.

    python models/measure/records.py NAMES.jsonl... >records.jsonl

The names are the PERSON spans of the files given. Lines are {"kind", "text", "spans"}.
"""
import json
import random
import sys

CITIES = "Rotterdam Lyon Graz Osaka Quito Tampere Leeds Boston Nairobi Perth".split()
BRANDS = ["Johnnie Walker", "Herman Miller", "Ben Sherman", "Bosch", "Trader Joe's", "Marks & Spencer", "Blue Bottle"]
PRODUCTS = ["wireless mouse", "USB-C cable", "oak table", "LED lamp", "Garden hose", "Steel Kettle"]


def documents(names, rng):
    """Kinds and parts; a part that is a tuple is a name."""
    name = lambda: (rng.choice(names),)
    city, brand, product = (lambda: rng.choice(CITIES)), (lambda: rng.choice(BRANDS)), (lambda: rng.choice(PRODUCTS))
    number = lambda top=999: str(rng.randint(1, top))
    for k in range(60):
        parts = ["order_id,customer,town,item,total\n"] if k % 2 else []
        for i in range(6):
            parts += [f"{1000 + 7 * i},", name(), f",{city()},{product()},{number()}.50\n"]
        yield "csv", parts
        parts = ["["]
        for _ in range(4):
            parts += [f'{{"ticket":{number()},"reporter":"', name(), f'","site":"{city()}","brand":"{brand()}"}},']
        yield "json", parts + ["]"]
        parts = ['{\n  "items": [\n']
        for _ in range(3):
            parts += ['    {\n      "buyer": "', name(), f'",\n      "sku": "{product()}",\n      "ship_city": "{city()}"\n    }},\n']
        yield "json", parts + ["  ]\n}\n"]
        parts = ["members:\n"]
        for _ in range(4):
            parts += ["  - full_name: ", name(), f"\n    location: {city()}\n    team: Data Infra\n"]
        yield "yaml", parts
        parts = []
        for _ in range(6):
            parts += [f"2026-02-{rng.randint(10, 28)} 08:15:07,{number()} [http-nio-8080-exec-{number(20)}] INFO c.e.OrderService - "]
            parts += rng.choice([
                ["Order placed by ", name(), f" (id={number()})\n"], [f"cache miss for key {product()}\n"],
                ["login ok principal=", name(), f" ip=10.1.2.{number(250)}\n"],
                ['Password reset requested for "', name(), '"\n'], ['Starting ProtocolHandler ["http-nio-8080"]\n'],
            ])
        yield "log", parts
        yield "email", [
            f"Subject: Re: {city()} delivery\nFrom: ", name(), " <u@example.com>\nTo: ", name(), " <v@example.com>\n\nHi ",
            (name()[0].split()[0],), f",\n\nthe {product()} has arrived in {city()}. ", name(),
            " will pick it up on Tuesday.\n\nKind regards,\n", name(), "\n",
        ]
        said = ["yesterday ", name(), f" told me that the pool in {city()} was closed, so ", name(), " drove home."]
        for kind, change in (("lower case", str.lower), ("upper case", str.upper)):
            yield kind, [(change(p[0]),) if isinstance(p, tuple) else change(p) for p in said]
        parts = ["| Who | Where | Since |\n|---|---|---|\n"]
        for _ in range(4):
            parts += ["| ", name(), f" | {city()} | 20{rng.randint(10, 25)} |\n"]
        yield "markdown", parts
        yield "sql", ["INSERT INTO guests (full_name, room) VALUES ('", name(), f"', {number(99)}), ('", name(), f"', {number(99)});\n"]


def main():
    names = []
    for file in sys.argv[1:]:
        for line in open(file, encoding="utf-8"):
            row = json.loads(line)
            values = [row["text"][s["start"] : s["end"]] for s in row["spans"] if s["label"] == "PERSON"]
            names += [v for v in values if v == v.strip() and "\n" not in v and len(v.split()) > 1]
    for kind, parts in documents(names, random.Random(11)):
        text, spans = "", []
        for part in parts:
            if isinstance(part, tuple):
                spans.append({"start": len(text), "end": len(text) + len(part[0]), "label": "PERSON"})
            text += part[0] if isinstance(part, tuple) else part
        print(json.dumps({"kind": kind, "text": text, "spans": spans}, ensure_ascii=False))


if __name__ == "__main__":
    main()
