import assert from "node:assert/strict";
import { collect, found, scenario } from "./scenario.mjs";

export async function vectors({ searchClient }) {
  const client = searchClient("hotels");
  const query = (options) => ({
    kind: "vector",
    vector: [1, 0, 0],
    fields: ["descriptionVector"],
    kNearestNeighborsCount: 3,
    ...options,
  });

  await scenario("search by a vector", async () => {
    const { results } = await client.search("*", {
      vectorSearchOptions: { queries: [query({ kNearestNeighborsCount: 2 })] },
    });
    const nearest = await collect(results);
    assert.deepEqual(
      nearest.map((result) => result.document.hotelId),
      ["1", "3"],
    );
    assert.ok(nearest[0].score > nearest[1].score);
    assert.deepEqual(nearest[0].document.descriptionVector, [1, 0, 0]);
  });

  await scenario("search by a vector alone", async () => {
    // Cosine similarity s is the score 1/(2-s).
    const { results } = await client.search(undefined, {
      vectorSearchOptions: { queries: [query({ exhaustive: true })] },
    });
    const nearest = await collect(results);
    assert.equal(nearest[0].score, 1);
    assert.ok(Math.abs(nearest[1].score - 1 / 1.2) < 1e-6);
  });

  await scenario("search by a vector with a filter", async () => {
    const filtered = (filterMode) =>
      client.search(undefined, {
        filter: "category eq 'Budget'",
        vectorSearchOptions: { queries: [query({ kNearestNeighborsCount: 1 })], filterMode },
      });
    assert.deepEqual(await found(await filtered("preFilter")), ["3"]);
    assert.deepEqual(await found(await filtered("postFilter")), []);
  });

  await scenario("search by text and a vector together", async () => {
    const { results } = await client.search("motel", {
      vectorSearchOptions: { queries: [query({ kNearestNeighborsCount: 2 })] },
      top: 3,
    });
    const merged = await collect(results);
    assert.deepEqual(merged.map((result) => result.document.hotelId).sort(), ["1", "2", "3"]);
    // Being the first of one ranking counts 1/60, in whichever it is.
    assert.ok(Math.abs(merged[0].score - 1 / 60) < 1e-6);
    const weighted = await client.search("motel", {
      vectorSearchOptions: { queries: [query({ kNearestNeighborsCount: 1, weight: 3 })] },
    });
    const [heaviest] = await collect(weighted.results);
    assert.equal(heaviest.document.hotelId, "1");
    assert.ok(Math.abs(heaviest.score - 3 / 60) < 1e-6);
  });
}
