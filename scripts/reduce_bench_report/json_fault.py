"""Reads JSON, and says of a text that is none where it is wrong, and the likely cause.

`apps/common/json_fault.cpp` says the same in the same words.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

MOST_NESTING = 16  # more than any of the documents needs
MOST_SHOWN = 20  # characters of the line before and after a fault

CUT_SHORT = "the file ends here, perhaps cut short: write it again"
COMMENT = "a comment, which JSON does not have: remove it"
SINGLE_QUOTES = "single quotes: write double quotes"
NO_VALUE = "no value: one is a number, a string in double quotes, true, false, null, [...] or {...}"
NO_KEY = "no key: write one in double quotes"
NO_COLON = "a colon is missing after the key: write it"
NO_COMMA = "a comma is missing before this: write it"
UNCLOSED = "a string that does not end in its line: close its quotes"
BAD_ESCAPE = "a backslash that begins no escape of JSON: write it as two backslashes"
HALF_PAIR = "half of a surrogate pair: write the whole character"
NOT_UTF8 = "a byte that is not UTF-8: save the file as UTF-8"
TWICE = "a key that stands twice in one object: keep one"
TOO_LARGE = "a number larger than any that can be read: change it"
MORE_TEXT = "more text after the end of the document: remove it"

SPACE = " \t\n\r"
WORD = re.compile(r"[0-9A-Za-z_+.-]*")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
PLAIN = re.compile(r'[^"\\\x00-\x1f]*')  # of a string
ESCAPE = re.compile(r'\\["\\/bfnrt]')
CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse(content: bytes) -> Any:
    """The document; `ValueError` says what `json_fault` finds."""
    try:
        text = content.decode("utf-8-sig")
        document = json.loads(
            text,
            object_pairs_hook=_without_doubled_keys,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_integer,
        )
        if not SURROGATE.search(text) and not _is_too_deep(document):
            return document
    except (ValueError, RecursionError) as error:
        raise ValueError(json_fault(content) or f"not valid JSON: {error}") from error
    fault = json_fault(content)
    if fault is not None:
        raise ValueError(fault)
    return document


def _without_doubled_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError(TWICE)
    return members


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(TOO_LARGE)
    return number


def _integer(text: str) -> int:
    _finite(text)
    return int(text)


def _is_too_deep(document: Any) -> bool:
    level = [document]
    for _ in range(MOST_NESTING):
        level = [
            child
            for node in level
            if isinstance(node, dict | list)
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    return any(isinstance(node, dict | list) for node in level)


def json_fault(content: bytes) -> str | None:
    """The first fault as a clause with its line and column, what stands there, the likely cause and
    what to do; None where the text can be read.

    Beside what JSON forbids, a fault is what would be lost or not fit: a key that stands twice in
    one object, deep nesting, a number too large for a double.
    """
    if is_utf16(content):
        return "not valid JSON: it is UTF-16: save it as UTF-8"
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip(SPACE.encode()):
        return "not valid JSON: the file is empty: write it again, or name another"
    try:
        scan = _Scan(content.decode())
    except UnicodeDecodeError as error:
        scan = _Scan(content[: error.start].decode())
        return f"not valid JSON at {scan.place(len(scan.text))}: {NOT_UTF8}"
    try:
        scan.read()
    except _FaultError as fault:
        return str(fault)
    return None


def is_utf16(content: bytes) -> bool:
    """By its mark, or by the NUL that is half of an ASCII character."""
    return content[:2] in (b"\xff\xfe", b"\xfe\xff") or content[:2].count(0) == 1 < len(content)


class _FaultError(Exception):
    pass


@dataclass(frozen=True)
class _Open:
    """An object or array that has not ended."""

    bracket: str
    keys: set[str]


class _Scan:
    """Reads a text until its first fault."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = self.end_of_last = 0
        self.last = 0  # where the last number or word began
        self.comma = -2  # the last one
        self.next = "value"  # or: value or end, key, key or end, colon, comma or end, nothing
        self.open: list[_Open] = []

    def place(self, at: int) -> str:
        """Such as `line 3, column 7, near '"n": [8,]'`."""
        begin = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        first, last = max(begin, at - MOST_SHOWN), min(end, at + MOST_SHOWN)
        shown = self.text[first:at].lstrip(SPACE) + self.text[at:last]
        shown = "".join(" " if c < " " else c for c in shown)
        before, after = "..." * (first > begin), "..." * (last < end)
        line = self.text.count("\n", 0, at) + 1
        return f"line {line}, column {at - begin + 1}, near '{before}{shown}{after}'"

    def invalid(self, at: int, cause: str) -> _FaultError:
        return _FaultError(f"not valid JSON at {self.place(at)}: {cause}")

    def unreadable(self, at: int, cause: str) -> _FaultError:
        return _FaultError(f"{self.place(at)}: {cause}")

    def read(self) -> None:
        """Passes the document. `_FaultError` at its first fault."""
        while self.step():
            self.end_of_last = self.at

    def step(self) -> bool:
        """Reads a token; False at the end of the text."""
        while self.text[self.at : self.at + 1] in tuple(SPACE):
            self.at += 1
        start = self.text[self.at : self.at + 2]
        c = start[:1]
        if not c:
            if self.next != "nothing":
                raise self.invalid(self.end_of_last, CUT_SHORT)
            return False
        if start in ("//", "/*") or c == "#":
            raise self.invalid(self.at, COMMENT)
        if self.next == "nothing":
            raise self.invalid(self.at, MORE_TEXT)
        if self.next == "colon":
            self.read_colon(c)
        elif c in "}]":
            self.read_end(c)
        elif self.next == "comma or end":
            self.read_comma(c)
        elif c == "'":
            raise self.invalid(self.at, SINGLE_QUOTES)
        elif self.next in ("key", "key or end"):
            self.read_key(c)
        else:
            self.read_value(c)
        return True

    def read_colon(self, c: str) -> None:
        if c != ":":
            raise self.invalid(self.at, NO_COLON)
        self.at += 1
        self.next = "value"

    def read_comma(self, c: str) -> None:
        if c == "^" and NUMBER.fullmatch(self.text, self.last, self.at):
            word = WORD.match(self.text, self.at + 1)
            power = self.text[self.last : word.end() if word else None][:MOST_SHOWN]
            raise self.invalid(self.last, f'a power without quotes: write "{power}"')
        if c != ",":
            raise self.invalid(self.at, NO_COMMA)
        self.comma = self.at
        self.at += 1
        self.next = "key" if self.open[-1].bracket == "{" else "value"

    def read_end(self, c: str) -> None:
        if self.end_of_last == self.comma + 1:
            raise self.invalid(self.comma, f"a comma before '{c}': remove it")
        if self.next == "value":
            raise self.invalid(self.at, NO_VALUE)
        belongs = "}" if self.open[-1].bracket == "{" else "]"
        if c != belongs:
            raise self.invalid(self.at, f"'{c}' where '{belongs}' belongs")
        self.at += 1
        self.open.pop()
        self.end_value()

    def read_key(self, c: str) -> None:
        if c != '"':
            raise self.invalid(self.at, NO_KEY)
        at, keys = self.at, self.open[-1].keys
        self.read_string()
        key = json.loads(self.text[at : self.at])
        if key in keys:
            raise self.unreadable(at, TWICE)
        keys.add(key)
        self.next = "colon"

    def read_value(self, c: str) -> None:
        if c in "{[":
            if len(self.open) == MOST_NESTING:
                raise self.unreadable(self.at, f"nests deeper than {MOST_NESTING} levels")
            self.open.append(_Open(c, set()))
            self.at += 1
            self.next = "key or end" if c == "{" else "value or end"
            return
        if c == '"':
            self.read_string()
        else:
            self.read_word()
        self.end_value()

    def read_word(self) -> None:
        match = WORD.match(self.text, self.at)
        word = match[0] if match else ""
        if NUMBER.fullmatch(word):
            if math.isinf(float(word)):
                raise self.unreadable(self.at, TOO_LARGE)
        elif word not in ("true", "false", "null"):
            if word and self.at + len(word) == len(self.text):
                raise self.invalid(len(self.text), CUT_SHORT)
            raise self.invalid(self.at, NO_VALUE)
        self.last = self.at
        self.at += len(word)

    def end_value(self) -> None:
        self.next = "comma or end" if self.open else "nothing"

    def read_string(self) -> None:
        begin = self.at
        self.at += 1
        while True:
            plain = PLAIN.match(self.text, self.at)
            assert plain
            self.at = plain.end()
            c = self.text[self.at : self.at + 1]
            if not c:
                raise self.invalid(self.at, CUT_SHORT)
            if c == '"':
                self.at += 1
                return
            if c in "\n\r":
                raise self.invalid(begin, UNCLOSED)
            if c != "\\":
                raise self.invalid(self.at, f"a control character: write it as \\u{ord(c):04x}")
            self.read_escape()

    def read_escape(self) -> None:
        at = self.at
        self.at = min(at + (6 if self.text.startswith("u", at + 1) else 2), len(self.text))
        if self.at == len(self.text) or ESCAPE.match(self.text, at):
            return  # at the end, the string has none either
        first = CODE.match(self.text, at)
        if not first:
            raise self.invalid(at, BAD_ESCAPE)
        if 0xD800 <= int(first[1], 16) <= 0xDFFF:
            second = CODE.match(self.text, self.at)
            is_pair = int(first[1], 16) < 0xDC00 and second is not None
            if not (second and is_pair and 0xDC00 <= int(second[1], 16) <= 0xDFFF):
                raise self.invalid(at, HALF_PAIR)
            self.at += 6
