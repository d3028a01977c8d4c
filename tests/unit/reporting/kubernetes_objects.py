"""Whether Kubernetes knows every field of an object: by the models of its own package, and a schema kept by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import yaml
from kubernetes.client import ApiClient

SCHEMA = Path(__file__).parents[2] / "fixtures" / "kubernetes" / "mpijob_v2beta1.yaml"
# Kinds that the package has a model for.
MODELS = {
    "ServiceAccount": "V1ServiceAccount",
    "ConfigMap": "V1ConfigMap",
    "Role": "V1Role",
    "RoleBinding": "V1RoleBinding",
    "CronJob": "V1CronJob",
}
_WORDS = {"str": str, "int": int, "bool": bool}


def documents(text: str) -> list[dict[str, object]]:
    """The objects of a file with several of them."""
    return list(yaml.safe_load_all(text))


def problems(document: dict[str, object]) -> list[str]:
    """What is wrong with one object, by its kind."""
    kind = str(document["kind"])
    if kind == "MPIJob":
        assert document["apiVersion"] == "kubeflow.org/v2beta1"
        rest = {key: value for key, value in document.items() if key not in ("apiVersion", "kind")}
        return list(_against(yaml.safe_load(SCHEMA.read_text()), rest, kind))
    return list(_modelled(MODELS[kind], document, kind))


def _against(schema: object, value: object, where: str) -> Iterator[str]:
    if isinstance(schema, dict) and set(schema) == {"kubernetes"}:
        yield from _modelled(schema["kubernetes"], value, where)
    elif isinstance(schema, dict):
        if not isinstance(value, dict):
            yield f"{where}: {value!r} is no object"
            return
        for key, inner in value.items():
            if key not in schema:
                yield f"{where}.{key}: there is no such field"
            else:
                yield from _against(schema[key], inner, f"{where}.{key}")
    elif isinstance(schema, list):
        if value not in [str(word) for word in schema]:
            yield f"{where}: {value!r} is none of {schema}"
    elif type(value) is not _WORDS[str(schema)]:
        yield f"{where}: {value!r} is no {schema}"


def _modelled(model: str, value: object, where: str) -> Iterator[str]:
    """A model drops what it does not know and refuses what it needs; what comes back has to be what went in."""
    client = ApiClient()
    try:
        read = client.deserialize(json.dumps(value), model, "application/json")
        back = client.sanitize_for_serialization(read)  # type: ignore[no-untyped-call]
    except ValueError as error:
        yield f"{where}: {error}"
        return
    if back != value:
        yield f"{where}: {model} reads it as {back!r}"
