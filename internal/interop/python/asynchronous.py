"""The same service through the asynchronous clients."""

from __future__ import annotations

import asyncio
from typing import Any

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceModifiedError, ResourceNotFoundError
from azure.search.documents import IndexDocumentsBatch
from azure.search.documents.aio import SearchClient, SearchIndexingBufferedSender
from azure.search.documents.indexes.aio import SearchIndexClient
from azure.search.documents.indexes.models import AnalyzeTextOptions, SearchFieldDataType, SimpleField
from azure.search.documents.models import VectorizedQuery

from documents import outcomes
from paging import EVERYTHING
from scenario import check, scenario
from sender import index, large_documents
from service import AGAIN, ONCE, Service


def everything(service: Service) -> None:
    asyncio.run(_everything(service))


async def _everything(service: Service) -> None:
    async with (
        SearchIndexClient(service.endpoint, service.credential, **ONCE) as indexes,
        SearchClient(service.endpoint, "hotels", service.credential, **ONCE) as hotels,
        SearchClient(service.endpoint, "later", service.credential, **ONCE) as later,
    ):
        await _definitions(indexes)
        await _documents(later)
        await _sender(service, indexes, later)
        await _pages(service, hotels)
        await _completions(service, hotels)
        await _refusals(indexes, hotels)


async def _definitions(client: SearchIndexClient) -> None:
    with scenario("asynchronously create, list and update an index"):
        created = await client.create_index(index("later"))
        check.assertEqual(created.name, "later")
        check.assertIn("later", [name async for name in client.list_index_names()])
        check.assertIn("later", [listed.name async for listed in client.list_indexes()])
        created.fields.append(SimpleField(name="more", type=SearchFieldDataType.String))
        updated = await client.create_or_update_index(created, match_condition=MatchConditions.IfNotModified)
        check.assertEqual(updated.fields[-1].name, "more")
        with check.assertRaises(ResourceModifiedError):
            await client.create_or_update_index(created, match_condition=MatchConditions.IfNotModified)
        result = await client.analyze_text("later", AnalyzeTextOptions(text="Two words", analyzer_name="simple"))
        check.assertEqual([token.token for token in result.tokens], ["two", "words"])


async def _documents(client: SearchClient) -> None:
    with scenario("asynchronously upload, get, merge and delete documents"):
        check.assertEqual(outcomes(await client.upload_documents([{"id": "a", "number": 1}])), [("a", True, 201)])
        check.assertEqual(
            outcomes(await client.merge_documents([{"id": "a", "text": "x"}, {"id": "b"}])),
            [("a", True, 200), ("b", False, 404)],
        )
        document = await client.get_document("a", selected_fields=["number", "text"])
        check.assertEqual(dict(document), {"number": 1, "text": "x"})
        batch = IndexDocumentsBatch()
        batch.add_merge_or_upload_actions([{"id": "b"}])
        batch.add_delete_actions([{"id": "a"}])
        check.assertEqual(outcomes(await client.index_documents(batch)), [("b", True, 201), ("a", True, 200)])
        check.assertEqual(await client.get_document_count(), 1)
        with check.assertRaises(ResourceNotFoundError):
            await client.get_document("a")


