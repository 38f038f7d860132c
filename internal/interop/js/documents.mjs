import assert from "node:assert/strict";
import { hotels } from "./hotels.mjs";
import { notFound, plain } from "./quirks.mjs";
import { scenario } from "./scenario.mjs";

export async function uploads({ sdk, searchClient }) {
  await scenario("upload documents", async () => {
    const client = searchClient("hotels");
    const { results } = await client.uploadDocuments(hotels(sdk));
    assert.deepEqual(
      results.map(({ key, succeeded, statusCode }) => [key, succeeded, statusCode]),
      ["1", "2", "3", "4", "5"].map((key) => [key, true, 201]),
    );
    assert.equal(await client.getDocumentsCount(), 5);
  });
}

export async function lookups({ sdk, searchClient, quirks }) {
  const client = searchClient("hotels");

  await scenario("get a document as it was uploaded", async () => {
    const { internalNote, ...uploaded } = hotels(sdk)[0];
    const { stars, ...document } = await client.getDocument("1");
    assert.equal(stars, null);
    assert.ok(document.lastRenovationDate instanceof Date);
    assert.ok(document.location instanceof sdk.GeographyPoint);
    assert.deepEqual(plain(quirks, document), plain(quirks, uploaded));
  });

  await scenario("get what was never set as null or empty", async () => {
    const document = await client.getDocument("5");
    assert.equal(document.hotelName, null);
    assert.equal(document.location, null);
    assert.equal(document.address, null);
    assert.deepEqual(document.tags, []);
    assert.deepEqual(document.rooms, []);
  });

  await scenario("get special values", async () => {
    const values = [NaN, Infinity, -Infinity, 0.1, -1e300];
    const keys = values.map((_, i) => `${i}=-_`);
    await client.uploadDocuments(values.map((stars, i) => ({ hotelId: keys[i], stars, slogan: "it's “100%” 😀\n" })));
    for (const [i, key] of keys.entries()) {
      const document = await client.getDocument(key);
      assert.deepEqual([document.stars, document.slogan], [values[i], "it's “100%” 😀\n"]);
    }
    await client.deleteDocuments("hotelId", keys);
  });

  await scenario("get selected fields", async () => {
    const document = await client.getDocument("1", { selectedFields: ["hotelName", "address/city", "rooms/type"] });
    if (quirks.lookupSelectsNothing) {
      assert.equal(document.category, "Luxury");
      return;
    }
    assert.deepEqual(plain(quirks, document), {
      hotelName: "Fancy Stay",
      address: { city: "Redmond" },
      rooms: [{ type: "Suite" }, { type: "Double" }],
    });
  });

  await scenario("get a document that is missing", async () => {
    await assert.rejects(client.getDocument("404"), notFound(quirks));
  });
}

export async function changes({ searchClient, quirks }) {
  const client = searchClient("hotels");

  await scenario("merge documents", async () => {
    const { results } = await client.mergeDocuments([{ hotelId: "2", rating: 2, tags: ["motel"] }]);
    assert.deepEqual([results[0].succeeded, results[0].statusCode], [true, 200]);
    const document = await client.getDocument("2");
    assert.deepEqual([document.rating, document.tags, document.hotelName], [2, ["motel"], "Roach Motel"]);
  });

  await scenario("merge what is missing", async () => {
    const batch = [
      { hotelId: "404", rating: 1 },
      { hotelId: "2", rating: 1 },
    ];
    const { results } = await client.mergeDocuments(batch);
    assert.deepEqual(
      results.map(({ key, succeeded, statusCode }) => [key, succeeded, statusCode]),
      [
        ["404", false, 404],
        ["2", true, 200],
      ],
    );
    assert.ok(results[0].errorMessage);
    await assert.rejects(client.mergeDocuments(batch, { throwOnAnyFailure: true }));
  });

  await scenario("merge or upload documents", async () => {
    const { results } = await client.mergeOrUploadDocuments([
      { hotelId: "3", rating: 5 },
      { hotelId: "6", hotelName: "Late" },
    ]);
    assert.deepEqual(
      results.map(({ statusCode }) => statusCode),
      [200, 201],
    );
    assert.equal((await client.getDocument("3")).hotelName, "Economy Stay");
    assert.equal(await client.getDocumentsCount(), 6);
  });

  await scenario("delete documents", async () => {
    await client.deleteDocuments("hotelId", ["6"]);
    const { results } = await client.deleteDocuments([{ hotelId: "6" }]);
    assert.deepEqual([results[0].succeeded, results[0].statusCode], [true, 200], "deleting again is no error");
    assert.equal(await client.getDocumentsCount(), 5);
    await assert.rejects(client.getDocument("6"), notFound(quirks));
  });
}

