/** A log-in, a protected act, an error; things with fields of every kind: as they are sent, they are shown; a batch. */
import { client } from "./awkward/client.gen";
import { batch, keeperLogin, keeperMe, thingAddAssert, thingList } from "./awkward/index";
import type { ThingAddAssertData } from "./awkward/index";
import { equal } from "./equal";
import documents from "./things.json";

declare const process: { argv: string[] };
client.setConfig({ baseUrl: process.argv[2]! });
type Body = ThingAddAssertData["body"];

const login = (password: string) =>
  keeperLogin({ body: { model: "keeper", act: "login", details: { set: { password }, get: {} } } });
const me = { model: "keeper", act: "me", details: { set: {}, get: {} } } as const;
equal((await keeperMe({ body: me })).response?.status, 401);
client.setConfig({ auth: (await login("secret words")).data!.body.token });
equal((await keeperMe({ body: me })).data?.body.name, "Ann");
const refused = await login("wrong");
equal([refused.response?.status, refused.error?.body.message], [401, "wrong password"]);

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

const { data } = await batch({ body: { batch: [list, me], atomic: true } });
equal(data!.body.map((item) => item.status), [200, 200]);
