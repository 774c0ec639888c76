/** A log-in, a protected act, two pages of a listing, an error and a batch. */
import { equal } from "./equal";
import { batch, userGetMe, userGetUsers, userLogin } from "./sample";

const login = (password: string) => {
  const details = { set: { email: "manager@example.com", password }, get: { token: 1 } } as const;
  return userLogin({ model: "user", act: "login", details });
};
const known = await login("demo-manager");
if (known.status !== 200) throw new Error(known.data.body.message);
const options = { headers: { token: known.data.body.token! } };

const me = await userGetMe({ model: "user", act: "getMe", details: { set: {}, get: { email: 1 } } }, options);
equal(me.status === 200 && me.data.body?.email, "manager@example.com");

const page = async (after?: string) => {
  const set = { limit: 4, ...(after === undefined ? {} : { after }) };
  const reply = await userGetUsers({ model: "user", act: "getUsers", details: { set, get: { first_name: 1 } } }, options);
  if (reply.status !== 200) throw new Error(reply.data.body.message);
  return reply.data.body;
};
const first = await page();
const second = await page(first.next!);
equal([first.rows.length, second.rows.length, second.next], [4, 2, null]);

const refused = await login("wrong");
equal([refused.status, refused.status !== 200 && refused.data.body.message], [401, "wrong e-mail or password"]);

const ask = { model: "user", act: "getMe", details: { set: {}, get: { email: 1 } } } as const;
const two = await batch({ batch: [ask, ask], atomic: true }, options);
equal(two.status === 200 && two.data.body.map((item) => item.status), [200, 200]);