async def _sender(service: Service, indexes: SearchIndexClient, client: SearchClient) -> None:
    sent: list[str] = []
    failed: list[str] = []
    removed: list[str] = []

    def reported(keys: list[str]) -> Any:
        async def callback(action: Any) -> None:
            keys.append(service.quirks.document(action)["id"])

        return callback

    def opened(name: str, **options: Any) -> SearchIndexingBufferedSender:
        for keys in (sent, failed, removed):
            keys.clear()
        return SearchIndexingBufferedSender(
            service.endpoint,
            name,
            service.credential,
            on_progress=reported(sent),
            on_error=reported(failed),
            on_remove=reported(removed),
            **options,
        )

    with scenario("asynchronously send documents through the buffered sender"):
        names = [f"n{number}" for number in EVERYTHING]
        async with opened("later", auto_flush=False, **ONCE) as sender:
            await sender.upload_documents([{"id": name, "number": number} for number, name in enumerate(names)])
            check.assertEqual(sent, [])
            check.assertFalse(await sender.flush())
            check.assertEqual(sent, names)
            await sender.merge_documents([{"id": "missing"}])
            check.assertTrue(await sender.flush())
        check.assertEqual((failed, removed), (["missing"], [*names, "missing"]))
        check.assertEqual(await client.get_document_count(), 121)

    with scenario("asynchronously send documents as they come through the buffered sender"):
        async with opened("later", initial_batch_action_count=2, **ONCE) as sender:
            await sender.delete_documents([{"id": "n0"}])
            check.assertEqual(sent, [])
            await sender.delete_documents([{"id": "n1"}])  # fills the batch
            check.assertEqual(sent, ["n0", "n1"])
        check.assertEqual(await client.get_document_count(), 119)

    with scenario("asynchronously send documents through the buffered sender to a failing service"):
        await indexes.create_index(index("sick-too"))
        keys = [document["id"] for document in large_documents()]
        async with opened("sick-too", auto_flush=False, **AGAIN) as sender:
            await sender.upload_documents([*large_documents(), {"id": "doomed"}])
            check.assertTrue(await sender.flush())
        check.assertEqual((sent, failed, removed), (keys, ["doomed"], [*keys, "doomed"]))
        await indexes.delete_index("sick-too")
    await indexes.delete_index("later")


async def _pages(service: Service, hotels: SearchClient) -> None:
    options: dict[str, Any] = {"order_by": ["number"], "include_total_count": True}

    async with SearchClient(service.endpoint, "numbers", service.credential, **ONCE) as client:
        with scenario("asynchronously iterate over all pages"):
            found = await client.search("*", minimum_coverage=80, **options)
            check.assertEqual((await found.get_count(), await found.get_coverage()), (120, 100))
            check.assertEqual([document["number"] async for document in found], EVERYTHING)

        with scenario("asynchronously continue from a continuation token"):
            first = (await client.search("*", **options)).by_page()
            read = [document["number"] async for document in await anext(first)]
            check.assertEqual(len(read), 50)
            rest = (await client.search("*", **options)).by_page(continuation_token=first.continuation_token)
            async for page in rest:
                read += [document["number"] async for document in page]
            check.assertEqual(read, EVERYTHING)

    with scenario("asynchronously search by text and a vector together"):
        nearest = VectorizedQuery(vector=[1.0, 0.0, 0.0], k_nearest_neighbors=1, fields="descriptionVector", weight=3)
        found = await hotels.search("motel", vector_queries=[nearest], filter="rating ge 1", facets=["category"])
        check.assertEqual(
            {facet["value"]: facet["count"] for facet in (await found.get_facets())["category"]},
            {"Budget": 1, "Luxury": 1},
        )
        check.assertIsNone(await found.get_answers())
        check.assertEqual([document["hotelId"] async for document in found], ["1", "2"])


async def _completions(service: Service, client: SearchClient) -> None:
    part, listed = service.quirks.part, service.quirks.listed

    with scenario("asynchronously suggest and autocomplete"):
        (suggested,) = await client.suggest("roa", "sg", select=listed("hotelId", "hotelName"))
        check.assertEqual((suggested["hotelId"], part(suggested, "text")), ("2", "Roach Motel"))
        (completed,) = await client.autocomplete("roa", "sg")
        check.assertEqual(part(completed, "text"), "roach")


async def _refusals(indexes: SearchIndexClient, client: SearchClient) -> None:
    with scenario("asynchronously refuse a bad query"):
        with check.assertRaises(HttpResponseError) as caught:
            await (await client.search("*", filter="rating ge")).get_count()
        check.assertEqual(caught.exception.status_code, 400)
        check.assertIn("Invalid expression", caught.exception.error.message)
        with check.assertRaises(ResourceNotFoundError):
            await indexes.get_index("nowhere")
