"""Searches: their syntax, and what they answer."""

from __future__ import annotations

from typing import Any

from azure.search.documents.models import QueryType, SearchMode

from scenario import check, scenario
from service import Service


def texts(service: Service) -> None:
    """Which documents are found, and in which order."""
    client = service.hotels

    def keys(text: str, **options: Any) -> list[str]:
        return [found["hotelId"] for found in client.search(text, **options)]

    with scenario("search in the simple syntax"):
        (found,) = client.search("wifi -luxury", search_mode=SearchMode.ALL)
        check.assertEqual(found["hotelName"], "Economy Stay")
        check.assertGreater(found["@search.score"], 0)
        check.assertEqual(found["lastRenovationDate"], "1995-07-01T12:30:00.25Z")
        check.assertNotIn("internalNote", found)
        check.assertCountEqual(keys("fancy stay", search_mode="any"), ["1", "3", "4"])
        check.assertEqual(keys("fancy stay", search_mode="all"), ["1"])
        check.assertCountEqual(keys("*"), ["1", "2", "3", "4", "5"])

    with scenario("search in the full syntax"):
        full: dict[str, Any] = {"query_type": QueryType.FULL, "search_mode": SearchMode.ALL}
        check.assertEqual(keys('category:budget AND "popular place"^3', **full), ["3"])
        check.assertEqual(keys("hotelName:motal~1", **full), ["2"])
        check.assertEqual(keys("hotelName:/ec.*y/", **full), ["3"])
        check.assertEqual(keys('"fancy included"~5', **full), ["4"])
        check.assertEqual(keys("address/city:new*", **full), ["4"])

    with scenario("search with synonyms and with a custom analyzer"):
        check.assertEqual(keys("guesthouse"), ["2"])
        check.assertEqual(keys("waterslide"), ["1"])
        check.assertEqual(keys("deja"), ["1"])

    with scenario("search some fields"):
        check.assertCountEqual(keys("fancy"), ["1", "4"])
        check.assertEqual(keys("fancy", search_fields=["hotelName", "category"]), ["1"])

    with scenario("filter"):

        def filtered(expression: str) -> list[str]:
            return keys("*", filter=expression, order_by=["hotelId"])

        check.assertEqual(filtered("rooms/any(room: room/baseRate lt 200) and rating ge 5"), ["1"])
        check.assertEqual(filtered("hotelName eq 'Roach Motel' or not parkingIncluded"), ["1", "2", "5"])
        check.assertEqual(filtered("hotelName eq 'O''Neill''s'"), [])
        check.assertEqual(filtered("lastRenovationDate lt 1996-01-01T00:00:00Z"), ["2", "3"])
        check.assertEqual(filtered("tags/any(t: search.in(t, 'view, motel')) and address/country ne null"), ["1", "2"])
        check.assertEqual(filtered("geo.distance(location, geography'POINT(-122.13 47.67)') lt 150"), ["1", "3"])
        check.assertEqual(filtered("rating eq null"), ["5"])
        check.assertEqual(filtered("search.ismatch('breakfast', 'tags')"), ["4"])

    with scenario("order"):
        rated: dict[str, Any] = {"filter": "rating ne null"}
        check.assertEqual(keys("*", order_by=["rating desc", "hotelName"]), ["1", "3", "4", "2", "5"])
        check.assertEqual(keys("*", order_by=["lastRenovationDate"], **rated), ["4", "2", "3", "1"])
        near = "geo.distance(location, geography'POINT(-73.97 40.76)')"
        check.assertEqual(keys("*", order_by=[near], **rated), ["4", "2", "1", "3"])
        check.assertEqual(keys("*", order_by=["address/city"], **rated), ["2", "4", "3", "1"])

    with scenario("scoring profiles"):
        text = "fancy main street breakfast"
        check.assertEqual(keys(text), ["4", "1"])
        check.assertEqual(keys(text, scoring_profile="byName", search_fields=["hotelName"]), ["1"])
        for here, first in [("here--73.975403,40.760586", "4"), ("here--122.13,47.67", "1")]:
            check.assertEqual(keys("pool", scoring_profile="near", scoring_parameters=[here])[0], first)


def results(service: Service) -> None:
    """What is said about the documents that are found."""
    client = service.hotels

    with scenario("select"):
        (found,) = client.search("roach", select=["hotelName", "rooms/baseRate"])
        check.assertEqual(
            {name: value for name, value in found.items() if not name.startswith("@search.")},
            {"hotelName": "Roach Motel", "rooms": [{"baseRate": 39}]},
        )

    with scenario("count and page with top and skip"):
        options: dict[str, Any] = {"order_by": ["hotelId"], "top": 2, "skip": 1}
        page = client.search("*", include_total_count=True, **options)
        check.assertEqual(page.get_count(), 5)
        check.assertEqual([found["hotelId"] for found in page], ["2", "3"])
        check.assertIsNone(client.search("*", **options).get_count())

    with scenario("read count, coverage, facets and answers before the documents and after"):
        found = client.search("*", include_total_count=True, minimum_coverage=80, facets=["parkingIncluded"])
        for number_read in (5, 0):
            check.assertEqual(found.get_count(), 5)
            check.assertEqual(found.get_coverage(), 100)
            check.assertEqual(
                {facet["value"]: facet["count"] for facet in found.get_facets()["parkingIncluded"]},
                {True: 3, False: 1},
            )
            check.assertIsNone(found.get_answers())
            check.assertEqual(len(list(found)), number_read)
        plain = client.search("*")
        check.assertIsNone(plain.get_coverage())
        check.assertIsNone(plain.get_facets())

    with scenario("facets"):
        facets = client.search(
            "*",
            top=0,
            facets=[
                "category,count:2,sort:count",
                "tags,sort:value",
                "rating,values:2|4",
                "rooms/baseRate,interval:100",
                "lastRenovationDate,interval:year",
            ],
        ).get_facets()
        check.assertCountEqual(
            [(facet["value"], facet["count"]) for facet in facets["category"]], [("Budget", 2), ("Luxury", 2)]
        )
        check.assertEqual(
            [(facet["value"], facet["count"]) for facet in facets["tags"]],
            [("breakfast", 1), ("budget", 2), ("motel", 1), ("pool", 2), ("view", 1), ("wifi", 2)],
        )
        check.assertEqual(
            [(facet.get("from"), facet.get("to"), facet["count"]) for facet in facets["rating"]],
            [(None, 2, 1), (2, 4, 1), (4, None, 2)],
        )
        check.assertEqual(
            [(facet["value"], facet["count"]) for facet in facets["rooms/baseRate"]], [(0, 1), (100, 2), (300, 1)]
        )
        check.assertEqual(
            [(facet["value"], facet["count"]) for facet in facets["lastRenovationDate"]],
            [(f"{year}-01-01T00:00:00Z", 1) for year in (1982, 1995, 2010)],
        )

    with scenario("highlights"):
        found = client.search(
            "hotels pool", highlight_fields="description,tags", highlight_pre_tag="<b>", highlight_post_tag="</b>"
        )
        (first,) = (document for document in found if document["hotelId"] == "1")
        highlights = first["@search.highlights"]
        check.assertIn("<b>hotels</b>", " ".join(highlights["description"]))
        check.assertIn("<b>pool</b>", " ".join(highlights["description"]))
        check.assertEqual(highlights["tags"], ["<b>pool</b>"])
        check.assertNotIn("<b>", first["description"])
