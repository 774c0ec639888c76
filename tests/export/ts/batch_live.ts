/** What the client makes of the replies of a gateway. */
import { ask, createClient, GatewayError } from "./gateway.js";
import { equal } from "./shape.js";

declare const process: { argv: string[] };
declare const console: { log(text: string): void };

const failures: string[] = [];
const client = createClient({ url: process.argv[2]!, onError: ({ code }) => void failures.push(code) });
const add = (title: string) => ask("book", "add", { set: { title }, get: { _id: 0, title: 1 } });
const fail = ask("book", "addAndFail", { set: { title: "x" }, get: {} });

const [added, failed, listed] = await client.batch([add("a"), fail, ask("book", "list", { get: { _id: 0, title: 1 } })]);
equal(added, { body: { title: "a" }, success: true, status: 200 });
equal(listed, { body: [{ title: "a" }, { title: "x" }], success: true, status: 200 });
equal([failed.success, failed.status, !failed.success && failed.body.code], [false, 409, "sold_out"]);
equal(!failed.success && failed.body.requestId?.endsWith(".1"), true);

const undone = await client.batch([add("b"), fail], { atomic: true });
equal(undone.map((item) => !item.success && item.body.code), ["not_done", "sold_out"]);

const limited = ask("book", "limited", { get: {} });
const [, , , last] = await client.batch([limited, limited, limited, limited]);
equal(!last.success && typeof last.retryAfter, "number");

try {
  await client.batch(Array.from({ length: 21 }, () => add("c")));
  throw new Error("it was not refused");
} catch (error) {
  equal(error instanceof GatewayError && [error.status, error.message], [400, "batch: at most 20 requests"]);
}
equal(failures, ["sold_out", "not_done", "sold_out", "rate_limited", "bad_request"]);
console.log("ok");
