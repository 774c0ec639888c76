/** Says that the browser does not keep something, and what helps. */

import type { Refusal } from "../state";

export function NotKept({ refusal }: { refusal: Refusal }) {
  return (
    <p class="library-problem" role="status">
      {refusal && `The browser cannot store all of this: ${refusal}. Export it before you close the page.`}
    </p>
  );
}
