"""Indexes and what goes with them: synonym maps, aliases, analyzers, statistics."""

from __future__ import annotations

from typing import Any

from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.search.documents.indexes.models import (
    AnalyzeTextOptions,
    SearchFieldDataType,
    SearchIndex,
    SimpleField,
    SynonymMap,
)

from hotels import hotel_documents, hotel_index
from scenario import check, scenario
from service import ONCE, Service

UNCHANGED: dict[str, Any] = {"match_condition": MatchConditions.IfNotModified}


def synonyms(service: Service) -> None:
    client = service.indexes

    with scenario("create, get, list and update a synonym map"):
        rules = ["motel, guesthouse", "waterslide => pool"]
        created = client.create_synonym_map(SynonymMap(name="lodging", synonyms=rules))
        check.assertEqual(created.synonyms, rules)
        check.assertTrue(created.e_tag)
        check.assertEqual(client.get_synonym_map("lodging").e_tag, created.e_tag)
        check.assertEqual(client.get_synonym_map_names(), ["lodging"])

        # Version 12 writes only assigned members in the form that the service wants.
        created.synonyms = [*rules, "cheap, inexpensive"]
        updated = client.create_or_update_synonym_map(created, **UNCHANGED)
        check.assertEqual(len(updated.synonyms), 3)
        check.assertNotEqual(updated.e_tag, created.e_tag)
        with check.assertRaises(ResourceModifiedError):
            client.create_or_update_synonym_map(created, **UNCHANGED)
        (listed,) = client.get_synonym_maps()
        check.assertEqual(listed.e_tag, updated.e_tag)

    with scenario("keep to match conditions"):
        missing = SynonymMap(name="nothing", synonyms=["a, b"])
        with check.assertRaises(ResourceNotFoundError):
            client.create_or_update_synonym_map(missing, match_condition=MatchConditions.IfPresent)
        known = client.get_synonym_map("lodging")
        with check.assertRaises(ResourceExistsError):
            client.create_or_update_synonym_map(known, match_condition=MatchConditions.IfMissing)
        again = client.create_or_update_synonym_map(known, match_condition=MatchConditions.IfPresent)
        check.assertEqual(again.synonyms, known.synonyms)
        with check.assertRaises(ResourceModifiedError):
            client.delete_synonym_map(SynonymMap(name="lodging", synonyms=[], e_tag='"0x0"'), **UNCHANGED)
        check.assertEqual(client.get_synonym_map_names(), ["lodging"])


def indexes(service: Service) -> None:
    client = service.indexes

    with scenario("create an index"):
        created = client.create_index(hotel_index())
        check.assertEqual(created.name, "hotels")
        check.assertTrue(created.e_tag)
        check.assertEqual([field.name for field in created.fields], [field.name for field in hotel_index().fields])

    with scenario("get an index as it was defined"):
        index = client.get_index("hotels")
        field = {field.name: field for field in index.fields}
        check.assertTrue(field["hotelId"].key)
        check.assertFalse(field["hotelId"].searchable)
        check.assertTrue(field["internalNote"].hidden)
        check.assertEqual(field["tags"].type, "Collection(Edm.String)")
        check.assertEqual(field["description"].analyzer_name, "en.lucene")
        check.assertEqual(field["description"].synonym_map_names, ["lodging"])
        check.assertFalse(field["descriptionVector"].hidden)
        check.assertEqual(field["descriptionVector"].vector_search_dimensions, 3)
        check.assertEqual(field["descriptionVector"].vector_search_profile_name, "nearest")
        check.assertEqual([one.name for one in field["rooms"].fields], ["type", "baseRate"])
        check.assertEqual(index.suggesters[0].source_fields, ["hotelName", "category"])
        by_name, near = index.scoring_profiles
        check.assertEqual(by_name.text_weights.weights, {"hotelName": 10})
        check.assertEqual(near.functions[0].parameters.reference_point_parameter, "here")
        check.assertEqual(index.analyzers[0].tokenizer_name, "standard_v2")
        check.assertEqual(index.analyzers[0].token_filters, ["lowercase", "asciifolding"])
        (readable,) = index.semantic_search.configurations
        check.assertEqual(readable.prioritized_fields.title_field.field_name, "hotelName")
        graph, exhaustive = index.vector_search.algorithms
        check.assertEqual((graph.kind, graph.parameters.metric), ("hnsw", "cosine"))
        check.assertEqual((exhaustive.kind, exhaustive.parameters.metric), ("exhaustiveKnn", "euclidean"))
        check.assertEqual(index.vector_search.profiles[0].algorithm_configuration_name, "graph")

    with scenario("list indexes"):
        check.assertEqual(list(client.list_index_names()), ["hotels"])
        (listed,) = client.list_indexes()
        check.assertEqual(len(listed.fields), len(hotel_index().fields))
        (listed,) = client.list_indexes(select=["name"])
        check.assertEqual((listed.name, listed.fields), ("hotels", []))

    with scenario("add a field to an index"):
        index = client.get_index("hotels")
        index.fields.append(SimpleField(name="stars", type=SearchFieldDataType.Double, filterable=True))
        updated = client.create_or_update_index(index, **UNCHANGED)
        check.assertEqual(updated.fields[-1].name, "stars")
        check.assertNotEqual(updated.e_tag, index.e_tag)
        with check.assertRaises(ResourceModifiedError):
            client.create_or_update_index(index, **UNCHANGED)


