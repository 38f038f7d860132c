import assert from "node:assert/strict";
import { hotelIndex, hotels } from "./hotels.mjs";
import { mended } from "./quirks.mjs";
import { collect, found, scenario } from "./scenario.mjs";

export async function synonyms({ indexClient }) {
  await scenario("create, get, list and update a synonym map", async () => {
    const map = { name: "lodging", synonyms: ["motel, guesthouse", "waterslide => pool"] };
    const created = await indexClient.createSynonymMap(map);
    assert.deepEqual(created.synonyms, map.synonyms);
    assert.ok(created.etag);
    assert.equal((await indexClient.getSynonymMap("lodging")).etag, created.etag);
    assert.deepEqual(await indexClient.listSynonymMapsNames(), ["lodging"]);

    created.synonyms.push("cheap, inexpensive");
    const updated = await indexClient.createOrUpdateSynonymMap(created, { onlyIfUnchanged: true });
    assert.equal(updated.synonyms.length, 3);
    assert.notEqual(updated.etag, created.etag);
    await assert.rejects(indexClient.createOrUpdateSynonymMap(created, { onlyIfUnchanged: true }), { statusCode: 412 });
    assert.equal((await indexClient.listSynonymMaps())[0].etag, updated.etag);
  });
}

export async function indexes({ indexClient, quirks }) {
  await scenario("create an index", async () => {
    const created = mended(quirks, await indexClient.createIndex(hotelIndex));
    assert.equal(created.name, "hotels");
    assert.ok(created.etag);
    assert.deepEqual(
      created.fields.map((field) => field.name),
      hotelIndex.fields.map((field) => field.name),
    );
  });

  await scenario("get an index as it was defined", async () => {
    const index = await indexClient.getIndex("hotels");
    const field = (name) => index.fields.find((one) => one.name === name);
    assert.equal(field("hotelId").key, true);
    assert.equal(field("internalNote").hidden, true);
    assert.equal(field("description").analyzerName, "en.lucene");
    assert.deepEqual(field("description").synonymMapNames, ["lodging"]);
    assert.equal(field("descriptionVector").vectorSearchDimensions, 3);
    assert.equal(field("descriptionVector").vectorSearchProfileName, "nearest");
    assert.deepEqual(
      field("rooms").fields.map((one) => one.name),
      ["type", "baseRate"],
    );
    assert.deepEqual(index.suggesters[0].sourceFields, ["hotelName", "category"]);
    assert.deepEqual(index.scoringProfiles[0].textWeights.weights, { hotelName: 10 });
    assert.equal(index.scoringProfiles[1].functions[0].parameters.referencePointParameter, "here");
    assert.deepEqual(index.analyzers[0].tokenFilters, ["lowercase", "asciifolding"]);
    assert.deepEqual(index.semanticSearch.configurations[0].prioritizedFields.titleField, { name: "hotelName" });
    assert.equal(index.vectorSearch.algorithms[0].parameters.metric, "cosine");
    assert.equal(index.vectorSearch.profiles[0].algorithmConfigurationName, "graph");
  });

  await scenario("list indexes", async () => {
    assert.deepEqual(await collect(indexClient.listIndexesNames()), ["hotels"]);
    const [listed] = await collect(indexClient.listIndexes());
    assert.equal(listed.fields.length, hotelIndex.fields.length);
  });

  await scenario("add a field to an index", async () => {
    const index = mended(quirks, await indexClient.getIndex("hotels"));
    index.fields.push({ name: "stars", type: "Edm.Double", filterable: true });
    const updated = await indexClient.createOrUpdateIndex(index, { onlyIfUnchanged: true });
    assert.equal(updated.fields.at(-1).name, "stars");
    await assert.rejects(indexClient.createOrUpdateIndex(index, { onlyIfUnchanged: true }), { statusCode: 412 });
  });
}

export async function analysis({ indexClient }) {
  const tokens = async (options) =>
    (await indexClient.analyzeText("hotels", options)).tokens.map((token) => token.token);

  await scenario("analyze text", async () => {
    assert.deepEqual(await tokens({ text: "The Swimming pools", analyzerName: "standard.lucene" }), [
      "the",
      "swimming",
      "pools",
    ]);
    assert.deepEqual(await tokens({ text: "The Swimming pools", analyzerName: "en.lucene" }), ["swim", "pool"]);
    assert.deepEqual(await tokens({ text: "Crème Brûlée", analyzerName: "folded" }), ["creme", "brulee"]);
    assert.deepEqual(await tokens({ text: "One Two", tokenizerName: "whitespace", tokenFilters: ["uppercase"] }), [
      "ONE",
      "TWO",
    ]);
    const { tokens: placed } = await indexClient.analyzeText("hotels", { text: "a  bc", analyzerName: "simple" });
    assert.deepEqual(
      placed.map(({ startOffset, endOffset, position }) => [startOffset, endOffset, position]),
      [
        [0, 1, 0],
        [3, 5, 1],
      ],
    );
  });
}

export async function statistics({ indexClient }) {
  await scenario("read statistics", async () => {
    const index = await indexClient.getIndexStatistics("hotels");
    assert.equal(index.documentCount, 5);
    assert.ok(index.storageSize > 0);
    const { counters, limits } = await indexClient.getServiceStatistics();
    assert.equal(counters.indexCounter.usage, 2);
    assert.equal(counters.synonymMapCounter.usage, 1);
    assert.ok(limits.maxFieldsPerIndex > 0);
  });
}

export async function aliases({ sdk, indexClient, searchClient }) {
  await scenario("create, use, change and delete an alias", async () => {
    const created = await indexClient.createAlias({ name: "lodgings", indexes: ["hotels"] });
    assert.deepEqual([created.name, created.indexes], ["lodgings", ["hotels"]]);
    assert.deepEqual((await indexClient.getAlias("lodgings")).indexes, ["hotels"]);
    assert.deepEqual(
      (await collect(indexClient.listAliases())).map((alias) => alias.name),
      ["lodgings"],
    );
    const client = searchClient("lodgings");
    assert.equal(await client.getDocumentsCount(), hotels(sdk).length);
    assert.deepEqual(await found(await client.search("roach")), ["2"]);

    await indexClient.createOrUpdateAlias({ name: "lodgings", indexes: ["numbers"] });
    assert.equal(await client.getDocumentsCount(), 120);
    await assert.rejects(indexClient.createAlias(created), { statusCode: 409 });
    await indexClient.deleteAlias("lodgings");
    await assert.rejects(indexClient.getAlias("lodgings"), { statusCode: 404 });
  });
}

export async function deletion({ indexClient, quirks }) {
  await scenario("delete an index and a synonym map", async () => {
    const index = mended(quirks, await indexClient.getIndex("hotels"));
    const stale = { ...index, etag: '"0x0"' };
    await assert.rejects(indexClient.deleteIndex(stale, { onlyIfUnchanged: true }), { statusCode: 412 });
    await indexClient.deleteIndex(index, { onlyIfUnchanged: true });
    await assert.rejects(indexClient.getIndex("hotels"), { statusCode: 404 });
    await indexClient.deleteSynonymMap("lodging");
    assert.deepEqual(await indexClient.listSynonymMapsNames(), []);
  });
}
