"""What is refused, and how the SDK says it; and requests that it has no method for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)
from azure.core.rest import HttpRequest
from azure.search.documents import RequestEntityTooLargeError, SearchClient
from azure.search.documents.indexes.models import SearchFieldDataType, SearchIndex, SimpleField
from azure.search.documents.models import QueryType, VectorizableTextQuery

from hotels import hotel_index
from scenario import check, scenario
from sender import index
from service import ONCE, Service


@contextmanager
def refused(
    status: int, message: str, *, code: str | None = None, kind: type[HttpResponseError] = HttpResponseError
) -> Iterator[None]:
    """Expects the body to raise exactly that kind of error, with any code where none is given."""
    with check.assertRaises(HttpResponseError) as caught:
        yield
    error = caught.exception
    check.assertIs(type(error), kind)
    check.assertEqual(error.status_code, status)
    if code is not None:
        check.assertEqual(error.error.code, code)
    check.assertRegex(error.error.message, message)


def refusals(service: Service) -> None:
    client, indexes = service.hotels, service.indexes

    with scenario("refuse a bad query"):
        # Nothing is asked for before the first result is.
        with refused(400, "Invalid expression"):
            next(client.search("*", filter="rating ge"))
        with refused(400, "nothing"):
            next(client.search("*", filter="nothing eq 1"))
        with refused(400, "description"):
            next(client.search("*", order_by=["description"]))
        with refused(400, "hotelName"):
            client.search("*", facets=["hotelName"]).get_facets()
        with refused(400, "."):
            next(client.search("a AND (", query_type=QueryType.FULL))
        with refused(400, "100000", code="InvalidRequestParameter"):
            client.search("*", skip=100_001).get_count()
        with refused(400, "nobody"):
            client.suggest("ro", "nobody")

    with scenario("refuse a bad document"):
        with refused(400, "."):
            client.upload_documents([{"hotelId": "9", "rating": "five"}])
        with refused(400, "nothing"):
            client.upload_documents([{"hotelId": "9", "nothing": 1}])
        with refused(400, "a b", code="InvalidName"):
            client.upload_documents([{"hotelId": "a b"}])
        with refused(400, "descriptionVector", code="OperationNotAllowed"):
            client.upload_documents([{"hotelId": "9", "descriptionVector": [1.0]}])
        with refused(400, "No indexing actions", code="MissingRequiredParameter"):
            client.upload_documents([])

    with scenario("refuse a document that is too large"):
        # faults.json has the limit.
        indexes.create_index(index("tiny"))
        with indexes.get_search_client("tiny", **ONCE) as tiny:
            with refused(413, "too large", kind=RequestEntityTooLargeError):
                tiny.upload_documents([{"id": "1", "text": "x" * 200}])
            check.assertEqual(tiny.get_document_count(), 0)
        indexes.delete_index("tiny")

    with scenario("refuse a bad index"):
        keyless = SearchIndex(name="keyless", fields=[SimpleField(name="a", type=SearchFieldDataType.String)])
        with refused(400, "key"):
            indexes.create_index(keyless)
        with refused(409, "hotels", code="ResourceNameAlreadyInUse", kind=ResourceExistsError):
            indexes.create_index(hotel_index())
        with refused(404, "nowhere", kind=ResourceNotFoundError):
            indexes.get_index("nowhere")
        with (
            indexes.get_search_client("nowhere", **ONCE) as nowhere,
            refused(404, "nowhere", kind=ResourceNotFoundError),
        ):
            next(nowhere.search("*"))

    with scenario("refuse a wrong key"):

        def with_key(credential: AzureKeyCredential) -> SearchClient:
            return SearchClient(service.endpoint, "hotels", credential, **ONCE)

        with with_key(AzureKeyCredential("wrong")) as stranger, refused(403, "."):
            stranger.get_document_count()
        with with_key(AzureKeyCredential("")) as nobody, refused(401, ".", kind=ClientAuthenticationError):
            nobody.get_document_count()
        with with_key(service.query_credential) as reader:
            check.assertEqual(reader.get_document_count(), 5)
            with refused(403, "."):
                reader.delete_documents([{"hotelId": "1"}])

    with scenario("refuse what is not emulated"):
        with refused(501, "[Ss]emantic", code="NotEmulated"):
            next(client.search("hotel", query_type=QueryType.SEMANTIC, semantic_configuration_name="readable"))
        wordy = VectorizableTextQuery(text="hotel", k_nearest_neighbors=1, fields="descriptionVector")
        with refused(501, "vectorizers", code="NotEmulated"):
            next(client.search(None, vector_queries=[wordy]))


def raw(service: Service) -> None:
    with scenario("send a request of one's own"):
        url = f"{service.endpoint}/indexes/hotels/docs"
        params = {"api-version": "2024-07-01", "search": "roach", "$select": "hotelId", "$count": "true"}
        response = service.hotels.send_request(HttpRequest("GET", url, params=params))
        response.raise_for_status()
        found = json.loads(response.text())
        check.assertEqual(found["@odata.count"], 1)
        check.assertEqual([document["hotelId"] for document in found["value"]], ["2"])
        refusal = service.hotels.send_request(HttpRequest("GET", url, params=params | {"$top": "-1"}))
        check.assertEqual(refusal.status_code, 400)
