/** A request as code. */

import { useState } from "preact/hooks";
import { GATEWAY_URL } from "../catalog";
import { snippets } from "../snippets";
import { Unreadable } from "../library/reading";
import { filledIn, type ActRequest } from "../state";
import { CopyButton, Dialog, Tabs } from "../ui";

export function SnippetsDialog({ request, onClose }: { request: ActRequest; onClose: () => void }) {
  return (
    <Dialog title="As code" onClose={onClose} wide>
      <Snippets request={request} />
    </Dialog>
  );
}

/** The request in several languages; it follows each change. */
export function Snippets({ request }: { request: ActRequest }) {
  const all = snippets(shownOf(request), GATEWAY_URL);
  const [shown, setShown] = useState<string>(all[0]?.language ?? "");
  const now = all.find(({ language }) => language === shown);
  return (
    <Tabs
      label="Language"
      items={all.map(({ language, label }) => ({ key: language as string, label }))}
      value={shown}
      onChange={setShown}
      aside={now && <CopyButton text={now.text} />}
    >
      <div class="snippet" tabIndex={0} role="region" aria-label="Code">
        <pre>{now?.text}</pre>
      </div>
    </Tabs>
  );
}

/** The request as it would be sent; as it is written where a variable has no value. */
function shownOf(request: ActRequest): ActRequest {
  try {
    return filledIn(request);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return request;
  }
}
