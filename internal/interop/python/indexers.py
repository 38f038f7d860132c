"""What fills indexes and answers from them: data sources, skillsets, indexers, knowledge."""

from __future__ import annotations

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceModifiedError, ResourceNotFoundError
from azure.search.documents.indexes import SearchIndexerClient
from azure.search.documents.indexes.models import (
    FieldMapping,
    HighWaterMarkChangeDetectionPolicy,
    InputFieldMappingEntry,
    OutputFieldMappingEntry,
    SearchIndexer,
    SearchIndexerDataContainer,
    SearchIndexerDataSourceConnection,
    SearchIndexerSkillset,
    SplitSkill,
    WebApiSkill,
)

from scenario import check, scenario
from service import ONCE, Service

CONNECTION = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=c2VjcmV0;EndpointSuffix=core.windows.net"


def filling(service: Service) -> None:
    with SearchIndexerClient(service.endpoint, service.credential, **ONCE) as client:
        with scenario("create, get, list and update a data source"):
            source = SearchIndexerDataSourceConnection(
                name="files",
                type="azureblob",
                connection_string=CONNECTION,
                container=SearchIndexerDataContainer(name="hotels", query="2026/"),
            )
            created = client.create_data_source_connection(source)
            check.assertTrue(created.e_tag)
            got = client.get_data_source_connection("files")
            check.assertEqual((got.name, got.type, got.container.query), ("files", "azureblob", "2026/"))
            check.assertEqual(client.get_data_source_connection_names(), ["files"])
            got.description = "descriptions"
            got.connection_string = CONNECTION
            got = client.create_or_update_data_source_connection(got, match_condition=MatchConditions.IfNotModified)
            check.assertEqual(got.description, "descriptions")
            with check.assertRaises(ResourceModifiedError):
                client.create_or_update_data_source_connection(created, match_condition=MatchConditions.IfNotModified)
            rows = SearchIndexerDataSourceConnection(
                name="rows",
                type="azuresql",
                connection_string="Server=s;Database=d",
                container=SearchIndexerDataContainer(name="Hotels"),
                data_change_detection_policy=HighWaterMarkChangeDetectionPolicy(high_water_mark_column_name="Changed"),
            )
            policy = client.create_data_source_connection(rows).data_change_detection_policy
            check.assertEqual(policy.high_water_mark_column_name, "Changed")

        with scenario("create, get and list a skillset"):
            text = [InputFieldMappingEntry(name="text", source="/document/content")]
            pages = OutputFieldMappingEntry(name="textItems", target_name="pages")
            skills = [
                SplitSkill(inputs=text, outputs=[pages], text_split_mode="pages", maximum_page_length=500),
                WebApiSkill(inputs=text, outputs=[OutputFieldMappingEntry(name="x")], uri="https://h.example/api", http_headers={"a": "b"}),
            ]
            client.create_skillset(SearchIndexerSkillset(name="pages", skills=skills))
            got = client.get_skillset("pages")
            check.assertEqual([type(skill) for skill in got.skills], [SplitSkill, WebApiSkill])
            check.assertEqual(got.skills[0].maximum_page_length, 500)
            check.assertEqual(client.get_skillset_names(), ["pages"])

        with scenario("create, get, list and reset an indexer"):
            indexer = SearchIndexer(
                name="hotels",
                data_source_name="files",
                skillset_name="pages",
                target_index_name="hotels",
                is_disabled=True,  # else it would run now
                field_mappings=[FieldMapping(source_field_name="content", target_field_name="description")],
            )
            with check.assertRaisesRegex(HttpResponseError, "doesn't exist"):
                client.create_indexer(SearchIndexer(name="x", data_source_name="none", target_index_name="hotels"))
            client.create_indexer(indexer)
            got = client.get_indexer("hotels")
            check.assertEqual((got.skillset_name, got.field_mappings[0].target_field_name), ("pages", "description"))
            check.assertEqual(client.get_indexer_names(), ["hotels"])
            client.reset_indexer("hotels")
            status = client.get_indexer_status("hotels")
            check.assertEqual((status.status, status.last_result.status), ("running", "reset"))
            client.run_indexer("hotels")

        with scenario("delete an indexer and what it needs"):
            client.delete_indexer("hotels")
            client.delete_skillset("pages")
            client.delete_data_source_connection("files")
            client.delete_data_source_connection("rows")
            with check.assertRaises(ResourceNotFoundError):
                client.get_indexer("hotels")
            check.assertEqual(client.get_indexer_names(), [])


def knowing(service: Service) -> None:
    if not service.quirks.aliases:  # which came with it
        return
    from azure.search.documents.indexes.models import (  # version 11 has none
        KnowledgeBase,
        KnowledgeSourceReference,
        SearchIndexKnowledgeSource,
        SearchIndexKnowledgeSourceParameters,
    )

    client = service.indexes

    with scenario("create, get, list, update and delete a knowledge source and base"):
        parameters = SearchIndexKnowledgeSourceParameters(search_index_name="hotels")
        client.create_knowledge_source(SearchIndexKnowledgeSource(name="hotels", search_index_parameters=parameters))
        got = client.get_knowledge_source("hotels")
        check.assertEqual((got.kind, got.search_index_parameters.search_index_name), ("searchIndex", "hotels"))
        check.assertEqual([one.name for one in client.list_knowledge_sources()], ["hotels"])
        client.create_knowledge_base(KnowledgeBase(name="travel", knowledge_sources=[KnowledgeSourceReference(name="hotels")]))
        base = client.get_knowledge_base("travel")
        base.description = "all hotels"
        base = client.create_or_update_knowledge_base(base, match_condition=MatchConditions.IfNotModified)
        check.assertEqual(base.description, "all hotels")
        check.assertEqual([one.name for one in client.list_knowledge_bases()], ["travel"])
        client.delete_knowledge_base("travel")
        client.delete_knowledge_source("hotels")
        with check.assertRaises(ResourceNotFoundError):
            client.get_knowledge_base("travel")
