"""Says where a document breaks the schema of results, and what is expected there.

`apps/reduce-bench/results/schema_fault.cpp` says the same in the same words. Both know the keywords
that the schema uses, and no others.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

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
MOST_EXCERPT = 60  # bytes
# Of more choices a message shows some, so that it stays short.
MOST_CHOICES = 10
CHOICES_OF_MANY = 7


def schema_fault(document: Any, schema: Schema) -> str | None:
    """The first fault with its JSON pointer: `/points/0/n: found -1, expected at least 0`."""
    return _Walk(schema).fault(document, schema, "")


class _Walk:
    def __init__(self, root: Schema) -> None:
        self.root = root

    def resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            found: Any = self.root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        return schema

    def fault(self, value: Any, schema: Schema, at: str) -> str | None:
        schema = self.resolved(schema)
        types = _types(schema)
        if types and not any(_is(value, each) for each in types):
            return _found(value, " or ".join(TYPE_TEXTS[each] for each in types), at)
        allowed = schema.get("enum", [schema["const"]] if "const" in schema else [])
        if allowed and not any(_same(value, each) for each in allowed):
            return _found(value, _one_of(allowed), at)
        fault = None
        if isinstance(value, dict):
            fault = self.fault_of_object(value, schema, at)
        elif isinstance(value, list):
            fault = self.fault_of_array(value, schema, at)
        elif isinstance(value, str):
            fault = _fault_of_text(value, schema, at)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            fault = _fault_of_number(value, schema, at)
        return fault or self.fault_of_choice(value, schema, at)

    def fault_of_object(self, value: dict[str, Any], schema: Schema, at: str) -> str | None:
        for key in schema.get("required", []):
            if key not in value:
                return f"{at or '/'}: the key '{key}' is missing"
        if len(value) < schema.get("minProperties", 0):
            return _found(value, "a member", at)
        if len(value) > schema.get("maxProperties", len(value)):
            return _found(value, "no members", at)
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, each in value.items():
            if key not in properties and others is None:
                continue
            if key not in properties and others is False:
                return f"{at or '/'}: unknown key '{key}'"
            fault = self.fault(each, properties.get(key, others), f"{at}/{key}")
            if fault is not None:
                return fault
        return None

    def fault_of_array(self, value: list[Any], schema: Schema, at: str) -> str | None:
        if len(value) < schema.get("minItems", 0):
            return _found(value, "an array that is not empty", at)
        if "items" in schema:
            items = self.resolved(schema["items"])
            for index, each in enumerate(value):
                fault = self.fault(each, items, f"{at}/{index}")
                if fault is not None:
                    return fault
        return None

    def fault_of_choice(self, value: Any, schema: Schema, at: str) -> str | None:
        """Of several schemas, what the last says whose type is the value's: null stands first."""
        said = None
        choices = schema.get("anyOf", schema.get("oneOf", []))
        for choice in choices:
            said = self.fault(value, choice, at)
            if said is None:
                break
        if said is not None:
            return said
        for each in schema.get("allOf", []):
            said = self.fault(value, each, at)
            if said is not None:
                return said
        if "if" in schema:
            holds = self.fault(value, schema["if"], at) is None
            return self.fault(value, schema.get("then" if holds else "else", {}), at)
        return None


def _types(schema: Schema) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _is(value: Any, type_: str) -> bool:
    if isinstance(value, bool):
        return type_ == "boolean"
    if type_ == "number":
        return isinstance(value, int | float)
    python = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
    return type_ in python and isinstance(value, python[type_])


def _same(value: Any, allowed: Any) -> bool:
    return isinstance(value, bool) == isinstance(allowed, bool) and bool(value == allowed)


def _fault_of_number(value: float, schema: Schema, at: str) -> str | None:
    if "minimum" in schema and value < schema["minimum"]:
        return _found(value, f"at least {schema['minimum']}", at)
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        return _found(value, f"more than {schema['exclusiveMinimum']}", at)
    return None


def _fault_of_text(value: str, schema: Schema, at: str) -> str | None:
    if len(value) < schema.get("minLength", 0):
        return _found(value, "a string that is not empty", at)
    if "pattern" in schema and not re.search(schema["pattern"], value, re.ASCII):
        return _found(value, f"text as {schema['pattern']}", at)
    return None


def _found(value: Any, expected: str, at: str) -> str:
    return f"{at or '/'}: found {_excerpt(value)}, expected {expected}"


def _one_of(allowed: list[Any]) -> str:
    texts = [f"'{each}'" if isinstance(each, str) else _json(each) for each in allowed]
    if len(texts) > MOST_CHOICES:
        texts[CHOICES_OF_MANY:] = [f"one of {len(texts) - CHOICES_OF_MANY} more"]
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _excerpt(value: Any) -> str:
    content = _json(value).encode()
    if len(content) <= MOST_EXCERPT:
        return content.decode()
    return content[: MOST_EXCERPT - 3].decode(errors="ignore") + "..."
