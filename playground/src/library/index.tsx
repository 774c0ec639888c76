/** The view of what was sent and what was saved. */

import { signal } from "@preact/signals";
import { Tabs } from "../ui";
import { History } from "./History";
import { SavedRequests } from "./SavedRequests";
import { history } from "./record";
import { saved } from "./saved";
import "./library.css";

const part = signal<"history" | "saved">("history");

export function Library() {
  return (
    <div class="page library">
      <h2 class="sr-only">History and saved requests</h2>
      <Tabs
        label="Library"
        items={[
          { key: "history", label: `History (${history.value.length})` },
          { key: "saved", label: `Saved (${saved.value.length})` },
        ]}
        value={part.value}
        onChange={(key) => void (part.value = key)}
      >
        {part.value === "history" ? <History /> : <SavedRequests />}
      </Tabs>
    </div>
  );
}
