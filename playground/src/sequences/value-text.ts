/** A value as one writes it in a text field. */

import { parse, problemIn, stringify, type Json } from "../json";

/** How a value stands in a text field. */
export function textOf(value: Json, secret = false): string {
  return typeof value === "string" && (secret || !isJson(value)) ? value : stringify(value);
}

/** What a text field means: JSON where it is such, else the text. */
export function valueOf(text: string): Json {
  return isJson(text) ? parse(text) : text;
}

function isJson(text: string): boolean {
  return problemIn(text) === "";
}
