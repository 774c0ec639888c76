/** Says that the browser does not keep something, and what helps. */

import type { Refusal } from "../state";

export function NotKept({ refusal }: { refusal: Refusal }) {
  return (
    <p class="library-problem" role="status">
      {refusal && `The browser does not keep all of this: ${refusal}. Export it before the page closes.`}
    </p>
  );
}
