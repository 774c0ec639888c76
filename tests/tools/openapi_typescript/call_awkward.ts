/** A log-in, a protected act, an error; things of every kind are taken, listed in two pages; a batch. */
import createClient from "openapi-fetch";
import type { components, paths } from "./awkward";
import { equal } from "./equal";
import documents from "./things.json";

declare const process: { argv: string[] };
const client = createClient<paths>({ baseUrl: process.argv[2]! });
const login = (password: string) =>
  client.POST("/gateway#keeper.login", { body: { model: "keeper", act: "login", details: { set: { password }, get: {} } } });
const ask = { model: "keeper", act: "me", details: { set: {}, get: {} } } as const;
equal((await client.POST("/gateway#keeper.me", { body: ask })).response.status, 401);
const headers = { token: (await login("secret words")).data!.body.token };
equal((await client.POST("/gateway#keeper.me", { headers, body: ask })).data?.body.name, "Ann");
const refused = await login("wrong");
equal([refused.response.status, refused.error?.body.message], [401, "wrong password"]);

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

const { data } = await client.POST("/gateway#batch", { headers, body: { batch: [list, ask], atomic: true } });
equal(data!.body.map((item) => item.status), [200, 200]);
