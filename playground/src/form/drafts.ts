/** Where the fields of a form keep what is no JSON yet. */

import { signal, type Signal } from "@preact/signals";
import { createContext } from "preact";
import { useState } from "preact/hooks";
import type { Drafts } from "../state";

export const DraftsContext = createContext<Signal<Drafts>>(signal(new Map()));

/**
 * Return a text and a function that changes it. What was typed stays as it was typed for as long as it means
 * `now`, which is the same in our own writing.
 */
export function useTyped(now: string): [string, (text: string, means: string) => void] {
  const [typed, setTyped] = useState<{ text: string; means: string } | null>(null);
  return [typed?.means === now ? typed.text : now, (text, means) => setTyped({ text, means })];
}
