#!/usr/bin/env python3
"""Checks documents against JSON Schemas, and that the schemas refuse the same documents with something wrong.

  check_schemas.py SCHEMA DOCUMENT...      a name that ends in .jsonl has a document a line, one in .yml is YAML
"""
import copy
import json
import os
import sys

import jsonschema

try:
    import yaml
except ImportError:
    yaml = None
try:
    from referencing import Registry, Resource
except ImportError:
    Registry = None


def validator(path):
    folder = os.path.dirname(path)
    schemas = {name: json.load(open(os.path.join(folder, name))) for name in os.listdir(folder) if name.endswith(".json")}
    schema = schemas[os.path.basename(path)]
    jsonschema.Draft202012Validator.check_schema(schema)
    if Registry:
        registry = Registry().with_resources([(name, Resource.from_contents(one)) for name, one in schemas.items()])
        return schema, jsonschema.Draft202012Validator(schema, registry=registry)
    resolver = jsonschema.RefResolver("", schema, store=schemas)
    return schema, jsonschema.Draft202012Validator(schema, resolver=resolver)


def resolved(schema, root):
    while isinstance(schema, dict) and "$ref" in schema:
        if not schema["$ref"].startswith("#/$defs/"):
            return {}
        schema = root["$defs"][schema["$ref"].split("/")[-1]]
    return schema


def places(schema, root, value, path):
    """Where the schema says what stands in a document: the path, the schema there, and whether it must be there."""
    schema = resolved(schema, root)
    for part in schema.get("allOf", []) + schema.get("anyOf", []) + schema.get("oneOf", []):
        part = resolved(part, root)
        if "properties" in part and isinstance(value, dict) and set(part.get("required", [])) <= set(value):
            yield from places(part, root, value, path)
    if isinstance(value, dict):
        for name, part in schema.get("properties", {}).items():
            if name in value:
                yield path + [name], resolved(part, root), name in schema.get("required", [])
                yield from places(part, root, value[name], path + [name])
        others = schema.get("additionalProperties")
        for name in value if isinstance(others, dict) else ():
            if name not in schema.get("properties", {}):
                yield path + [name], resolved(others, root), False
                yield from places(others, root, value[name], path + [name])
    elif isinstance(value, list) and "items" in schema:
        # The first and the last element stand for all.
        for index in sorted({0, len(value) - 1} if value else set()):
            yield path + [index], resolved(schema["items"], root), False
            yield from places(schema["items"], root, value[index], path + [index])


def changed(document, path, change):
    copied = copy.deepcopy(document)
    parent = copied
    for step in path[:-1]:
        parent = parent[step]
    change(parent, path[-1])
    return copied


def thinned(document):
    """Long lists make many copies slow; their ends are enough to change."""
    if isinstance(document, dict):
        return {name: thinned(value) for name, value in document.items()}
    if isinstance(document, list):
        return [thinned(value) for value in (document if len(document) <= 6 else document[:5] + document[-1:])]
    return document


def put(value):
    def change(parent, step):
        parent[step] = value
    return change


def main():
    schema, check = validator(sys.argv[1])
    documents, refused = 0, 0
    for name in sys.argv[2:]:
        with open(name) as file:
            texts = file.readlines() if name.endswith(".jsonl") else [file.read()]
        for number, text in enumerate(texts):
            document = yaml.safe_load(text) if name.endswith(".yml") else json.loads(text)
            error = next(check.iter_errors(document), None)
            if error:
                sys.exit(f"{name}:{number + 1}: {list(error.path)}: {error.message[:300]}")
            documents += 1
            if number > 0 and number % 40:
                continue
            small = thinned(document)
            if not check.is_valid(small):
                small = document
            for path, part, is_required in places(schema, schema, small, []):
                changes = []
                if is_required:
                    changes.append(("without it", lambda parent, step: parent.pop(step)))
                if "type" in part or "enum" in part or "const" in part:
                    changes.append(("as a list of truth values", put([True])))
                    changes.append(("as another text", put("?")) if "const" in part or "enum" in part else None)
                if part.get("type") in ("integer", "number") or part.get("type") == ["integer", "null"]:
                    changes += [("as text", put("1")), ("below 0", put(-1))]
                if part.get("type") in ("integer", ["integer", "null"]):
                    changes.append(("as a fraction", put(0.5)))
                for words, change in filter(None, changes):
                    if check.is_valid(changed(small, path, change)):
                        sys.exit(f"{name}:{number + 1}: {path} {words} is accepted: expected a refusal")
                    refused += 1
    if documents == 0 or refused == 0:
        sys.exit("nothing was checked: expected documents")
    print(f"{documents} documents are valid, {refused} changed ones are refused")


main()
