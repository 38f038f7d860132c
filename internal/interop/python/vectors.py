"""Searches for the nearest vectors, alone and together with text."""

from __future__ import annotations

from typing import Any

from azure.search.documents.models import VectorFilterMode, VectorizedQuery

from scenario import check, scenario
from service import Service


def query(
    k: int, vector: tuple[float, ...] = (1.0, 0.0, 0.0), fields: str = "descriptionVector", **options: Any
) -> VectorizedQuery:
    return VectorizedQuery(vector=list(vector), k_nearest_neighbors=k, fields=fields, **options)


def nearest(service: Service) -> None:
    client = service.hotels

    def ranked(text: str | None, *queries: VectorizedQuery, **options: Any) -> list[tuple[str, float]]:
        found = client.search(text, vector_queries=list(queries), **options)
        return [(document["hotelId"], document["@search.score"]) for document in found]

    with scenario("search by a vector"):
        first, second = client.search("*", vector_queries=[query(2)])
        check.assertEqual((first["hotelId"], second["hotelId"]), ("1", "3"))
        check.assertGreater(first["@search.score"], second["@search.score"])
        check.assertEqual(first["descriptionVector"], [1, 0, 0])

    with scenario("search by a vector alone"):
        # Cosine similarity s is the score 1/(2-s).
        first, second, _ = ranked(None, query(3, exhaustive=True))
        check.assertEqual(first, ("1", 1))
        check.assertEqual(second[0], "3")
        check.assertAlmostEqual(second[1], 1 / 1.2, 6)

    with scenario("search by several vectors"):
        # Being the first of one ranking counts 1/60, the second 1/61.
        found = dict(ranked(None, query(2), query(2, (0.0, 1.0, 0.0), "nameVector")))
        check.assertEqual(set(found), {"1", "2", "3"})
        check.assertAlmostEqual(found["1"], 2 / 60, 6)
        check.assertAlmostEqual(found["2"], 1 / 61, 6)
        check.assertAlmostEqual(found["3"], 1 / 61, 6)
        both = dict(ranked(None, query(1, fields="descriptionVector,nameVector")))
        check.assertIn("1", both)

    with scenario("search by a vector with a filter"):

        def filtered(mode: VectorFilterMode) -> list[str]:
            return [key for key, _ in ranked(None, query(1), filter="category eq 'Budget'", vector_filter_mode=mode)]

        check.assertEqual(filtered(VectorFilterMode.PRE_FILTER), ["3"])
        check.assertEqual(filtered(VectorFilterMode.POST_FILTER), [])

    with scenario("search by text and a vector together"):
        merged = ranked("motel", query(2), top=3)
        check.assertCountEqual([key for key, _ in merged], ["1", "2", "3"])
        check.assertAlmostEqual(merged[0][1], 1 / 60, 6)
        heaviest, *_ = ranked("motel", query(1, weight=3))
        check.assertEqual(heaviest[0], "1")
        check.assertAlmostEqual(heaviest[1], 3 / 60, 6)
        check.assertEqual([key for key, _ in ranked("motel", query(3), filter="rating eq 1")], ["2"])
