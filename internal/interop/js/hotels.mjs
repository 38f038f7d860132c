// The index and the documents that most scenarios work on.

export const hotelIndex = {
  name: "hotels",
  fields: [
    { name: "hotelId", type: "Edm.String", key: true, filterable: true, sortable: true },
    { name: "hotelName", type: "Edm.String", searchable: true, filterable: true, sortable: true },
    {
      name: "description",
      type: "Edm.String",
      searchable: true,
      analyzerName: "en.lucene",
      synonymMapNames: ["lodging"],
    },
    { name: "slogan", type: "Edm.String", searchable: true, analyzerName: "folded" },
    { name: "category", type: "Edm.String", searchable: true, filterable: true, sortable: true, facetable: true },
    { name: "tags", type: "Collection(Edm.String)", searchable: true, filterable: true, facetable: true },
    { name: "parkingIncluded", type: "Edm.Boolean", filterable: true, sortable: true, facetable: true },
    { name: "lastRenovationDate", type: "Edm.DateTimeOffset", filterable: true, sortable: true, facetable: true },
    { name: "rating", type: "Edm.Int32", filterable: true, sortable: true, facetable: true },
    { name: "location", type: "Edm.GeographyPoint", filterable: true, sortable: true },
    { name: "internalNote", type: "Edm.String", hidden: true },
    {
      name: "address",
      type: "Edm.ComplexType",
      fields: [
        { name: "city", type: "Edm.String", searchable: true, filterable: true, sortable: true, facetable: true },
        { name: "country", type: "Edm.String", searchable: true, filterable: true },
      ],
    },
    {
      name: "rooms",
      type: "Collection(Edm.ComplexType)",
      fields: [
        { name: "type", type: "Edm.String", searchable: true, filterable: true, facetable: true },
        { name: "baseRate", type: "Edm.Double", filterable: true, facetable: true },
      ],
    },
    {
      name: "descriptionVector",
      type: "Collection(Edm.Single)",
      searchable: true,
      hidden: false,
      vectorSearchDimensions: 3,
      vectorSearchProfileName: "nearest",
    },
  ],
  suggesters: [{ name: "sg", searchMode: "analyzingInfixMatching", sourceFields: ["hotelName", "category"] }],
  scoringProfiles: [
    { name: "byName", textWeights: { weights: { hotelName: 10 } } },
    {
      name: "near",
      functionAggregation: "sum",
      functions: [
        {
          type: "distance",
          fieldName: "location",
          boost: 50,
          interpolation: "linear",
          parameters: { referencePointParameter: "here", boostingDistance: 100 },
        },
      ],
    },
  ],
  analyzers: [
    {
      odatatype: "#Microsoft.Azure.Search.CustomAnalyzer",
      name: "folded",
      tokenizerName: "standard_v2",
      tokenFilters: ["lowercase", "asciifolding"],
    },
  ],
  semanticSearch: {
    defaultConfigurationName: "readable",
    configurations: [
      {
        name: "readable",
        prioritizedFields: {
          titleField: { name: "hotelName" },
          contentFields: [{ name: "description" }],
          keywordsFields: [],
        },
      },
    ],
  },
  vectorSearch: {
    algorithms: [
      { name: "graph", kind: "hnsw", parameters: { m: 4, efConstruction: 400, efSearch: 500, metric: "cosine" } },
      { name: "all", kind: "exhaustiveKnn", parameters: { metric: "euclidean" } },
    ],
    profiles: [{ name: "nearest", algorithmConfigurationName: "graph" }],
  },
};

// hotels has new objects each time: the SDK keeps those that it is given.
export function hotels({ GeographyPoint }) {
  const at = (longitude, latitude) => new GeographyPoint({ longitude, latitude });
  return [
    {
      hotelId: "1",
      hotelName: "Fancy Stay",
      description: "Best hotel in town if you like luxury hotels. It has an infinity pool and a spa.",
      slogan: "Déjà vu à la carte",
      category: "Luxury",
      tags: ["pool", "view", "wifi"],
      parkingIncluded: false,
      lastRenovationDate: new Date("2010-06-27T00:00:00.000Z"),
      rating: 5,
      location: at(-122.13, 47.67),
      internalNote: "never shown",
      address: { city: "Redmond", country: "USA" },
      rooms: [
        { type: "Suite", baseRate: 310.5 },
        { type: "Double", baseRate: 190 },
      ],
      descriptionVector: [1, 0, 0],
    },
    {
      hotelId: "2",
      hotelName: "Roach Motel",
      description: "Cheapest hotel in town. In fact, a motel.",
      category: "Budget",
      tags: ["motel", "budget"],
      parkingIncluded: true,
      lastRenovationDate: new Date("1982-04-28T00:00:00.000Z"),
      rating: 1,
      location: at(-122.13, 49.67),
      address: { city: "Hope", country: "Canada" },
      rooms: [{ type: "Single", baseRate: 39 }],
      descriptionVector: [0, 1, 0],
    },
    {
      hotelId: "3",
      hotelName: "Economy Stay",
      description: "A very popular place with free wifi.",
      category: "Budget",
      tags: ["wifi", "budget"],
      parkingIncluded: true,
      lastRenovationDate: new Date("1995-07-01T12:30:00.250Z"),
      rating: 4,
      location: at(-122.13, 46.67),
      address: { city: "Randle", country: "USA" },
      rooms: [],
      descriptionVector: [0.8, 0.6, 0],
    },
    {
      hotelId: "4",
      hotelName: "Secret Point Motor Inn",
      description: "Ideally located on the main street, a fancy breakfast is included.",
      category: "Boutique",
      tags: ["pool", "breakfast"],
      parkingIncluded: true,
      lastRenovationDate: null,
      rating: 3,
      location: at(-73.975403, 40.760586),
      address: { city: "New York", country: "USA" },
      rooms: [{ type: "Double", baseRate: 120 }],
      descriptionVector: [0, 0, 1],
    },
    { hotelId: "5", hotelName: null, description: "Nothing much is known about it.", category: "Luxury", rating: null },
  ];
}
