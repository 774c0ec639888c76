/** What is looked at, in the address: `#/schema/user/organizations`. */

import { signal } from "@preact/signals";

export interface Looked {
  model: string;
  /** A relation or reverse relation of it; empty for none. */
  link: string;
}

export const looked = signal<Looked>(readAddress());

/** Show a model, and one of its links; the browser's Back leads back. */
export function show(model: string, link = ""): void {
  const parts = [model, link].filter(Boolean).map(encodeURIComponent);
  location.hash = `#/schema/${parts.join("/")}`;
  looked.value = { model, link };
}

/** Follow the address while the view is shown; returns what ends that. */
export function follow(): () => void {
  const read = () => {
    const now = readAddress();
    if (now.model) looked.value = now;
  };
  read();
  addEventListener("hashchange", read);
  return () => removeEventListener("hashchange", read);
}

function readAddress(): Looked {
  const [, model = "", link = ""] = /^#\/schema\/([^/]*)\/?([^/]*)$/.exec(location.hash) ?? [];
  try {
    return { model: decodeURIComponent(model), link: decodeURIComponent(link) };
  } catch {
    return { model: "", link: "" };
  }
}
