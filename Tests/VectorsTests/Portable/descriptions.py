"""Descriptions of formats: the part of YAML that they use, expressions, and what they say. Source: docs/formats.md."""
import collections
import functools
import hashlib
import hmac
import json
import pathlib
import re

from ciphers import tagCount, xor

# The part of YAML that descriptions use. All scalars are text.
TOKEN = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[\[\]{},]|:(?=\s)|(?:[^\[\]{},:]|:(?=\S))+)""")


def flow(tokens):
    """A scalar, a list between brackets, or a mapping between braces."""
    first = tokens.pop(0)
    if first[0] == "'":
        return first[1:-1].replace("''", "'")
    if first not in "[{":
        return json.loads(first) if first[0] == '"' else first.strip()
    found = [] if first == "[" else {}
    while tokens[0] not in "]}":
        item = flow(tokens)
        if first == "[":
            found.append(item)
        else:
            tokens.pop(0)
            found[item] = flow(tokens)
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    return found


def inline(text):
    return flow(TOKEN.findall(text)) if text[0] in "[{\"'" else re.split(r"\s+#", text)[0]


def block(lines):
    """What the first of many (indent, text) are, which are taken away."""
    indent, first = lines[0]
    isList, items, found = first.startswith("- "), [], {}
    while lines and lines[0][0] == indent and lines[0][1].startswith("- ") == isList:
        text = lines.pop(0)[1]
        pair = re.fullmatch(r"(.+?):(?:\s+(.*))?", text)
        if isList:
            rest = text[2:].lstrip()
            lines.insert(0, (indent + len(text) - len(rest), rest))
            items.append(block(lines))
        elif text[0] in "[{\"'" or not pair:
            return inline(text)
        else:
            found[pair[1]] = inline(pair[2]) if pair[2] and pair[2][0] != "#" else block(lines)
    return items if isList else found


def yaml(text):
    lines = [(len(line) - len(line.lstrip()), line.strip()) for line in text.splitlines()]
    return block([line for line in lines if line[1] and line[1][0] != "#"])


# Expressions become Python's, in which e has the values of names.
SYMBOL = re.compile(
    r"\s*(0x[0-9a-fA-F]+|\d+|x'[0-9a-fA-F]*'|'[^']*'|[A-Za-z][\w.]*|\|\||&&|[=!<>]=|<<|>>|\+\+|.)")
LEVELS = [level.split() for level in "?; ||; &&; == !=; < <= > >=; |; ^; &; << >>; ++; + -; * / %".split(";")]
PYTHON = {"||": "bool({} or {})", "&&": "bool({} and {})", "++": "({} + {})", "/": "({} // {})", "^": "xor({}, {})"}


def part(data, start, count):
    assert 0 <= start <= start + count <= len(data), f"a slice of {count} bytes from {start} on of {len(data)}"
    return data[start:start + count]


def added(data, number, order):
    return ((int.from_bytes(data, order) + number) % 256**len(data)).to_bytes(len(data), order)


def mac(name, key, data):
    return hmac.digest(key, data, name.decode())


def expanded(name, key, info, count):
    """HKDF-Expand."""
    found = last = b""
    while len(found) < count:
        last = mac(name, key, last + info + bytes([len(found) // len(last or b"1") + 1]))
        found += last
    return found[:count]


FUNCTIONS = {
    "tagCount": tagCount, "xor": xor, "len": len, "slice": part, "truncate": lambda b, n: part(b, 0, n), "zeros": bytes,
    "repeat": lambda b, n: b * n, "reverse": lambda b: b[::-1],
    "be": lambda v, n: v.to_bytes(n, "big"), "le": lambda v, n: v.to_bytes(n, "little"),
    "beInt": lambda b: int.from_bytes(b, "big"), "leInt": lambda b: int.from_bytes(b, "little"),
    "addBE": lambda b, v: added(b, v, "big"), "addLE": lambda b, v: added(b, v, "little"),
    "hash": lambda h, m: hashlib.new(h.decode(), m).digest(), "hmac": mac,
    "hkdf": lambda h, key, salt, info, n: expanded(h, mac(h, salt, key), info, n),
    "hkdfExtract": lambda h, key, salt: mac(h, salt, key), "hkdfExpand": expanded,
    "pbkdf2": lambda h, key, salt, count, n: hashlib.pbkdf2_hmac(h.decode(), key, salt, count, n),
    **{f"u{8 * n}{end}e": lambda v, n=n, order=order: v.to_bytes(n, order)
       for n in (1, 2, 4, 8, 16) for end, order in (("b", "big"), ("l", "little"))},
    "u8": lambda v: v.to_bytes(1, "big")}


class Formula:
    """An expression: what it comes to with some values, and the names that it uses."""

    def __init__(self, text, functions):
        self.functions, self.names = functions, set()
        self.run = eval("lambda e: " + self.python(SYMBOL.findall(text) + [""], ()), FUNCTIONS)

    def __call__(self, values):
        return self.run(values)

    def python(self, tokens, own, level=0):
        """Takes an expression off the tokens; own are the parameters of the function that it stands in."""
        if level == len(LEVELS):
            return self.operand(tokens.pop(0), tokens, own)
        found = self.python(tokens, own, level + 1)
        while tokens[0] in LEVELS[level]:
            symbol = tokens.pop(0)
            other = self.python(tokens, own, level + 1 if level else 0)
            if symbol == "?":
                assert tokens.pop(0) == ":", "? without :"
                found = f"({other} if {found} else {self.python(tokens, own)})"
            else:
                found = PYTHON.get(symbol, "({} " + symbol + " {})").format(found, other)
        return found

    def operand(self, token, tokens, own):
        if token == "!":
            return f"(not {self.operand(tokens.pop(0), tokens, own)})"
        if token == "(":
            found = self.python(tokens, own)
            assert tokens.pop(0) == ")", "( without )"
            return found
        if token[0].isdigit():
            return str(int(token, 0))
        if token[-1] == "'":
            return repr(token[1:-1].encode() if token[0] == "'" else bytes.fromhex(token[2:-1]))
        if token in own:
            return "_" + token
        if tokens[0] != "(":
            self.names.add(token)
            return f"e[{token!r}]"
        arguments = []
        while tokens.pop(0) != ")":
            if tokens[0] != ")":
                arguments.append(self.python(tokens, own))
        if token in self.functions:
            own, body = self.functions[token]
            token = f"(lambda {', '.join('_' + name for name in own)}: {self.python(SYMBOL.findall(body) + [''], own)})"
        return f"{token}({', '.join(arguments)})"


# A field of a header or a trailer or a part of a chunk: its length, or what the line behind it begins with, or how often others
# come in it; what it may be if not anything, and the error otherwise; what a writer puts there nevertheless; and how it is
# encrypted, with the fields that it holds.
Field = collections.namedtuple("Field", "name size nextLine repeat contents usual error sealing")
Sealing = collections.namedtuple("Sealing", "cipher key nonce aad held")


class Format:
    """A description, with the inputs that a variant fixes."""

    def __init__(self, text, fixed):
        self.text, self.functions = text, {}
        for head, body in text.get("functions", {}).items():
            name, *parameters = re.findall(r"\w+", head)
            self.functions[name] = parameters, body
        kinds = [(name, kind) for name, kind in [*text["inputs"].items(), *fixed.items()] if kind]
        self.defaults = {name: kind.get("default") if isinstance(kind, dict) else kind for name, kind in kinds}
        self.header = [self.field(item) for item in text.get("header", [])]
        self.layout = [item if item == "data" else self.field(item) for item in text.get("layout", ["data"])]
        self.parts = [item for item in self.layout if item != "data"]
        trailer = text.get("trailer", [])
        self.trailer = [self.field(item) for item in (trailer if isinstance(trailer, list) else [{"rest": trailer}])]
        self.derived = {name: self.formula(body) for item in text.get("derive", []) for name, body in item.items()}
        self.checks = [
            (self.formula(check.get("when", "1")), self.formula(check["that"]), self.error(check))
            for check in text.get("check", [])]
        # The offset of the data, if they stand behind a table.
        self.dataStart = self.formula(text.get("dataStart", "0"))
        lengths = ["start", "chunk", "firstChunk", "multipleOf", "padding", "maxChunks"]
        names = [*lengths, "lastChunk", "cipher", "key", "nonce", "aad", "rejectNonce", "hole"]
        # A hole under no condition.
        always = {"zero": "1"}
        self.members = {name: self.formula(always.get(text[name], text[name])) for name in names if name in text}
        self.isCoded = any("data" in content.names for field in self.parts for content in field.contents)
        # Whether a header has to be seen before lengths are known.
        used = [field.size for field in self.header + self.parts + self.trailer]
        used += [self.members[name] for name in lengths if name in text]
        names = set().union(*(formula.names for formula in used))
        for name in reversed(list(self.derived)):
            names |= self.derived[name].names if name in names else set()
        self.isLate = "lastChunk" in text or any(
            field.name in names or field.nextLine or field.repeat for field in self.header)

    def formula(self, text):
        isWord = re.fullmatch("aes-[a-z-]+|x?(chacha|salsa)20-poly1305|pkcs7|none", text)
        return Formula("1 << 100" if text == "whole" else f"'{text}'" if isWord else text, self.functions)

    def error(self, rule):
        return rule.get("error", "authenticationFailed")

    def field(self, item):
        (name, rule), = item.items()
        rule = rule if isinstance(rule, dict) else {"bytes": rule}
        sealing = None
        if "holds" in rule:
            counts = [item if isinstance(item, str) else item["bytes"] for held in rule["holds"] for item in held.values()]
            held = [self.field(item) for item in rule["holds"]]
            sealing = Sealing(*(self.formula(rule.get(name, "''")) for name in ("cipher", "key", "nonce", "aad")), held)
            cipher = rule["cipher"] if "'" in rule["cipher"] else f"'{rule['cipher']}'"
            rule = {"bytes": " + ".join(f"({count})" for count in counts + [f"tagCount({cipher})"]), **rule}
        size, nextLine = self.formula(rule.get("bytes", "0")), self.formula(rule.get("linesBefore", "''"))({})
        repeat, contents = None, rule.get("oneOf", [rule["is"]] if "is" in rule else [])
        if "repeat" in rule:
            fields = [pair for item in rule["repeat"]["fields"] for pair in item.items()]
            repeat = self.formula(rule["repeat"]["times"]), [(name, self.formula(size)) for name, size in fields]
        usual = self.formula(rule["usually"]) if "usually" in rule else None
        contents = [self.formula(text) for text in contents]
        return Field(name, size, nextLine, repeat, contents, usual, self.error(rule), sealing)

    def known(self, group):
        """The values of a group's inputs."""
        def value(kind, text):
            if not isinstance(kind, dict) or "bytes" in kind:
                return bytes.fromhex(text)
            isNumber = "text" not in kind and all(word.isdigit() for word in kind.get("oneOf", []))
            return int(text) if isNumber else text.encode()
        return {
            name: value(kind, group.get(name, self.defaults.get(name))) for name, kind in self.text["inputs"].items()}


# The descriptions that vector files have in them.
own = []


@functools.lru_cache(maxsize=None)
def described(strategy):
    """The format that a strategy names."""
    paths = (pathlib.Path(__file__).resolve().parents[3] / "data/formats").glob("*.yml")
    for text in own + [path.read_text(encoding="utf-8") for path in paths]:
        for name, text in yaml(text).items():
            variants = text.get("variants", {name: {}})
            if strategy in variants:
                return Format(text, variants[strategy])
    raise AssertionError(f"{strategy}: expected a format of data/formats")
