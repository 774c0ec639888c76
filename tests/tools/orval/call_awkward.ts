/** A log-in, a protected act, an error; things of every kind are taken, listed in two pages; a batch. */
import { batch, keeperLogin, keeperMe, thingAddAssert, thingList } from "./awkward";
import { equal } from "./equal";
import documents from "./things.json";

type Body = Parameters<typeof thingAddAssert>[0];

const login = (password: string) => keeperLogin({ model: "keeper", act: "login", details: { set: { password }, get: {} } });
const ask = { model: "keeper", act: "me", details: { set: {}, get: {} } } as const;
equal((await keeperMe(ask)).status, 401);
const known = await login("secret words");
if (known.status !== 200) throw new Error(known.data.body.message);
const options = { headers: { token: known.data.body.token } };
const me = await keeperMe(ask, options);
equal(me.status === 200 && me.data.body.name, "Ann");
const refused = await login("wrong");
equal([refused.status, refused.status !== 200 && refused.data.body.message], [401, "wrong password"]);

for (const set of documents as unknown as Body["details"]["set"][]) {
  const get = Object.fromEntries(Object.keys(set).map((name) => [name, 1 as const]));
  const reply = await thingAddAssert({ model: "thing", act: "add_assert", details: { set, get } });
  if (reply.status !== 200) throw new Error(reply.data.body.message);
  const { _id, ...again } = reply.data.body;
  equal(Object.keys(again).length, Object.keys(set).length);
}
const page = async (after?: string) => {
  const set = { limit: 2, ...(after === undefined ? {} : { after }) };
  const reply = await thingList({ model: "thing", act: "list", details: { set, get: { enums: 1 } } });
  if (reply.status !== 200) throw new Error(reply.data.body.message);
  return reply.data.body;
};
const first = await page();
const second = await page(first.next!);
equal([first.rows.length, second.rows.length, second.next], [2, 1, null]);

const list = { model: "thing", act: "list", details: { set: { limit: 2 }, get: { enums: 1 } } } as const;
const two = await batch({ batch: [list, ask], atomic: true }, options);
equal(two.status === 200 && two.data.body.map((item) => item.status), [200, 200]);
