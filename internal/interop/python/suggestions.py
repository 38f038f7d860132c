"""Suggestions and completions while somebody types."""

from __future__ import annotations

from typing import Any

from azure.search.documents.models import AutocompleteMode

from scenario import check, scenario
from service import Service


def completions(service: Service) -> None:
    client, part, listed = service.hotels, service.quirks.part, service.quirks.listed

    with scenario("suggest"):

        def suggested(text: str, **options: Any) -> list[tuple[str, str]]:
            return [(found["hotelId"], part(found, "text")) for found in client.suggest(text, "sg", **options)]

        check.assertCountEqual(suggested("sta"), [("1", "Fancy Stay"), ("3", "Economy Stay")])
        check.assertEqual(suggested("sta", filter="rating lt 5"), [("3", "Economy Stay")])
        check.assertEqual(suggested("roech"), [])
        check.assertEqual(suggested("roech", use_fuzzy_matching=True), [("2", "Roach Motel")])
        check.assertEqual(
            suggested("sta", highlight_pre_tag="[", highlight_post_tag="]", order_by=listed("hotelName"), top=1),
            [("3", "Economy [Stay]")],
        )
        (found,) = client.suggest(
            "roa", "sg", select=listed("hotelName", "rating"), search_fields=listed("hotelName", "category")
        )
        check.assertEqual((found["hotelName"], found["rating"]), ("Roach Motel", 1))
        check.assertNotIn("hotelId", found)

    with scenario("autocomplete"):

        def completed(text: str, **options: Any) -> list[tuple[str, str]]:
            found = client.autocomplete(text, "sg", **options)
            return [(part(one, "text"), part(one, "query_plus_text")) for one in found]

        check.assertEqual(completed("mo"), [("motel", "motel"), ("motor", "motor")])
        check.assertEqual(
            completed("point mo", mode=AutocompleteMode.ONE_TERM_WITH_CONTEXT), [("point motor", "point motor")]
        )
        check.assertEqual(completed("secr", mode=AutocompleteMode.TWO_TERMS)[0], ("secret point", "secret point"))
        check.assertEqual(completed("mo", filter="rating gt 2", top=5), [("motor", "motor")])
        check.assertEqual(completed("raoch", use_fuzzy_matching=True), [("roach", "roach")])
        check.assertEqual(completed("mo", search_fields=listed("category")), [])
