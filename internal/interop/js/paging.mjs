import assert from "node:assert/strict";
import { collect, scenario } from "./scenario.mjs";

// pages needs the index of 120 documents that the buffered sender filled.
export async function pages({ searchClient }) {
  const client = searchClient("numbers");
  const options = { orderBy: ["number"], includeTotalCount: true };
  const everything = Array.from({ length: 120 }, (_, number) => number);
  const numbers = (results) => results.map((result) => result.document.number);

  await scenario("iterate over all pages", async () => {
    const { count, results } = await client.search("*", options);
    assert.equal(count, 120);
    assert.deepEqual(numbers(await collect(results)), everything);
  });

  await scenario("read page by page", async () => {
    const { results } = await client.search("*", options);
    const read = await collect(results.byPage());
    assert.deepEqual(
      read.map((page) => page.results.length),
      [50, 50, 20],
    );
    assert.deepEqual(
      read.flatMap((page) => numbers(page.results)),
      everything,
    );
  });

  await scenario("continue from a continuation token", async () => {
    const { results } = await client.search("*", options);
    const { value: first } = await results.byPage().next();
    assert.ok(first.continuationToken);
    const { results: again } = await client.search("*", options);
    const rest = await collect(again.byPage({ continuationToken: first.continuationToken }));
    assert.deepEqual(
      [...numbers(first.results), ...rest.flatMap((page) => numbers(page.results))].filter(
        (number, i, all) => all.indexOf(number) === i,
      ),
      everything,
    );
  });
}
