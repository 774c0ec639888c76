/** Right programs: each reply of a batch has the type that its request gives it. */
import { ask, createClient, maxBatch, type Item } from "./gateway.js";
import type { Assert, Equal } from "./shape.js";

const client = createClient({ url: "" });

export async function right(): Promise<unknown> {
  const [added, books, far] = await client.batch(
    [
      ask("book", "add", { set: { title: "A" }, get: { title: 1 } }),
      ask("book", "list", { get: { _id: 0, title: 1, author: { name: 1 } } }),
      ask("any", "any", { set: {}, get: {} }, { service: "far" }),
    ],
    { atomic: true, headers: { "X-A": "b" } },
  );
  type _Added = Assert<Equal<typeof added, Item<{ _id: string; title: string }>>>;
  type _Far = Assert<Equal<typeof far, Item<unknown>>>;
  const titles: string[] = added.success ? [added.body.title] : [added.body.message, added.body.code];
  if (books.success) titles.push(...books.body.map((book) => `${book.title} ${book.author?.name}`));
  else titles.push(`${books.status} ${books.retryAfter}`);

  const many = titles.slice(0, maxBatch).map((title) => ask("book", "add", { set: { title }, get: { title: 1 } }));
  const replies = await client.batch(many);
  return [titles, far, replies.map((reply) => reply.success && reply.body.title)];
}
