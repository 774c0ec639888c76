/** Saved requests as a JSON file: `{"format": "gatewayfw-requests", "version": 1, "requests": [...]}`. */

import { stringify } from "../json";
import { Unreadable, readJson, readPlain, type Plain } from "./reading";
import { readSaved, written, type Saved } from "./saved";

const FORMAT = "gatewayfw-requests";
/** Largest file that is read, in bytes. */
const LARGEST = 5_000_000;

export function writeRequests(all: readonly Saved[]): string {
  return stringify({ format: FORMAT, version: 1, requests: written(all) }, 2) + "\n";
}

/** Return the requests of a file's text. Throws `Unreadable`. */
export function readRequests(text: string): Saved[] {
  return readSaved(readFormat(text, FORMAT).requests, "requests");
}

/** Return the object of a file of a format. Throws `Unreadable`. */
export function readFormat(text: string, format: string): Plain {
  const file = readPlain(readJson(text, "The file"), "The file");
  if (file.format !== format) throw new Unreadable(`The file is not in the format ${format}`);
  if (file.version !== 1) throw new Unreadable("The file comes from another version");
  return file;
}

/** Return the text of a chosen file. Throws `Unreadable` when it is too large. */
export async function textOf(file: File): Promise<string> {
  if (file.size > LARGEST) throw new Unreadable(`The file is larger than ${LARGEST / 1_000_000} MB`);
  return file.text();
}
