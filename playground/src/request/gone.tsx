/** An act that the service does not have, or no longer: what was written for it can be sent to another one, or copied. */

import { dialog } from "../account";
import { catalog, type Tab } from "../state";
import { Button, CopyButton, Empty } from "../ui";
import { textOf } from "./details";
import { CallName } from "./mark";
import { nearestTo } from "./nearest";

export function Gone({ tab }: { tab: Tab }) {
  const request = tab.request.value;
  const { service, model, act } = request;
  const near = catalog.value ? nearestTo(catalog.value, request) : [];
  return (
    <Empty icon="close" title="There is no such act">
      <p>
        <code>
          {service} / {model} / {act}
        </code>
      </p>
      {near.length > 0 && (
        <div class="gone-near">
          <p>Nearest to it; what is written stays:</p>
          {near.map((place) => (
            <Button key={`${place.service} ${place.model} ${place.act}`} onClick={() => void (tab.request.value = { ...request, ...place })}>
              <CallName {...place} />
            </Button>
          ))}
        </div>
      )}
      <div class="row gone-ways">
        <Button small icon="search" onClick={() => void (dialog.value = "palette")}>
          Search all acts
        </Button>
        <CopyButton label="Copy the request" text={() => textOf(request)} />
      </div>
    </Empty>
  );
}
