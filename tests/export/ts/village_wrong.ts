/** Each marked line must be an error, or this file is one. */
import { createClient, type Fields, type Model } from "./gateway.js";

const client = createClient({ url: "" });
const kinds = { colour: "red", matrix: [], who: { email: "" }, any: 1 } as const;

export async function wrong(): Promise<void> {
  const all = await client.call("person", "all", { get: { name: 1, home: { name: 1 }, boss: 1, team: { born: 1 } } });
  // @ts-expect-error a field that was not asked for
  all[0]?.age;
  // @ts-expect-error a link that was not asked for
  all[0]?.visited;
  // @ts-expect-error a field of a copy that was not asked for
  all[0]?.home.size;
  // @ts-expect-error a revision that was not asked for
  all[0]?._rev;
  // @ts-expect-error a copy has no revision
  await client.call("person", "all", { get: { name: 1, home: { _rev: 1 } } });
  // @ts-expect-error the id of a copy that was not asked for
  all[0]?.home._id;
  // @ts-expect-error a link may be absent
  all[0]?.boss.name;
  // @ts-expect-error a list is no document
  all[0]?.team.born;
  // @ts-expect-error a date is text
  all[0]?.team[0]?.born.getTime();

  const first = await client.send({ model: "person", act: "first", details: { get: { _id: 0, age: 1 } } });
  // @ts-expect-error it may have failed
  first.body.age;
  // @ts-expect-error the id was refused
  first.success && first.body._id;
  // @ts-expect-error an optional field may be absent
  first.success && first.body.age.toFixed();
  const nobody = await client.call("person", "nobody", { get: { name: 1 } });
  // @ts-expect-error it may be null
  nobody.name;
  const summary = await client.call("person", "summary", { get: { count: 1 } });
  // @ts-expect-error a part that was not asked for
  summary.oldest;

  // @ts-expect-error no such model
  await client.call("persons", "all", { get: {} });
  // @ts-expect-error no such act
  await client.call("person", "none", { get: {} });
  // @ts-expect-error an act of another service
  await client.call("city", "count", { get: {} });
  // @ts-expect-error no such service
  await client.call("city", "count", { get: {} }, { service: "elsewhere" });
  // @ts-expect-error get is missing
  await client.call("person", "all", {});
  // @ts-expect-error no such field
  await client.call("person", "all", { get: { nope: 1 } });
  // @ts-expect-error no such field beside one that is
  await client.call("person", "all", { get: { name: 1, nope: 1 } });
  // @ts-expect-error no such field in a copy, beside one that is
  await client.call("person", "all", { get: { home: { name: 1, nope: 1 } } });
  // @ts-expect-error an excluded field
  await client.call("person", "all", { get: { visited: { name: 1, secret: 1 } } });
  // @ts-expect-error a field that the link excludes
  await client.call("person", "all", { get: { visited: { name: 1, flag: 1 } } });
  // @ts-expect-error a field that a link above excludes
  await client.call("person", "all", { get: { home: { natives: { boss: { name: 1, age: 1 } } } } });
  // @ts-expect-error too deep
  await client.call("person", "first", { get: { boss: { boss: { name: 1, boss: 1 } } } });
  // @ts-expect-error neither 0 nor 1
  await client.call("person", "all", { get: { name: true } });
  // @ts-expect-error a field takes no object
  await client.call("person", "all", { get: { address: { street: 1 } } });
  // @ts-expect-error not among what may be asked for
  await client.call("person", "some", { get: { name: 1, age: 1 } });
  // @ts-expect-error not all of it may be asked for
  await client.call("person", "some", { get: { name: 1, home: 1 } });
  // @ts-expect-error the act has nothing to ask for
  await client.call("person", "count", { get: { name: 1 } });
  // @ts-expect-error a selection takes an object
  await client.call("person", "summary", { get: { oldest: 1 } });

  // @ts-expect-error set is missing
  await client.call("person", "kinds", { get: {} });
  // @ts-expect-error a required field is missing
  await client.call("person", "kinds", { set: { colour: "red", matrix: [], any: 1 }, get: {} });
  // @ts-expect-error any must be there
  await client.call("person", "kinds", { set: { colour: "red", matrix: [], who: { email: "" } }, get: {} });
  // @ts-expect-error a required field of an object is missing
  await client.call("person", "kinds", { set: { ...kinds, who: {} }, get: {} });
  // @ts-expect-error no such choice
  await client.call("person", "kinds", { set: { ...kinds, colour: "blue" }, get: {} });
  // @ts-expect-error a list in a list
  await client.call("person", "kinds", { set: { ...kinds, matrix: [1] }, get: {} });
  // @ts-expect-error no JSON value
  await client.call("person", "kinds", { set: { ...kinds, any: () => 1 }, get: {} });
  // @ts-expect-error no such field
  await client.call("person", "kinds", { set: { ...kinds, nope: 1 }, get: {} });
  // @ts-expect-error the act takes nothing
  await client.call("person", "count", { set: { a: 1 }, get: {} });
  // @ts-expect-error not null
  await client.call("person", "kinds", { set: { ...kinds, size: null }, get: {} });
}

// @ts-expect-error no such model
export const model: Model = "persons";
// @ts-expect-error an excluded field
export type Secret = Fields<"country">["secret"];
