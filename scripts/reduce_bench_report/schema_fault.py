"""Says where a document breaks the schema of results, and what is expected there.

`apps/reduce-bench/results/schema_fault.cpp` says the same in the same words. Both know the keywords
that the schema uses, and no others.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

TYPE_TEXTS = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "null": "null",
}
# As json.loads makes them; true and false are no numbers.
PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
MOST_EXCERPT = 60  # bytes
# Of more choices a message shows some, so that it stays short.
MOST_CHOICES = 10
CHOICES_OF_MANY = 7


class Checker:
    """A schema, made ready once for many documents."""

    def __init__(self, schema: Schema) -> None:
        self.root = schema
        self._rules: dict[int, _Rule] = {}  # by the id of the part of the schema
        self._whole = self.rule(schema)

    def fault(self, document: Any) -> str | None:
        """The first fault with its JSON pointer: `/points/0/n: found -1, expected at least 0`."""
        fault = self._whole.fault(document)
        return fault and f"{fault.pointer or '/'}: {fault.text()}"

    def rule(self, schema: Schema) -> "_Rule":
        while "$ref" in schema:
            found: Any = self.root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        if id(schema) not in self._rules:
            self._rules[id(schema)] = _Rule(schema)
            self._rules[id(schema)].make_ready(self)
        return self._rules[id(schema)]


class _Fault(NamedTuple):
    """What is wrong, and where: a JSON pointer from the value that was looked at."""

    pointer: str
    text: Callable[[], str]  # most faults are of a choice that is passed over: nobody reads them


class _Rule:
    """What a part of a schema says of a value."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.types = {python for name in _types(schema) for python in PYTHON_TYPES[name]}
        self.type_text = " or ".join(TYPE_TEXTS[each] for each in _types(schema))
        self.allowed = schema.get("enum", [schema["const"]] if "const" in schema else [])
        self.allowed_text = _one_of(self.allowed)
        self.pattern = re.compile(schema.get("pattern", ""), re.ASCII)
        self.required = schema.get("required", [])
        self.properties: dict[str, _Rule] = {}
        self.others: _Rule | None = None  # of keys that are no properties
        self.is_open = "additionalProperties" not in schema
        self.items: _Rule | None = None
        self.choices: list[_Rule] = []
        self.all: list[_Rule] = []
        self.condition: _Rule | None = None
        self.then: _Rule | None = None
        self.otherwise: _Rule | None = None

    def make_ready(self, checker: Checker) -> None:
        """Sets the rules of its parts, which may lead back to this one."""
        schema = self.schema
        self.properties = {
            key: checker.rule(each) for key, each in schema.get("properties", {}).items()
        }
        others = schema.get("additionalProperties")
        self.others = checker.rule(others) if isinstance(others, dict) else None
        self.items = checker.rule(schema["items"]) if "items" in schema else None
        self.choices = [checker.rule(e) for e in schema.get("anyOf", schema.get("oneOf", []))]
        self.all = [checker.rule(each) for each in schema.get("allOf", [])]
        if "if" in schema:
            self.condition = checker.rule(schema["if"])
            self.then = checker.rule(schema["then"]) if "then" in schema else None
            self.otherwise = checker.rule(schema["else"]) if "else" in schema else None
        self.chooses = bool(self.choices or self.all or self.condition)

    def fault(self, value: Any) -> _Fault | None:
        kind = type(value)
        if self.types and kind not in self.types:
            return _found(value, self.type_text)
        if self.allowed and not any(_same(value, each) for each in self.allowed):
            return _found(value, self.allowed_text)
        fault = None
        if kind is dict:
            fault = self.fault_of_object(value)
        elif kind is list:
            fault = self.fault_of_array(value)
        elif kind is str:
            fault = self.fault_of_text(value)
        elif kind is int or kind is float:
            fault = self.fault_of_number(value)
        return fault or (self.fault_of_choice(value) if self.chooses else None)

    def fault_of_object(self, value: dict[str, Any]) -> _Fault | None:
        schema = self.schema
        for key in self.required:
            if key not in value:
                return _Fault("", partial("the key '{}' is missing".format, key))
        if len(value) < schema.get("minProperties", 0):
            return _found(value, "a member")
        if len(value) > schema.get("maxProperties", len(value)):
            return _found(value, "no members")
        if self.is_open and not any(
            key in value and rule.fault(value[key]) for key, rule in self.properties.items()
        ):
            return None  # without a look at the many keys of which nothing is said
        for key, each in value.items():
            rule = self.properties.get(key, self.others)
            if rule is not None:
                fault = rule.fault(each)
                if fault is not None:
                    return _Fault(f"/{key}{fault.pointer}", fault.text)
            elif key not in self.properties and schema.get("additionalProperties") is False:
                return _Fault("", partial("unknown key '{}'".format, key))
        return None

    def fault_of_array(self, value: list[Any]) -> _Fault | None:
        if len(value) < self.schema.get("minItems", 0):
            return _found(value, "an array that is not empty")
        for index, each in enumerate(value if self.items else []):
            fault = self.items.fault(each) if self.items else None
            if fault is not None:
                return _Fault(f"/{index}{fault.pointer}", fault.text)
        return None

    def fault_of_text(self, value: str) -> _Fault | None:
        if len(value) < self.schema.get("minLength", 0):
            return _found(value, "a string that is not empty")
        if not self.pattern.search(value):
            return _found(value, f"text as {self.schema['pattern']}")
        return None

    def fault_of_number(self, value: float) -> _Fault | None:
        schema = self.schema
        if "minimum" in schema and value < schema["minimum"]:
            return _found(value, f"at least {schema['minimum']}")
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            return _found(value, f"more than {schema['exclusiveMinimum']}")
        return None

    def fault_of_choice(self, value: Any) -> _Fault | None:
        """Of several schemas, what the last says whose type is the value's: null stands first."""
        said = None
        for choice in self.choices:
            said = choice.fault(value)
            if said is None:
                break
        if said is not None:
            return said
        for each in self.all:
            said = each.fault(value)
            if said is not None:
                return said
        if self.condition is None:
            return None
        branch = self.then if self.condition.fault(value) is None else self.otherwise
        return branch.fault(value) if branch else None


def _types(schema: Schema) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _same(value: Any, allowed: Any) -> bool:
    return isinstance(value, bool) == isinstance(allowed, bool) and bool(value == allowed)


def _found(value: Any, expected: str) -> _Fault:
    return _Fault("", lambda: f"found {_excerpt(value)}, expected {expected}")


def _one_of(allowed: list[Any]) -> str:
    texts = [f"'{each}'" if isinstance(each, str) else _json(each) for each in allowed]
    if len(texts) > MOST_CHOICES:
        texts[CHOICES_OF_MANY:] = [f"one of {len(texts) - CHOICES_OF_MANY} more"]
    *others, last = texts or [""]
    return f"{', '.join(others)} or {last}" if others else last


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _excerpt(value: Any) -> str:
    content = _json(value).encode()
    if len(content) <= MOST_EXCERPT:
        return content.decode()
    return content[: MOST_EXCERPT - 3].decode(errors="ignore") + "..."
