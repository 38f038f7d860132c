"""Searches with more results than the service gives at once."""

from __future__ import annotations

from typing import Any

from scenario import check, scenario
from service import Service

EVERYTHING = list(range(120))


def pages(service: Service) -> None:
    """Needs the index of 120 documents that the buffered sender filled."""
    client = service.numbers
    options: dict[str, Any] = {"order_by": ["number"], "include_total_count": True}

    with scenario("iterate over all pages"):
        found = client.search("*", **options)
        check.assertEqual(found.get_count(), 120)
        check.assertEqual([document["number"] for document in found], EVERYTHING)

    with scenario("read page by page"):
        read = [[document["number"] for document in page] for page in client.search("*", **options).by_page()]
        check.assertEqual([len(page) for page in read], [50, 50, 20])
        check.assertEqual([number for page in read for number in page], EVERYTHING)
        (page,) = client.search("*", top=70, **options).by_page()
        check.assertEqual(len(list(page)), 70, "what is asked for is on one page, up to 1000")

    with scenario("continue from a continuation token"):
        first = client.search("*", **options).by_page()
        read = [document["number"] for document in next(first)]
        check.assertTrue(first.continuation_token)
        # The token has the whole query, so another one may be given with it.
        rest = client.search("nothing").by_page(continuation_token=first.continuation_token)
        read += [document["number"] for page in rest for document in page]
        check.assertEqual(read, EVERYTHING)
