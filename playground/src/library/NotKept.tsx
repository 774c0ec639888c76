/** Says that the browser does not keep something, and what helps. */

import type { Refusal } from "../state";

const HELP: Record<Exclude<Refusal, "">, string> = {
  "its storage is full": "Remove saved requests or sequences, or note the values before you close the page.",
  "its storage is blocked": "Allow this page to store data, or note the values before you close the page.",
};

/** `exported` is for what can be exported here. */
export function NotKept({ refusal, exported = false }: { refusal: Refusal; exported?: boolean }) {
  const help = refusal && (exported ? "Export it before you close the page." : HELP[refusal]);
  return (
    <p class="library-problem" role="status">
      {refusal && `The browser cannot store all of this: ${refusal}. ${help}`}
    </p>
  );
}
