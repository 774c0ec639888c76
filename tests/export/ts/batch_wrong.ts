/** Each marked line must be an error, or this file is one. */
import { ask, createClient } from "./gateway.js";

const client = createClient({ url: "" });

export async function wrong(): Promise<void> {
  // @ts-expect-error no such act
  ask("book", "buy", { get: {} });
  // @ts-expect-error set is needed
  ask("book", "add", { get: {} });
  // @ts-expect-error a value of another type
  ask("book", "add", { set: { title: 1 }, get: {} });
  // @ts-expect-error a name that set does not take
  ask("book", "add", { set: { title: "A", more: 1 }, get: {} });
  // @ts-expect-error a name that get does not take
  ask("book", "list", { get: { nope: 1 } });
  // @ts-expect-error no such service
  ask("book", "list", { get: {} }, { service: "none" });
  // @ts-expect-error a request that was not checked
  await client.batch([{ model: "book", act: "ping", details: { get: {} } }]);
  // @ts-expect-error atomic is a boolean
  await client.batch([ask("book", "ping", { get: {} })], { atomic: "yes" });
  const [added, missing] = await client.batch([
    ask("book", "add", { set: { title: "A" }, get: { title: 1 } }),
    ask("book", "list", { get: { title: 1 } }),
  ]);
  // @ts-expect-error it may have failed
  added.body.title;
  // @ts-expect-error a list
  if (missing.success) missing.body.title;
  // @ts-expect-error a field that was not asked for
  if (added.success) added.body.n;
  // @ts-expect-error two replies only
  const [, , third] = await client.batch([ask("book", "ping", { get: {} }), ask("book", "ping", { get: {} })]);
}
