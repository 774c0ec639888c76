/** A request as code. */

import { useState } from "preact/hooks";
import { GATEWAY_URL } from "../catalog";
import { Code } from "../code";
import { snippets } from "../snippets";
import { Unreadable } from "../library/reading";
import { environmentUrl, filledIn, type ActRequest, type Tab } from "../state";
import { CopyButton, IconButton, Tabs } from "../ui";

/** The request in several languages; it follows each change. */
export function Snippets({ tab }: { tab: Tab }) {
  const files = [...tab.files.value].map(([path, { name }]) => ({ path, name }));
  const all = snippets(shownOf(tab.request.value), environmentUrl() || GATEWAY_URL, { key: tab.key.value.trim(), files });
  const [shown, setShown] = useState<string>(all[0]?.language ?? "");
  const now = all.find(({ language }) => language === shown);
  return (
    <Tabs
      label="Language"
      items={all.map(({ language, label }) => ({ key: language as string, label }))}
      value={shown}
      onChange={setShown}
      aside={
        <>
          {now && <CopyButton text={now.text} />}
          <IconButton small icon="close" label="Close the code" onClick={() => void (tab.shown.value = "tree")} />
        </>
      }
    >
      <div class="snippet" tabIndex={0} role="region" aria-label="Code">
        <pre>{now && <Code key={shown} text={now.text} language={now.syntax} />}</pre>
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
