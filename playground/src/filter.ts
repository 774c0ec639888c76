/** The filter of a listing as rows of field, operator and value, and back; and the kinds of its values. Pure. */

import type { FilterKind, Kind, ObjectKind } from "./catalog";
import { isObject, own, parse, type Json, type JsonObject } from "./json";

export interface Row {
  field: string;
  /** Empty where the JSON names a field and no operator. */
  operator: string;
  /** Undefined while none is written. */
  value?: Json | undefined;
}

/** Operators in words, where their names are none. */
const OPERATORS: Readonly<Record<string, string>> = {
  eq: "equals",
  ne: "differs from",
  gt: "above",
  gte: "at least",
  lt: "below",
  lte: "at most",
  in: "one of",
  nin: "none of",
  prefix: "begins with",
};
/** The same where a document has a list: one of its values has to fit. */
const OF_LISTS: Readonly<Record<string, string>> = {
  eq: "has",
  ne: "does not have",
  gt: "has one above",
  gte: "has one of at least",
  lt: "has one below",
  lte: "has one of at most",
  in: "has one of",
  nin: "has none of",
  prefix: "has one that begins with",
  contains: "has one that contains",
};

/** `at least (gte)` */
export function operatorText(filter: FilterKind, field: string, operator: string): string {
  const isList = own(filter.fields, field)?.list === true;
  const words = (isList ? OF_LISTS : OPERATORS)[operator];
  return words ? `${words} (${operator})` : operator;
}

/** Those that find null, which a value that is missing is, too. */
const NULLABLE = ["eq", "ne", "in", "nin"];
const LONGEST_CONTAINED = 200;

/** The kind of what stands behind an operator of a field; any value where one of them is not known. */
export function operandOf(filter: FilterKind, field: string, operator: string): Kind {
  const known = own(filter.fields, field);
  if (!known?.operators.includes(operator)) return { kind: "any", presence: "required" };
  const value: Kind = { ...known.value, presence: "required", nullable: NULLABLE.includes(operator) };
  if (operator === "exists") return { kind: "boolean", presence: "required" };
  if (operator === "prefix") return { kind: "string", presence: "required" };
  if (operator === "contains")
    return { kind: "string", presence: "required", minLength: 1, maxLength: LONGEST_CONTAINED };
  if (operator === "in" || operator === "nin") return { kind: "array", presence: "required", items: value };
  return value;
}

/** The fields of a filter as kinds: each is an object of its operators. */
export function fieldsOf(filter: FilterKind): Record<string, ObjectKind> {
  const fields = Object.entries(filter.fields).map(([field, { operators }]): [string, ObjectKind] => {
    const operands = operators.map((one): [string, Kind] => [
      one,
      { ...operandOf(filter, field, one), presence: "optional" },
    ]);
    return [field, { kind: "object", presence: "optional", fields: Object.fromEntries(operands) }];
  });
  return Object.fromEntries(fields);
}

/** A row for each operator; a value without one is `eq`. */
export function rowsOf(filter: JsonObject): Row[] {
  return Object.entries(filter).flatMap(([field, given]): Row[] => {
    if (!isObject(given)) return [{ field, operator: "eq", value: given }];
    const rows = Object.entries(given).map(([operator, value]) => ({ field, operator, value }));
    return rows.length > 0 ? rows : [{ field, operator: "" }];
  });
}

/** The filter that rows with a value mean: those of one field are one object, `eq` alone is its value. */
export function filterOf(rows: readonly Row[]): JsonObject {
  const used = rows.filter((row) => !isUnused(row));
  const given = [...new Set(used.map(({ field }) => field))].map((field): [string, Json] => {
    const own = used.filter((row) => row.field === field);
    const [first] = own;
    if (own.length === 1 && first?.operator === "eq" && !isObject(first.value)) return [field, first.value ?? null];
    const operators = own.filter(({ operator }) => operator !== "");
    return [field, Object.fromEntries(operators.map(({ operator, value = null }) => [operator, value]))];
  });
  return Object.fromEntries(given);
}

/** Whether a row has no value yet: it is not part of the filter. */
export function isUnused({ operator, value }: Row): boolean {
  return operator !== "" && value === undefined;
}

/** Why rows mean no filter: what is wrong with one of them; empty where nothing is. */
export function problemOf(rows: readonly Row[], at: number): "" | "no operator" | "twice" {
  const row = rows[at];
  if (!row?.operator) return "no operator";
  const first = rows.findIndex(({ field, operator }) => field === row.field && operator === row.operator);
  return first < at ? "twice" : "";
}

/** Read rows that were kept as text; undefined where it has none. */
export function readRows(text: string): Row[] | undefined {
  try {
    const rows = parse(text);
    const isRow = (row: Json) => isObject(row) && typeof row.field === "string" && typeof row.operator === "string";
    return Array.isArray(rows) && rows.every(isRow) ? (rows as unknown as Row[]) : undefined;
  } catch {
    return undefined;
  }
}

/** The first operator of a field that no row has; undefined where all are there. */
export function unusedOf(filter: FilterKind, field: string, rows: readonly Row[]): string | undefined {
  const operators = own(filter.fields, field)?.operators ?? [];
  return operators.find((one) => !rows.some((row) => row.field === field && row.operator === one));
}
