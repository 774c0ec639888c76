import { createClient, GatewayError } from "./gateway.js";
import { equal } from "./shape.js";

declare const process: { argv: string[] };
declare const console: { log(text: string): void };

const client = createClient({ url: `${process.argv[2]!}/gateway/` });
const first = await client.call("thing", "add", { set: { n: 1 }, get: {} }, { retries: 3 });
equal(first, 2); // the first try failed
const second = await client.call("thing", "add", { set: { n: 2 }, get: {} }, { key: "own" });
const reply = await client.send({ model: "thing", act: "add", details: { set: { n: 2 }, get: {} } }, { key: "own" });
equal(reply.success && [reply.body, reply.status, reply.headers.get("Idempotent-Replay")], [second, 201, "1"]);
equal(reply.success && reply.headers.get("Location"), "/things/2");

const other = await client.send({ model: "thing", act: "add", details: { set: { n: 3 }, get: {} } }, { key: "own" });
equal(!other.success && [other.status, other.body.code], [422, "key_reused"]);
const lost = createClient({ url: "http://127.0.0.1:1" });
const failure = await lost.call("thing", "add", { set: { n: 1 }, get: {} }, { retries: 1 }).catch((error) => error);
equal(failure instanceof GatewayError && failure.code, "no_reply");
console.log("once");
