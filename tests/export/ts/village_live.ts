import { createClient, GatewayError } from "./gateway.js";
import { count, equal, row } from "./shape.js";

declare const process: { argv: string[] };
declare const console: { log(text: string): void };
declare const AbortSignal: { abort(): unknown };

const url = process.argv[2]!;
const told: string[] = [];
const client = createClient({ url, onError: (error) => void told.push(error.code) });
const ask = client.call;

const person = { _id: 1, name: 1, "age?": 1, "tags?": [1], born: 1, "extra?": 1, "address?": { street: 1, "number?": 1 } } as const;
const { "age?": age, "extra?": extra, ...native } = person;

row(await ask("person", "all", { get: {} }), [{ _id: 1 }]);
row(await ask("person", "all", { get: { _id: 0 } }), [{}]);
row(await ask("person", "all", { get: { _id: 1, name: 1, age: 0 } }), [{ _id: 1, name: 1 }]);
row(await ask("person", "all", { get: { home: 1, boss: 1, visited: 1 } }), [
  { _id: 1, home: { _id: 1, name: 1, size: 1 }, "boss?": person, visited: [{ _id: 1, name: 1 }] },
]);
row(await ask("person", "all", { get: { home: {}, boss: { _id: 0 }, visited: { _id: 1 }, team: { name: 0 } } }), [
  { _id: 1, home: { _id: 1 }, "boss?": {}, visited: [{ _id: 1 }], team: [{ _id: 1 }] },
]);
row(await ask("person", "all", { get: { _id: 0, home: { country: {} }, boss: { team: { _id: 0, home: 1 } } } }), [
  { home: { country: { _id: 1 } }, "boss?": { team: [{ home: { _id: 1, name: 1, size: 1 } }] } },
]);
row(await ask("person", "all", { get: { home: { natives: 1, country: { cities: 1, flag: 1 } } } }), [
  { _id: 1, home: { natives: [native], country: { "flag?": 1, cities: [{ _id: 1, name: 1 }] } } },
]);
row(await ask("person", "all", { get: { home: { natives: { boss: { favourite: 1, name: 1 } } } } }), [
  { _id: 1, home: { natives: [{ "boss?": { name: 1, "favourite?": native } }] } },
]);
row(await ask("person", "all", { get: { visited: { cities: { country: 1 } } } }), [
  { _id: 1, visited: [{ cities: [{ country: { _id: 1, name: 1 } }] }] },
]);
row(await ask("person", "some", { get: { home: { country: 1 }, boss: 1 } }), [
  { _id: 1, home: { country: { _id: 1, name: 1, "flag?": 1 } }, "boss?": person },
]);
row(await ask("person", "first", { get: { address: 1, extra: 1, tags: 1 } }), {
  _id: 1,
  "address?": person["address?"],
  "extra?": 1,
  "tags?": [1],
});
row(await ask("person", "page", { get: { name: 1 } }), { rows: [{ _id: 1, name: 1 }], total: 1, "next?": 1 });
row(await ask("person", "summary", { get: {} }), { at: 1 });
row(await ask("person", "summary", { get: { count: 0, oldest: { boss: {} } } }), {
  at: 1,
  oldest: { _id: 1, "boss?": { _id: 1 } },
});
equal(await ask("person", "nobody", { get: {} }), null);
equal(await ask("person", "count", { get: {} }), 2);
equal(await ask("city", "count", { get: {} }, { service: "near" }), 1);
const set = { colour: true, matrix: [[1.5], []], who: { email: "a@example.com" }, any: { a: [null] } } as const;
equal(await ask("person", "kinds", { set, get: {} }), { ...set, size: 1 });

// What fails, and how that is told.
const refused = await client.send({ model: "person", act: "kinds", details: { set: { ...set, size: 0.5 }, get: {} } });
if (refused.success) throw new Error("not refused");
equal([refused.status, refused.body.code, refused.body.errors], [400, "validation_error", { "set.size": ["Not a valid integer."] }]);
equal(typeof refused.body.requestId, "string");
equal(told.splice(0), ["validation_error"]);

async function thrown(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(() => null, (reason: unknown) => reason);
  if (!(error instanceof GatewayError && error instanceof Error)) throw new Error("no GatewayError");
  return error;
}
const error = await thrown(ask("person", "kinds", { set: { ...set, size: 0.5 }, get: {} }));
equal([error.name, error.status, error.code, error.errors], ["GatewayError", 400, "validation_error", refused.body.errors]);
equal([error.message, error.reply.body.message], [refused.body.message, refused.body.message]);
const elsewhere = await thrown(ask("a", "b", { set: {}, get: {} }, { service: "far" }));
equal([elsewhere.status >= 500, elsewhere.code], [true, told.pop()]);
const aborted = await thrown(ask("person", "count", { get: {} }, { signal: AbortSignal.abort() }));
equal([aborted.status, aborted.code, (aborted.cause as Error).name], [0, "no_reply", "AbortError"]);
const odd = (text: string, status = 502) =>
  createClient({ url: "", fetch: async () => ({ status, text: async () => text }) });
equal((await thrown(odd("<html>").call("person", "count", { get: {} }))).code, "no_envelope");
for (const text of ["null", "[]", "{}", '{"success": 1}']) {
  const { message, code, status } = await thrown(odd(text, 200).call("person", "count", { get: {} }));
  equal([message, code, status], ["the reply is no envelope", "no_envelope", 200]);
}

// What is sent.
const seen: { url: string; headers: unknown; body: unknown }[] = [];
const fetch = async (url: string, init: { headers: unknown; body: string }) => {
  seen.push({ url, headers: init.headers, body: JSON.parse(init.body) });
  return { status: 200, text: async () => '{"success": true, "body": 7}' };
};
const other = createClient({ url: "https://a.example/api//", token: "one", headers: { "Accept-Language": "nb" }, fetch });
await other.call("person", "count", { get: {} });
other.token = null;
other.headers["X-Request-Id"] = "1";
await other.call("city", "count", { set: {}, get: {} }, { service: "near", headers: { token: "two" } });
const always = { "Content-Type": "application/json", "X-Gateway-Detail": "1", "Accept-Language": "nb" };
equal(seen, [
  {
    url: "https://a.example/api/gateway",
    headers: { ...always, token: "one" },
    body: { model: "person", act: "count", details: { set: {}, get: {} } },
  },
  {
    url: "https://a.example/api/gateway",
    headers: { ...always, "X-Request-Id": "1", token: "two" },
    body: { service: "near", model: "city", act: "count", details: { set: {}, get: {} } },
  },
]);
console.log(`${count()} rows`);
