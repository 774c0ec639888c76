/** What a type says of the keys of a value: all the way down, with `?` after those that may be absent. */
import type { Json } from "./gateway.js";

export type Shape<T> = Json extends T ? 1
  : T extends null ? never
  : T extends readonly (infer E)[] ? readonly [Shape<E>]
  : T extends object ? { readonly [K in keyof T as {} extends Pick<T, K> ? `${K & string}?` : K]-?: Shape<Exclude<T[K], undefined>> }
  : 1;

export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** What `satisfies` takes only where two types are equal. */
export type Same<A, B> = Equal<A, B> extends true ? A : never;
export type Assert<T extends true> = T;

let rows = 0;

/** Compare a reply with its static type: `shape` compiles only where it says just what the type says. */
export function row<T>(body: T, shape: NoInfer<Shape<T>>): void {
  rows += 1;
  compare(body, shape, `row ${rows}`);
}

export function count(): number {
  return rows;
}

export function equal(found: unknown, wanted: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`);
  }
}

function compare(value: any, shape: any, path: string): void {
  if (shape === 1) return;
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) throw new Error(`${path} is no list`);
    value.forEach((item, at) => compare(item, shape[0], `${path}.${at}`));
    return;
  }
  for (const key of Object.keys(value)) {
    if (!(key in shape) && !(`${key}?` in shape)) throw new Error(`${path}.${key} is not in the type`);
    compare(value[key], shape[key] ?? shape[`${key}?`], `${path}.${key}`);
  }
  for (const key of Object.keys(shape)) {
    if (!key.endsWith("?") && !(key in value)) throw new Error(`${path}.${key} is in the type only`);
  }
}