def analysis(service: Service) -> None:
    def analyzed(text: str, **options: Any) -> list[str]:
        result = service.indexes.analyze_text("hotels", AnalyzeTextOptions(text=text, **options))
        return [token.token for token in result.tokens]

    with scenario("analyze text"):
        check.assertEqual(analyzed("The Swimming pools", analyzer_name="standard.lucene"), ["the", "swimming", "pools"])
        check.assertEqual(analyzed("The Swimming pools", analyzer_name="en.lucene"), ["swim", "pool"])
        check.assertEqual(analyzed("Crème Brûlée", analyzer_name="folded"), ["creme", "brulee"])
        check.assertEqual(analyzed("One Two", tokenizer_name="whitespace", token_filters=["uppercase"]), ["ONE", "TWO"])
        result = service.indexes.analyze_text("hotels", AnalyzeTextOptions(text="a  bc", analyzer_name="simple"))
        check.assertEqual(
            [(token.start_offset, token.end_offset, token.position) for token in result.tokens], [(0, 1, 0), (3, 5, 1)]
        )


def statistics(service: Service) -> None:
    part = service.quirks.part

    with scenario("read statistics"):
        index = service.indexes.get_index_statistics("hotels")
        check.assertEqual(part(index, "document_count"), len(hotel_documents()))
        check.assertGreater(part(index, "storage_size"), 0)
        check.assertGreater(part(index, "vector_index_size"), 0)
        whole = service.indexes.get_service_statistics()
        usage = {
            name: part(part(part(whole, "counters"), f"{name}_counter"), "usage")
            for name in ("index", "synonym_map", "document")
        }
        check.assertEqual((usage["index"], usage["synonym_map"]), (2, 1))
        check.assertGreater(usage["document"], 120)
        check.assertGreater(part(part(whole, "limits"), "max_fields_per_index"), 0)


def aliases(service: Service) -> None:
    if not service.quirks.aliases:
        return
    from azure.search.documents.indexes.models import SearchAlias  # version 11 has none

    client = service.indexes

    with scenario("create, use, change and delete an alias"):
        created = client.create_alias(SearchAlias(name="lodgings", indexes=["hotels"]))
        check.assertEqual((created.name, created.indexes), ("lodgings", ["hotels"]))
        check.assertEqual(client.get_alias("lodgings").indexes, ["hotels"])
        check.assertEqual([alias.name for alias in client.list_aliases()], ["lodgings"])
        check.assertEqual(list(client.list_alias_names()), ["lodgings"])
        with client.get_search_client("lodgings", **ONCE) as lodgings:
            check.assertEqual(lodgings.get_document_count(), len(hotel_documents()))
            check.assertEqual([found["hotelId"] for found in lodgings.search("roach")], ["2"])
            client.create_or_update_alias(SearchAlias(name="lodgings", indexes=["numbers"]))
            check.assertEqual(lodgings.get_document_count(), 120)
        with check.assertRaises(ResourceExistsError):
            client.create_alias(created)
        client.delete_alias("lodgings")
        with check.assertRaises(ResourceNotFoundError):
            client.get_alias("lodgings")


def deletion(service: Service) -> None:
    client = service.indexes

    with scenario("delete an index and a synonym map"):
        index = client.get_index("hotels")
        with check.assertRaises(ResourceModifiedError):
            client.delete_index(SearchIndex(name="hotels", fields=[], e_tag='"0x0"'), **UNCHANGED)
        client.delete_index(index, **UNCHANGED)
        with check.assertRaises(ResourceNotFoundError):
            client.get_index("hotels")
        client.delete_index("numbers")
        check.assertEqual(list(client.list_index_names()), [])
        client.delete_synonym_map("lodging")
        check.assertEqual(client.get_synonym_map_names(), [])
