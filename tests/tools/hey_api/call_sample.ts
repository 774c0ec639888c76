/** A log-in, a protected act, two pages of a listing, an error and a batch. */
import { client } from "./sample/client.gen";
import { batch, userGetMe, userGetUsers, userLogin } from "./sample/index";
import { equal } from "./equal";

declare const process: { argv: string[] };
client.setConfig({ baseUrl: process.argv[2]! });

const login = (password: string) =>
  userLogin({
    body: { model: "user", act: "login", details: { set: { email: "manager@example.com", password }, get: { token: 1 } } },
  });
const { data } = await login("demo-manager");
const token = data!.body.token!;
client.setConfig({ auth: token });

const me = await userGetMe({ body: { model: "user", act: "getMe", details: { set: {}, get: { email: 1, roles: 1 } } } });
equal([me.data?.success, me.data?.body?.email], [true, "manager@example.com"]);

const page = (after?: string) => {
  const set = { limit: 4, sort: "last_name" as const, ...(after === undefined ? {} : { after }) };
  return userGetUsers({ body: { model: "user", act: "getUsers", details: { set, get: { first_name: 1 } } } });
};
const first = (await page()).data!.body;
const second = (await page(first.next!)).data!.body;
equal([first.rows.length, second.rows.length, second.next], [4, 2, null]);

const refused = await login("wrong");
equal([refused.response?.status, refused.error?.body.message], [401, "wrong e-mail or password"]);

const ask = { model: "user", act: "getMe", details: { set: {}, get: { email: 1 } } } as const;
const two = await batch({ body: { batch: [ask, { ...ask, details: { set: {}, get: { roles: 1 } } }] } });
equal(two.data!.body.map((item) => [item.success, item.status]), [[true, 200], [true, 200]]);
