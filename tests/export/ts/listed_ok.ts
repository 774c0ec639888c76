import { createClient, type BodyOf, type PagedActOf, type SetOf } from "./gateway.js";
import type { Assert, Equal, Same } from "./shape.js";

const client = createClient({ url: "" });

export type Books = Assert<Equal<PagedActOf<"main", "book">, "list" | "stuck">>;
export type Authors = Assert<Equal<PagedActOf<"main", "author">, "list">>;
type Filter = NonNullable<SetOf<"main", "book", "list">["filter"]>;
export type Year = Assert<Equal<
  Filter["year"],
  | number
  | null
  | {
      eq?: number | null;
      ne?: number | null;
      gte?: number;
      lt?: number;
      in?: readonly (number | null)[];
      exists?: boolean;
    }
  | undefined
>>;
export type Title = Assert<Equal<Filter["title"], { prefix?: string; contains?: string } | undefined>>;
export type Sort = Assert<Equal<SetOf<"main", "book", "list">["sort"], "title" | "-title" | "year" | "-year" | undefined>>;

export async function right(): Promise<unknown> {
  const given: SetOf<"main", "book", "list"> = {
    filter: {
      title: { prefix: "B", contains: "oo" },
      year: { gte: 2000, in: [2001, null] },
      price: { lte: "12.50" },
      out: "2026-11-22",
      state: { nin: ["lent", null] },
      tags: { in: ["new"] },
      author: "0".repeat(24),
      "author.name": { eq: null, prefix: "A" },
    },
    sort: "-year",
    limit: 2,
    after: "x",
  };
  const page = await client.call("book", "list", { set: given, get: { title: 1, author: { name: 1 } } });
  type Row = { _id: string; title: string; author: { name: string } };
  type Page = { rows: Row[]; next: string | null; total?: number | { atLeast: number } };
  for await (const each of client.pages("book", "list", { set: { filter: { year: null } }, get: { title: 1, author: { name: 1 } } })) {
    each satisfies Same<typeof each, Page>;
  }
  for await (const { rows, total } of client.pages("author", "list", { get: { name: 1 } }, { service: "main", headers: {} })) {
    const counted: number | undefined = total;
    const names: string[] = rows.map((row) => row.name);
    void [counted, names];
  }
  const body: BodyOf<"main", "book", "list", { title: 1; author: { name: 1 } }> = page;
  return page satisfies Same<typeof page, Page> && body;
}
