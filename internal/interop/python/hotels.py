"""The index and the documents that most scenarios work on."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from azure.search.documents.indexes.models import (
    ComplexField,
    CustomAnalyzer,
    DistanceScoringFunction,
    DistanceScoringParameters,
    ExhaustiveKnnAlgorithmConfiguration,
    ExhaustiveKnnParameters,
    HnswAlgorithmConfiguration,
    HnswParameters,
    ScoringProfile,
    SearchableField,
    SearchField,
    SearchFieldDataType,
    SearchIndex,
    SearchSuggester,
    SemanticConfiguration,
    SemanticField,
    SemanticPrioritizedFields,
    SemanticSearch,
    SimpleField,
    TextWeights,
    VectorSearch,
    VectorSearchProfile,
)

Document = dict[str, Any]

String = SearchFieldDataType.String


def hotel_index() -> SearchIndex:
    """A new definition each time, for the scenarios change theirs."""
    return SearchIndex(
        name="hotels",
        fields=[
            SimpleField(name="hotelId", type=String, key=True, filterable=True, sortable=True),
            SearchableField(name="hotelName", filterable=True, sortable=True),
            SearchableField(name="description", analyzer_name="en.lucene", synonym_map_names=["lodging"]),
            SearchableField(name="slogan", analyzer_name="folded"),
            SearchableField(name="category", filterable=True, sortable=True, facetable=True),
            SearchableField(name="tags", collection=True, filterable=True, facetable=True),
            *(
                SimpleField(name=name, type=type_, filterable=True, sortable=True, facetable=True)
                for name, type_ in [
                    ("parkingIncluded", SearchFieldDataType.Boolean),
                    ("lastRenovationDate", SearchFieldDataType.DateTimeOffset),
                    ("rating", SearchFieldDataType.Int32),
                ]
            ),
            SimpleField(name="location", type=SearchFieldDataType.GeographyPoint, filterable=True, sortable=True),
            SimpleField(name="internalNote", type=String, hidden=True),
            ComplexField(
                name="address",
                fields=[
                    SearchableField(name="city", filterable=True, sortable=True, facetable=True),
                    SearchableField(name="country", filterable=True),
                ],
            ),
            ComplexField(
                name="rooms",
                collection=True,
                fields=[
                    SearchableField(name="type", filterable=True, facetable=True),
                    SimpleField(name="baseRate", type=SearchFieldDataType.Double, filterable=True, facetable=True),
                ],
            ),
            vector_field("descriptionVector"),
            vector_field("nameVector"),
        ],
        suggesters=[SearchSuggester(name="sg", source_fields=["hotelName", "category"])],
        scoring_profiles=[
            ScoringProfile(name="byName", text_weights=TextWeights(weights={"hotelName": 10})),
            ScoringProfile(
                name="near",
                function_aggregation="sum",
                functions=[
                    DistanceScoringFunction(
                        field_name="location",
                        boost=50,
                        interpolation="linear",
                        parameters=DistanceScoringParameters(reference_point_parameter="here", boosting_distance=100),
                    )
                ],
            ),
        ],
        analyzers=[
            CustomAnalyzer(name="folded", tokenizer_name="standard_v2", token_filters=["lowercase", "asciifolding"])
        ],
        semantic_search=SemanticSearch(
            default_configuration_name="readable",
            configurations=[
                SemanticConfiguration(
                    name="readable",
                    prioritized_fields=SemanticPrioritizedFields(
                        title_field=SemanticField(field_name="hotelName"),
                        content_fields=[SemanticField(field_name="description")],
                    ),
                )
            ],
        ),
        vector_search=VectorSearch(
            algorithms=[
                HnswAlgorithmConfiguration(
                    name="graph",
                    parameters=HnswParameters(m=4, ef_construction=400, ef_search=500, metric="cosine"),
                ),
                ExhaustiveKnnAlgorithmConfiguration(name="all", parameters=ExhaustiveKnnParameters(metric="euclidean")),
            ],
            profiles=[VectorSearchProfile(name="nearest", algorithm_configuration_name="graph")],
        ),
    )


def vector_field(name: str) -> SearchField:
    return SearchField(
        name=name,
        type=SearchFieldDataType.Collection(SearchFieldDataType.Single),
        searchable=True,
        hidden=False,
        vector_search_dimensions=3,
        vector_search_profile_name="nearest",
    )


def point(longitude: float, latitude: float) -> Document:
    """A point as the service says it: the SDK has no class of its own for it."""
    return {
        "type": "Point",
        "coordinates": [longitude, latitude],
        "crs": {"type": "name", "properties": {"name": "EPSG:4326"}},
    }


def hotel_documents() -> list[Document]:
    """New documents each time: the SDK keeps those that it is given."""
    utc = timezone.utc
    return [
        {
            "hotelId": "1",
            "hotelName": "Fancy Stay",
            "description": "Best hotel in town if you like luxury hotels. It has an infinity pool and a spa.",
            "slogan": "Déjà vu à la carte",
            "category": "Luxury",
            "tags": ["pool", "view", "wifi"],
            "parkingIncluded": False,
            "lastRenovationDate": datetime(2010, 6, 27, 2, tzinfo=timezone(timedelta(hours=2))),
            "rating": 5,
            "location": point(-122.13, 47.67),
            "internalNote": "never shown",
            "address": {"city": "Redmond", "country": "USA"},
            "rooms": [{"type": "Suite", "baseRate": 310.5}, {"type": "Double", "baseRate": 190.0}],
            "descriptionVector": [1.0, 0.0, 0.0],
            "nameVector": [0.0, 1.0, 0.0],
        },
        {
            "hotelId": "2",
            "hotelName": "Roach Motel",
            "description": "Cheapest hotel in town. In fact, a motel.",
            "category": "Budget",
            "tags": ["motel", "budget"],
            "parkingIncluded": True,
            "lastRenovationDate": datetime(1982, 4, 28, tzinfo=utc),
            "rating": 1,
            "location": point(-122.13, 49.67),
            "address": {"city": "Hope", "country": "Canada"},
            "rooms": [{"type": "Single", "baseRate": 39.0}],
            "descriptionVector": [0.0, 1.0, 0.0],
            "nameVector": [0.0, 0.8, 0.6],
        },
        {
            "hotelId": "3",
            "hotelName": "Economy Stay",
            "description": "A very popular place with free wifi.",
            "category": "Budget",
            "tags": ["wifi", "budget"],
            "parkingIncluded": True,
            "lastRenovationDate": datetime(1995, 7, 1, 12, 30, 0, 250_000, tzinfo=utc),
            "rating": 4,
            "location": point(-122.13, 46.67),
            "address": {"city": "Randle", "country": "USA"},
            "rooms": [],
            "descriptionVector": [0.8, 0.6, 0.0],
            "nameVector": [0.0, 0.0, 1.0],
        },
        {
            "hotelId": "4",
            "hotelName": "Secret Point Motor Inn",
            "description": "Ideally located on the main street, a fancy breakfast is included.",
            "category": "Boutique",
            "tags": ["pool", "breakfast"],
            "parkingIncluded": True,
            "lastRenovationDate": None,
            "rating": 3,
            "location": point(-73.975403, 40.760586),
            "address": {"city": "New York", "country": "USA"},
            "rooms": [{"type": "Double", "baseRate": 120.0}],
            "descriptionVector": [0.0, 0.0, 1.0],
        },
        {
            "hotelId": "5",
            "hotelName": None,
            "description": "Nothing much is known about it.",
            "category": "Luxury",
            "rating": None,
        },
    ]
