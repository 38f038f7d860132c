import assert from "node:assert/strict";
import { plain } from "./quirks.mjs";
import { collect, found, scenario } from "./scenario.mjs";

export async function queries({ sdk, searchClient, quirks }) {
  const client = searchClient("hotels");
  const keys = async (text, options) => found(await client.search(text, options));

  await scenario("search in the simple syntax", async () => {
    const results = await collect((await client.search("wifi -luxury", { searchMode: "all" })).results);
    assert.deepEqual(
      results.map((result) => result.document.hotelName),
      ["Economy Stay"],
    );
    assert.ok(results[0].score > 0);
    assert.ok(results[0].document.lastRenovationDate instanceof Date);
    assert.ok(!("internalNote" in results[0].document));
    assert.deepEqual((await keys("fancy stay", { searchMode: "any" })).sort(), ["1", "3", "4"]);
    assert.deepEqual(await keys("fancy stay", { searchMode: "all" }), ["1"]);
    assert.deepEqual((await keys("*")).sort(), ["1", "2", "3", "4", "5"]);
  });

  await scenario("search in the full syntax", async () => {
    const full = { queryType: "full", searchMode: "all" };
    assert.deepEqual(await keys('category:budget AND "popular place"^3', full), ["3"]);
    assert.deepEqual(await keys("hotelName:motal~1", full), ["2"]);
    assert.deepEqual(await keys("hotelName:/ec.*y/", full), ["3"]);
    assert.deepEqual(await keys('"fancy included"~5', full), ["4"]);
    assert.deepEqual(await keys("address/city:new*", full), ["4"]);
  });

  await scenario("search with synonyms and with a custom analyzer", async () => {
    assert.deepEqual(await keys("guesthouse"), ["2"]);
    assert.deepEqual(await keys("waterslide"), ["1"]);
    assert.deepEqual(await keys("deja"), ["1"]);
  });

  await scenario("search some fields", async () => {
    assert.deepEqual((await keys("fancy")).sort(), ["1", "4"]);
    assert.deepEqual(await keys("fancy", { searchFields: ["hotelName"] }), ["1"]);
  });

  await scenario("filter", async () => {
    const filtered = async (filter) => keys("*", { filter, orderBy: ["hotelId"] });
    const [rate, rating] = [200, 5];
    assert.deepEqual(await filtered(sdk.odata`rooms/any(room: room/baseRate lt ${rate}) and rating ge ${rating}`), [
      "1",
    ]);
    assert.deepEqual(await filtered(sdk.odata`hotelName eq ${"Roach Motel"} or not parkingIncluded`), ["1", "2", "5"]);
    assert.deepEqual(await filtered(sdk.odata`hotelName eq ${"O'Neill's"}`), []);
    assert.deepEqual(await filtered("lastRenovationDate lt 1996-01-01T00:00:00Z"), ["2", "3"]);
    assert.deepEqual(await filtered("tags/any(t: search.in(t, 'view, motel')) and address/country ne null"), [
      "1",
      "2",
    ]);
    assert.deepEqual(await filtered("geo.distance(location, geography'POINT(-122.13 47.67)') lt 150"), ["1", "3"]);
    assert.deepEqual(await filtered("rating eq null"), ["5"]);
    assert.deepEqual(await filtered("search.ismatch('breakfast', 'tags')"), ["4"]);
  });

  await scenario("order", async () => {
    assert.deepEqual(await keys("*", { orderBy: ["rating desc", "hotelName"] }), ["1", "3", "4", "2", "5"]);
    assert.deepEqual(await keys("*", { orderBy: ["lastRenovationDate"], filter: "rating ne null" }), [
      "4",
      "2",
      "3",
      "1",
    ]);
    const near = ["geo.distance(location, geography'POINT(-73.97 40.76)')"];
    assert.deepEqual(await keys("*", { orderBy: near, filter: "rating ne null" }), ["4", "2", "1", "3"]);
    assert.deepEqual(await keys("*", { orderBy: ["address/city"], filter: "rating ne null" }), ["2", "4", "3", "1"]);
  });

  await scenario("select", async () => {
    const { results } = await client.search("roach", { select: ["hotelName", "rooms/baseRate"] });
    const [{ document }] = await collect(results);
    assert.deepEqual(plain(quirks, document), { hotelName: "Roach Motel", rooms: [{ baseRate: 39 }] });
  });

  await scenario("count and page with top and skip", async () => {
    const options = { orderBy: ["hotelId"], top: 2, skip: 1 };
    const response = await client.search("*", { ...options, includeTotalCount: true });
    assert.equal(response.count, 5);
    assert.deepEqual(await found(response), ["2", "3"]);
    assert.equal((await client.search("*", options)).count, undefined);
    const covered = await client.search("*", { minimumCoverage: 80 });
    assert.equal(covered.coverage, 100);
  });

  await scenario("facets", async () => {
    const { facets } = await client.search("*", {
      top: 0,
      facets: [
        "category,count:2,sort:count",
        "tags,sort:value",
        "rating,values:2|4",
        "rooms/baseRate,interval:100",
        "lastRenovationDate,interval:year",
      ],
    });
    const of = (name) => facets[name].map(({ value, from, to, count }) => [value ?? [from, to], count]);
    assert.deepEqual(of("category").sort(), [
      ["Budget", 2],
      ["Luxury", 2],
    ]);
    assert.deepEqual(of("tags"), [
      ["breakfast", 1],
      ["budget", 2],
      ["motel", 1],
      ["pool", 2],
      ["view", 1],
      ["wifi", 2],
    ]);
    assert.deepEqual(of("rating"), [
      [[undefined, 2], 1],
      [[2, 4], 1],
      [[4, undefined], 2],
    ]);
    assert.deepEqual(of("rooms/baseRate"), [
      [0, 1],
      [100, 2],
      [300, 1],
    ]);
    assert.deepEqual(
      of("lastRenovationDate").map(([value, count]) => [new Date(value).getUTCFullYear(), count]),
      [
        [1982, 1],
        [1995, 1],
        [2010, 1],
      ],
    );
  });

  await scenario("highlights", async () => {
    const { results } = await client.search("hotels pool", {
      highlightFields: "description,tags",
      highlightPreTag: "<b>",
      highlightPostTag: "</b>",
    });
    const [first] = (await collect(results)).filter((result) => result.document.hotelId === "1");
    assert.match(first.highlights.description.join(" "), /<b>hotels<\/b>/);
    assert.match(first.highlights.description.join(" "), /<b>pool<\/b>/);
    assert.deepEqual(first.highlights.tags, ["<b>pool</b>"]);
    assert.equal(first.document.description.includes("<b>"), false);
  });

  await scenario("scoring profiles", async () => {
    const fancy = await keys("fancy main street breakfast");
    assert.deepEqual(fancy, ["4", "1"]);
    assert.deepEqual(
      await keys("fancy main street breakfast", { scoringProfile: "byName", searchFields: ["hotelName"] }),
      ["1"],
    );
    const near = { scoringProfile: "near", scoringParameters: ["here--73.975403,40.760586"] };
    assert.equal((await keys("pool", near))[0], "4");
    near.scoringParameters = ["here--122.13,47.67"];
    assert.equal((await keys("pool", near))[0], "1");
  });
}
