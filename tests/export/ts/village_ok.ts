import { createClient, type BodyOf, type Get, type GetOf, type Json, type Result, type SetOf } from "./gateway.js";
import type { Assert, Equal, Same } from "./shape.js";

const client = createClient({ url: "" });
declare const flag: 0 | 1;

type Boss = { name: string; boss?: { _id: string } };

export async function results(): Promise<unknown[]> {
  const all = await client.call("person", "all", {
    get: { name: 1, age: 1, tags: 0, home: { name: 1, natives: 1 }, boss: { name: 1, boss: {} }, visited: 1 },
  });
  type Native = {
    _id: string;
    name: string;
    tags?: ("old" | "new")[];
    born: string;
    address?: { street: string; number?: number };
  };
  type All = {
    _id: string;
    name: string;
    age?: number;
    home: { name: string; natives: Native[] };
    boss?: Boss;
    visited: { _id: string; name: string }[];
  };
  const first = await client.send({ model: "person", act: "first", details: { get: { _id: 0, extra: 1 } } });
  if (first.success) {
    const extra: Json | undefined = first.body.extra;
    return [extra];
  }
  const told: string | undefined = first.body.errors?.["get"]?.[0];
  const nobody = await client.call("person", "nobody", { set: {}, get: { name: 1 } });
  const page = await client.call("person", "page", { set: { limit: 3 }, get: { name: 1 } });
  const summary = await client.call("person", "summary", { get: { oldest: { boss: { name: 1 } } } });
  const some = await client.call("person", "some", { get: { home: { country: 1 }, boss: 1 } });
  const amount: number = await client.call("person", "count", { get: {} });
  const given = { colour: 3, matrix: [[1], [2]] as const, who: { email: "" }, any: [null, { a: [1] }], "two words": "" } as const;
  const kinds = await client.call("person", "kinds", { set: given, get: {} });
  const free = await client.call("person", "free", { set: { a: 1 }, get: { b: { c: [1] } } });
  const near: Json = await client.call("city", "count", { get: {} }, { service: "near" });
  const far = await client.call("a", "b", { set: 1, get: { c: { d: 2 } } }, { service: "far" });
  const sent = await client.send({ service: "far", model: "a", act: "b", details: { set: {}, get: [] } });
  const often = { name: 1, home: { name: 1 } } as const;
  const one = await client.call("person", "first", { get: often });
  const many = await client.call("person", "all", { get: { ...often, _id: 0 } });
  // What only the running program knows may be there.
  const maybe = await client.call("person", "first", { get: { _id: flag, name: flag, home: { name: flag } } });
  const asked: Get<"person", 2> = { name: 1 };
  const wide = await client.call("person", "first", { get: asked });
  const name: string | undefined = wide.name;
  const chosen = await client.call("person", "first", { get: { boss: flag ? 1 : { name: 1 } } });
  const boss: { name?: string } | undefined = chosen.boss;
  return [
    all satisfies Same<typeof all, All[]>,
    nobody satisfies Same<typeof nobody, { _id: string; name: string } | null>,
    page satisfies Same<typeof page, { rows: { _id: string; name: string }[]; total: number; next?: number }>,
    summary satisfies Same<typeof summary, { at: string; oldest: { _id: string; boss?: { name: string } } | null }>,
    some satisfies Same<typeof some, Some[]>,
    kinds satisfies Same<typeof kinds, { colour: "red" | "green" | 3 | true; matrix: number[][]; any: Json }>,
    free satisfies Same<typeof free, Json>,
    one satisfies Same<typeof one, { _id: string; name: string; home: { name: string } }>,
    many satisfies Same<typeof many, { name: string; home: { name: string } }[]>,
    far satisfies Same<typeof far, unknown>,
    sent.success && (sent.body satisfies Same<typeof sent.body, unknown>),
    maybe satisfies Same<typeof maybe, { _id?: string; name?: string; home: { _id?: string; name?: string } }>,
    [amount, near, name, boss, told],
  ];
}

type Person = {
  _id: string;
  name: string;
  age?: number;
  tags?: ("old" | "new")[];
  born: string;
  extra?: Json;
  address?: { street: string; number?: number };
};
type Some = { _id: string; home: { country: { _id: string; name: string; flag?: string } }; boss?: Person };

// The `_id` at the top and in a copy.
type Tops = [
  Result<"city", {}>,
  Result<"city", { _id: 0 }>,
  Result<"city", { _id: 1; name: 0 }>,
  Result<"city", { name: 1 }>,
];
export type TopIds = Assert<Equal<Tops, [{ _id: string }, {}, { _id: string }, { _id: string; name: string }]>>;
type Copies = [
  Result<"city", { country: {} }>["country"],
  Result<"city", { country: { _id: 0 } }>["country"],
  Result<"city", { country: { _id: 1 } }>["country"],
  Result<"city", { country: { cities: 0 } }>["country"],
  Result<"city", { country: { cities: {} } }>["country"],
];
export type CopyIds = Assert<
  Equal<Copies, [{ _id: string }, {}, { _id: string }, { _id: string }, { cities: { _id: string }[] }]>
>;

// What a link excludes is hidden everywhere below it, and nowhere else.
type Native = Result<"city", { natives: { boss: { favourite: 1; age: 1 } } }>["natives"][number];
type Whole = Omit<Person, "age" | "extra">;
export type Hidden = Assert<Equal<Native, { boss?: { favourite?: Whole } }>>;
export type Shown = Assert<Equal<Result<"person", { boss: { age: 1 } }>, { _id: string; boss?: { age?: number } }>>;

// The types by act.
type Kinds = SetOf<"main", "person", "kinds">;
export type Sizes = Assert<Equal<Kinds["size"], number | undefined>>;
export type Gets = Assert<Equal<GetOf<"main", "person", "free">, { [key: string]: unknown }>>;
type Rows = BodyOf<"main", "person", "page", { age: 1 }>["rows"];
export type Pages = Assert<Equal<Rows, { _id: string; age?: number }[]>>;

export async function revisions(): Promise<number[]> {
  const all = await client.call("person", "all", { get: { _rev: 1, name: 1 } });
  return all.map((one) => one._rev);
}