export async function buffered({ sdk, indexClient, searchClient }) {
  await scenario("send documents through the buffered sender", async () => {
    await indexClient.createIndex({
      name: "numbers",
      fields: [
        { name: "id", type: "Edm.String", key: true, filterable: true, sortable: true },
        { name: "number", type: "Edm.Int32", filterable: true, sortable: true },
      ],
    });
    const client = searchClient("numbers");
    const sender = new sdk.SearchIndexingBufferedSender(client, (document) => document.id, {
      autoFlush: false,
      initialBatchActionCount: 50,
    });
    const batches = [];
    const failures = [];
    sender.on("batchSucceeded", ({ results }) => batches.push(results.length));
    sender.on("batchFailed", (error) => failures.push(error));

    await sender.uploadDocuments(Array.from({ length: 121 }, (_, number) => ({ id: `n${number}`, number })));
    assert.deepEqual(batches, [], "nothing is sent before the flush");
    await sender.flush();
    assert.deepEqual(batches, [50, 50, 21]);
    await sender.mergeDocuments([{ id: "n1", number: -1 }]);
    await sender.mergeOrUploadDocuments([{ id: "n2", number: -2 }]);
    await sender.deleteDocuments([{ id: "n120" }]);
    await sender.flush();
    await sender.dispose();

    assert.deepEqual(failures, []);
    assert.equal(await client.getDocumentsCount(), 120);
    assert.equal((await client.getDocument("n1")).number, -1);
    assert.equal((await client.getDocument("n2")).number, -2);
  });

  await scenario("send documents as they come through the buffered sender", async () => {
    const client = searchClient("numbers");
    const sender = new sdk.SearchIndexingBufferedSender(client, (document) => document.id, {
      autoFlush: true,
      initialBatchActionCount: 2,
    });
    try {
      await sender.uploadDocuments([{ id: "n1", number: 1 }]);
      assert.equal((await client.getDocument("n1")).number, -1);
      await sender.uploadDocuments([{ id: "n2", number: 2 }]); // fills the batch
      assert.equal((await client.getDocument("n1")).number, 1);
    } finally {
      await sender.dispose(); // otherwise its timer keeps the process alive
    }
  });

  await scenario("send documents through the buffered sender to a failing service", async () => {
    // faults.json answers 503 twice, and then 413 to requests above 1500 bytes.
    await indexClient.createIndex({
      name: "sick",
      fields: [
        { name: "id", type: "Edm.String", key: true },
        { name: "text", type: "Edm.String" },
      ],
    });
    const client = searchClient("sick");
    const sender = new sdk.SearchIndexingBufferedSender(client, (document) => document.id, {
      autoFlush: false,
      throttlingDelayInMs: 1,
      maxThrottlingDelayInMs: 2,
    });
    const batches = [];
    const failures = [];
    sender.on("batchSucceeded", ({ results }) => batches.push(results.length));
    sender.on("batchFailed", (error) => failures.push(error));
    await sender.uploadDocuments(Array.from({ length: 32 }, (_, i) => ({ id: `s${i}`, text: "x".repeat(100) })));
    await sender.flush();
    await sender.dispose();
    assert.deepEqual(failures, []);
    assert.deepEqual(batches, [8, 8, 8, 8]);
    assert.equal(await client.getDocumentsCount(), 32);
    await indexClient.deleteIndex("sick");
  });
}
