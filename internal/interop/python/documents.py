"""Documents one by one and in batches."""

from __future__ import annotations

from collections.abc import Iterable

from azure.core.exceptions import ResourceNotFoundError
from azure.search.documents import IndexDocumentsBatch
from azure.search.documents.models import IndexingResult

from hotels import hotel_documents
from scenario import check, scenario
from service import Service


def outcomes(results: Iterable[IndexingResult]) -> list[tuple[str, bool, int]]:
    """What became of each action."""
    return [(result.key, result.succeeded, result.status_code) for result in results]


def uploads(service: Service) -> None:
    client = service.hotels

    with scenario("upload documents"):
        results = client.upload_documents(hotel_documents())
        check.assertEqual(outcomes(results), [(key, True, 201) for key in "12345"])
        check.assertEqual(client.get_document_count(), 5)
        check.assertEqual(outcomes(client.upload_documents(hotel_documents()[:1])), [("1", True, 200)])


def lookups(service: Service) -> None:
    client = service.hotels

    with scenario("get a document as it was uploaded"):
        want = hotel_documents()[0]
        del want["internalNote"]
        want["lastRenovationDate"] = "2010-06-27T00:00:00Z"
        want["stars"] = None
        check.assertEqual(dict(client.get_document("1")), want)

    with scenario("get what was never set as null or empty"):
        document = client.get_document("5")
        check.assertIsNone(document["hotelName"])
        check.assertIsNone(document["location"])
        check.assertIsNone(document["address"])
        check.assertEqual(document["tags"], [])
        check.assertEqual(document["rooms"], [])

    with scenario("get selected fields"):
        document = client.get_document("1", selected_fields=["hotelName", "address/city", "rooms/type"])
        check.assertEqual(
            dict(document),
            {
                "hotelName": "Fancy Stay",
                "address": {"city": "Redmond"},
                "rooms": [{"type": "Suite"}, {"type": "Double"}],
            },
        )

    with scenario("get a document that is missing"):
        with check.assertRaises(ResourceNotFoundError) as caught:
            client.get_document("404")
        check.assertEqual(caught.exception.status_code, 404)
        check.assertIsNone(caught.exception.error, "the service does not say what is missing")


def changes(service: Service) -> None:
    client = service.hotels

    with scenario("merge documents"):
        results = client.merge_documents([{"hotelId": "2", "rating": 2, "tags": ["motel"]}])
        check.assertEqual(outcomes(results), [("2", True, 200)])
        document = client.get_document("2")
        check.assertEqual((document["rating"], document["tags"], document["hotelName"]), (2, ["motel"], "Roach Motel"))
        client.merge_documents([{"hotelId": "2", "rating": None}])
        check.assertIsNone(client.get_document("2")["rating"])

    with scenario("merge what is missing"):
        statuses: list[int] = []
        results = client.merge_documents(
            [{"hotelId": "404", "rating": 1}, {"hotelId": "2", "rating": 1}],
            raw_response_hook=lambda response: statuses.append(response.http_response.status_code),
        )
        check.assertEqual(outcomes(results), [("404", False, 404), ("2", True, 200)])
        check.assertEqual([result.error_message for result in results], ["Document not found.", None])
        check.assertEqual(statuses, [207])

    with scenario("merge or upload documents"):
        results = client.merge_or_upload_documents(
            [{"hotelId": "3", "rating": 5}, {"hotelId": "6", "hotelName": "Late"}]
        )
        check.assertEqual(outcomes(results), [("3", True, 200), ("6", True, 201)])
        check.assertEqual(client.get_document("3")["hotelName"], "Economy Stay")
        check.assertEqual(client.get_document_count(), 6)

    with scenario("delete documents"):
        # Deleting again is no error.
        for _ in range(2):
            check.assertEqual(outcomes(client.delete_documents([{"hotelId": "6"}])), [("6", True, 200)])
        check.assertEqual(client.get_document_count(), 5)
        with check.assertRaises(ResourceNotFoundError):
            client.get_document("6")

    with scenario("index a batch of several kinds"):
        batch = IndexDocumentsBatch()
        batch.add_upload_actions([{"hotelId": "7", "rating": 7}])
        batch.add_merge_actions({"hotelId": "7", "category": "Luxury"}, {"hotelId": "404", "rating": 4})
        batch.add_merge_or_upload_actions([{"hotelId": "8", "rating": 8}])
        batch.add_delete_actions([{"hotelId": "8"}])
        check.assertEqual(len(batch.actions), 5)
        results = client.index_documents(batch)
        check.assertEqual(
            outcomes(results),
            [("7", True, 201), ("7", True, 200), ("404", False, 404), ("8", True, 201), ("8", True, 200)],
        )
        document = client.get_document("7", selected_fields=["rating", "category"])
        check.assertEqual(dict(document), {"rating": 7, "category": "Luxury"})
        client.delete_documents([{"hotelId": "7"}])
        check.assertEqual(client.get_document_count(), 5)
