/** Things with fields of every kind are taken, listed in two pages, and asked for in a batch. */
import createClient from "openapi-fetch";
import documents from "./documents.json";
import { equal } from "./equal";
import type { components, paths } from "./made";

declare const process: { argv: string[] };
const client = createClient<paths>({ baseUrl: process.argv[2]! });
for (const set of documents as unknown as components["schemas"]["main-thing-add_assert-set"][]) {
  const get = Object.fromEntries(Object.keys(set).map((name) => [name, 1 as const]));
  const body = { model: "thing", act: "add_assert", details: { set, get } } as const;
  const { data } = await client.POST("/gateway#thing.add_assert", { body });
  const { _id, ...again } = data!.body;
  equal(Object.keys(again).length, Object.keys(set).length);
}
const list = { model: "thing", act: "list", details: { set: { limit: 2 }, get: { enums: 1 } } } as const;
const first = (await client.POST("/gateway#thing.list", { body: list })).data!.body;
const next = { ...list, details: { ...list.details, set: { limit: 2, after: first.next! } } };
const second = (await client.POST("/gateway#thing.list", { body: next })).data!.body;
equal([first.rows.length, second.rows.length, second.next], [2, 1, null]);

const { data } = await client.POST("/gateway#batch", { body: { batch: [list], atomic: true } });
equal(data!.body[0]!.status, 200);
