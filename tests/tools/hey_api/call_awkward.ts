/** Things with fields of every kind: as they are sent, they are shown. */
import documents from "./documents.json";
import { equal } from "./equal";
import { batch, thingAddAssert, thingList } from "./made";
import { client } from "./made/client.gen";
import type { ThingAddAssertData } from "./made";

declare const process: { argv: string[] };
client.setConfig({ baseUrl: process.argv[2]! });
type Body = ThingAddAssertData["body"];

for (const set of documents as unknown as Body["details"]["set"][]) {
  const get = Object.fromEntries(Object.keys(set).map((name) => [name, 1 as const]));
  const body: Body = { model: "thing", act: "add_assert", details: { set, get } };
  const added = (await thingAddAssert({ body })).data!.body;
  const { _id, ...again } = added;
  equal(Object.keys(again).length, Object.keys(set).length);
}
const list = { model: "thing", act: "list", details: { set: { limit: 2 }, get: { enums: 1 } } } as const;
const first = (await thingList({ body: list })).data!.body;
const set = { ...list.details.set, after: first.next! };
const second = (await thingList({ body: { ...list, details: { ...list.details, set } } })).data!.body;
equal([first.rows.length, second.rows.length, second.next], [2, 1, null]);

const { data } = await batch({ body: { batch: [list], atomic: true } });
equal(data!.body[0]!.status, 200);
