// scenario runs body and prints whether it threw. The error is on stderr;
// the scenarios after it run all the same.
export async function scenario(name, body) {
  try {
    await body();
    console.log(`passed ${name}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`failed ${name}`);
    console.error(`${name}:`, error);
  }
}

// collect returns an array of the values of an asynchronous iterator.
export async function collect(iterator) {
  const all = [];
  for await (const one of iterator) {
    all.push(one);
  }
  return all;
}

// found is the keys of the results of a search, in their order.
export async function found(response) {
  return (await collect(response.results)).map((result) => result.document.hotelId);
}
