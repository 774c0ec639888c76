/** Each marked line must be an error, or this file is one. */
import { createClient } from "./gateway.js";

const client = createClient({ url: "" });

export async function wrong(): Promise<void> {
  // @ts-expect-error this act takes no key
  await client.call("thing", "plain", { get: {} }, { retries: 3 });
  // @ts-expect-error nor here
  await client.send({ model: "thing", act: "plain", details: { get: {} } }, { key: "k" });
  // @ts-expect-error a key is text
  await client.call("thing", "add", { set: { n: 1 }, get: {} }, { key: 17 });
  const reply = await client.send({ model: "thing", act: "plain", details: { get: {} } });
  // @ts-expect-error a failure has none
  reply.headers.get("Location");
}
