/** A log-in, a protected act, two pages of a listing, an error and a batch. */
import createClient from "openapi-fetch";
import { equal } from "./equal";
import type { paths } from "./sample";

declare const process: { argv: string[] };
const client = createClient<paths>({ baseUrl: process.argv[2]! });
const login = (password: string) => {
  const details = { set: { email: "manager@example.com", password }, get: { token: 1 } } as const;
  return client.POST("/gateway#user.login", { body: { model: "user", act: "login", details } });
};
const token = (await login("demo-manager")).data!.body.token!;
const headers = { token };

const get = { email: 1, roles: 1 } as const;
const me = await client.POST("/gateway#user.getMe", { headers, body: { model: "user", act: "getMe", details: { set: {}, get } } });
equal([me.data?.success, me.data?.body?.email], [true, "manager@example.com"]);

const page = async (after?: string) => {
  const details = { set: { limit: 4, ...(after === undefined ? {} : { after }) }, get: { first_name: 1 } } as const;
  const { data } = await client.POST("/gateway#user.getUsers", { headers, body: { model: "user", act: "getUsers", details } });
  return data!.body;
};
const first = await page();
const second = await page(first.next!);
equal([first.rows.length, second.rows.length, second.next], [4, 2, null]);

const refused = await login("wrong");
equal([refused.response.status, refused.error?.body.message], [401, "wrong e-mail or password"]);

const ask = { model: "user", act: "getMe", details: { set: {}, get: { email: 1 } } } as const;
const two = await client.POST("/gateway#batch", { headers, body: { batch: [ask, ask], atomic: true } });
equal(two.data!.body.map((item) => [item.success, item.status]), [[true, 200], [true, 200]]);
