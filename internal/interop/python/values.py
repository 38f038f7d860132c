"""Values of every type, and what they are when they come back."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from azure.search.documents.indexes.models import SearchFieldDataType, SearchIndex, SimpleField

from hotels import point
from scenario import check, scenario
from service import ONCE, Service

_TYPES: dict[str, str] = {
    "text": SearchFieldDataType.String,
    "int": SearchFieldDataType.Int32,
    "long": SearchFieldDataType.Int64,
    "double": SearchFieldDataType.Double,
    "flag": SearchFieldDataType.Boolean,
    "date": SearchFieldDataType.DateTimeOffset,
    "point": SearchFieldDataType.GeographyPoint,
}

_MOUNTAIN = timezone(timedelta(hours=-7))

# A field, what is uploaded, and what is read if that is something else. JSON has no
# numbers for the doubles in quotes, and the SDK makes no dates of what it reads.
_VALUES: list[tuple[Any, ...]] = [
    ("text", ""),
    ("text", "it's “100%” 😀\n"),
    ("text", "null"),
    ("int", 2**31 - 1),
    ("int", -(2**31)),
    ("long", 2**63 - 1),
    ("long", -(2**63)),
    ("double", 0.1),
    ("double", -1e300),
    ("double", 5e-324),
    ("double", 3, 3.0),
    ("double", "NaN"),
    ("double", "INF"),
    ("double", "-INF"),
    ("flag", True),
    ("flag", False),
    ("date", datetime(2020, 1, 2, 3, 4, 5, 678_900, tzinfo=_MOUNTAIN), "2020-01-02T10:04:05.678Z"),
    ("date", datetime(2020, 1, 2, 3, 4, 5), "2020-01-02T03:04:05Z"),  # without a zone it is taken for UTC
    ("date", "2020-02-29T23:59:59.9999999+05:30", "2020-02-29T18:29:59.999Z"),
    ("date", "0001-01-01T00:00:00Z"),
    ("point", point(-122.131577, 47.678581)),
    ("point", {"type": "Point", "coordinates": [180, -90]}, point(180.0, -90.0)),
    ("texts", []),
    ("texts", ["", "a", "a", "ö"]),
    ("ints", [3, 1, 2]),
    ("longs", [2**53 + 1]),
    ("doubles", [0.5, "NaN"]),
    ("flags", [True, False]),
    ("dates", [datetime(1999, 12, 31, tzinfo=timezone.utc)], ["1999-12-31T00:00:00Z"]),
    ("points", [point(1.0, 2.0), point(-1.0, -2.0)]),
]


def special(service: Service) -> None:
    with scenario("get special values"):
        service.indexes.create_index(_index())
        with service.indexes.get_search_client("values", **ONCE) as client:
            # Keys of every kind of character that a key may have.
            documents = {f"{i}=-_": value for i, value in enumerate(_VALUES)}
            client.upload_documents([{"id": key, field: given} for key, (field, given, *_) in documents.items()])
            found = {document["id"]: document for document in client.search("*")}
            for key, (field, given, *read) in documents.items():
                want = _nothing() | {"id": key, field: read[0] if read else given}
                got = dict(client.get_document(key))
                check.assertEqual(got, want)
                check.assertIs(type(got[field]), type(want[field]), want)
                check.assertEqual({name: found[key][name] for name in want}, want)
        service.indexes.delete_index("values")


def _index() -> SearchIndex:
    key = SimpleField(name="id", type=SearchFieldDataType.String, key=True)
    single = [SimpleField(name=name, type=type_) for name, type_ in _TYPES.items()]
    collections = [
        SimpleField(name=_collection(name), type=SearchFieldDataType.Collection(type_))
        for name, type_ in _TYPES.items()
    ]
    return SearchIndex(name="values", fields=[key, *single, *collections])


def _nothing() -> dict[str, Any]:
    """A document in which only the key was set, without the key."""
    return dict.fromkeys(_TYPES) | {_collection(name): [] for name in _TYPES}


def _collection(name: str) -> str:
    return f"{name}s"
