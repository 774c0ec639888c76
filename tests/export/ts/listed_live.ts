import { createClient, GatewayError } from "./gateway.js";
import { equal } from "./shape.js";

declare const process: { argv: string[] };
declare const console: { log(text: string): void };

const sent: object[] = [];
const fetch = (url: string, init: { body: string }) => {
  sent.push(JSON.parse(init.body).details.set);
  return globalThis.fetch(url, init as never);
};
declare const globalThis: { fetch(url: string, init: never): Promise<{ status: number; text(): Promise<string> }> };
const client = createClient({ url: process.argv[2]!, fetch });

const titles: string[][] = [];
const totals: unknown[] = [];
const given = { filter: { year: { gte: 2000 } }, sort: "-title", limit: 3 } as const;
for await (const page of client.pages("book", "list", { set: given, get: { title: 1 } })) {
  titles.push(page.rows.map((row) => row.title.slice(-1)));
  totals.push(page.total);
}
equal(titles, [["6", "5", "4"], ["3", "2", "1"], ["0"]]);
equal(totals, [{ atLeast: 5 }, undefined, undefined]);
equal(sent.length, 3);
for (const set of sent) equal({ ...set, after: 1 }, { ...given, after: 1 });

// From the middle on, and no further than is asked for.
const first = await client.call("book", "list", { get: { title: 1 } });
sent.splice(0);
for await (const { rows } of client.pages("book", "list", { set: { after: first.next! }, get: { title: 1 } })) {
  equal(rows.map((row) => row.title.slice(-1)), ["3", "4", "5"]);
  break;
}
equal(sent, [{ after: first.next }]);

// What does not go on, and what is refused.
async function refused(pages: AsyncIterable<unknown>): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const _ of pages) found.push("page");
  } catch (error) {
    found.push(error instanceof GatewayError ? error.code : String(error));
  }
  return found;
}
equal(await refused(client.pages("book", "stuck", { get: {} })), ["page", "no_progress"]);
equal(await refused(client.pages("book", "list", { set: { after: "x" }, get: {} })), ["validation_error"]);
const replies = ["a", "b", "a"].map((next) => JSON.stringify({ success: true, body: { rows: [], next } }));
const circle = createClient({ url: "", fetch: async () => ({ status: 200, text: async () => replies.shift()! }) });
equal(await refused(circle.pages("book", "list", { get: {} })), ["page", "page", "no_progress"]);
const odd = createClient({ url: "", fetch: async () => ({ status: 200, text: async () => '{"success": true, "body": []}' }) });
equal(await refused(odd.pages("book", "list", { get: {} })), ["no_progress"]);
console.log("read");
