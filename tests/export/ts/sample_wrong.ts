/** Each marked line must be an error, or this file is one. */
import { createClient } from "./gateway.js";

const client = createClient({ url: "" });
const nina = { first_name: "Nina", last_name: "New", email: "nina@example.com", password: "a long password" };

export async function wrong(): Promise<void> {
  const { rows: users } = await client.call("user", "getUsers", { get: { first_name: 1, organizations: { name: 1 }, avatar: 1 } });
  // @ts-expect-error not asked for
  users[0]?.last_name;
  // @ts-expect-error not asked for in the copy
  users[0]?.organizations[0]?._id;
  // @ts-expect-error it may be absent
  users[0]?.avatar.name;
  const login = await client.call("user", "login", { set: nina, get: { token: 1 } });
  // @ts-expect-error not asked for
  login.roles;

  // @ts-expect-error no such field
  await client.call("user", "getUsers", { get: { first_name: 1, surname: 1 } });
  // @ts-expect-error no such field in a copy
  await client.call("user", "getUsers", { get: { organizations: { name: 1, users: 1 } } });
  // @ts-expect-error a password is never shown
  await client.call("user", "getUsers", { get: { first_name: 1, password: 1 } });
  // @ts-expect-error the copies of users do not show roles
  await client.call("unit", "getUnits", { get: { members: { email: 1, roles: 1 } } });
  // @ts-expect-error the e-mail is missing
  await client.call("user", "addUser", { set: { ...nina, email: undefined }, get: {} });
  // @ts-expect-error set is missing
  await client.call("user", "addUser", { get: {} });
  // @ts-expect-error no such feature
  await client.call("user", "addUser", { set: { ...nina, features: [{ feature: "none" }] }, get: {} });
  // @ts-expect-error relations are changed by another act
  await client.call("user", "updateUser", { set: { _id: "", units: [] }, get: {} });
  // @ts-expect-error no such act
  await client.call("user", "addUsers", { set: nina, get: {} });
}
