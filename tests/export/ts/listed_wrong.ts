/** Each marked line must be an error, or this file is one. */
import { createClient } from "./gateway.js";

const client = createClient({ url: "" });
const get = { title: 1 } as const;

export async function wrong(): Promise<void> {
  // @ts-expect-error a field that no filter is declared for
  await client.call("book", "list", { set: { filter: { pages: 5 } }, get });
  // @ts-expect-error an operator that is not declared
  await client.call("book", "list", { set: { filter: { year: { gt: 5 } } }, get });
  // @ts-expect-error an operator that is not declared beside one that is
  await client.call("book", "list", { set: { filter: { year: { gte: 5, lte: 5 } } }, get });
  // @ts-expect-error a value where eq is not declared
  await client.call("book", "list", { set: { filter: { title: "B" } }, get });
  // @ts-expect-error a value of another type
  await client.call("book", "list", { set: { filter: { year: "2000" } }, get });
  // @ts-expect-error null in a range
  await client.call("book", "list", { set: { filter: { year: { gte: null } } }, get });
  // @ts-expect-error no choice
  await client.call("book", "list", { set: { filter: { state: "lost" } }, get });
  // @ts-expect-error no list
  await client.call("book", "list", { set: { filter: { tags: { in: "new" } } }, get });
  // @ts-expect-error presence is a boolean
  await client.call("book", "list", { set: { filter: { year: { exists: 1 } } }, get });
  // @ts-expect-error a sort that is not declared
  await client.call("book", "list", { set: { sort: "price" }, get });
  // @ts-expect-error a listing without filters
  await client.call("author", "list", { set: { filter: {} }, get: {} });

  // @ts-expect-error a filter that is not declared, by page
  client.pages("book", "list", { set: { filter: { pages: 5 } }, get });
  // @ts-expect-error a field that the model does not have
  client.pages("book", "list", { get: { pages: 1 } });
  // @ts-expect-error after is a number
  client.pages("book", "numbered", { get });
  // @ts-expect-error after is needed
  client.pages("book", "needed", { set: { after: "x" }, get });
  // @ts-expect-error the result has no next
  client.pages("book", "endless", { get });
  // @ts-expect-error the result is a list
  client.pages("book", "unnamed", { get });
  // @ts-expect-error set has no after
  client.pages("book", "whole", { get });
  for await (const page of client.pages("book", "list", { get })) {
    // @ts-expect-error a field that was not asked for
    page.rows[0]?.year;
    // @ts-expect-error the last page has null
    page.next.length;
    // @ts-expect-error later pages have no total
    page.total.toFixed();
  }
}
