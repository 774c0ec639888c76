/** Keys and retries of idempotent acts, statuses and headers: all of this must compile. */
import { createClient, type Reply, type RepeatOptions } from "./gateway.js";

const client = createClient({ url: "" });

export async function right(): Promise<void> {
  const again: RepeatOptions = { retries: 3 };
  const added: number = await client.call("thing", "add", { set: { n: 1 }, get: {} }, again);
  await client.call("thing", "add", { set: { n: 1 }, get: {} }, { key: "order 17", headers: {}, service: "main" });
  await client.call("thing", "plain", { get: {} }, { headers: {} });
  await client.call("any", "act", { set: {}, get: {} }, { service: "far", retries: 1 });
  const request = { model: "thing", act: "add", details: { set: { n: 1 }, get: {} } } as const;
  const reply: Reply<number> = await client.send(request, { retries: 2 });
  if (reply.success) {
    const told: string | null = reply.headers.get("Idempotent-Replay");
    const status: number = reply.status;
    console.log(added, told, status);
  }
}

declare const console: { log(...values: unknown[]): void };
