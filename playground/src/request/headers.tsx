/** The token and more headers of every call. */

import { showEnvironments } from "../account";
import { headers, identity, keepToken, logOut, MOST_HEADERS, token, tokenHint, tokenRefusal, type HeaderRow } from "../state";
import { Button, Dialog, Field, IconButton, notify } from "../ui";
import "../form/form.css";

export function HeadersDialog({ onClose }: { onClose: () => void }) {
  const rows = headers.value;
  const change = (at: number, part: Partial<HeaderRow>) => {
    headers.value = rows.map((row, index) => (index === at ? { ...row, ...part } : row));
  };
  return (
    <Dialog title="Headers and token" onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      <div class="stack">
        <Field label="Token" hint={`${tokenHint()} When a reply contains a token, one click puts it here.`}>
          {(ids) => (
            <textarea
              {...ids}
              class="mono"
              rows={3}
              spellcheck={false}
              autocomplete="off"
              value={token.value}
              onInput={(event) => void (token.value = event.currentTarget.value.trim())}
            />
          )}
        </Field>
        <div class="row">
          <label class="row grow">
            <input
              type="checkbox"
              checked={keepToken.value}
              onChange={(event) => void (keepToken.value = event.currentTarget.checked)}
            />
            Keep token and headers after a reload
          </label>
          <Button small disabled={!token.value} onClick={() => (identity.value ? logOut(identity.value) : void (token.value = ""))}>
            Forget the token
          </Button>
        </div>
        {tokenRefusal.value && <p class="field-errors">The browser cannot store them: {tokenRefusal.value}.</p>}
        <h3>Other headers</h3>
        {rows.map((row, index) => (
          <div class="header-row" key={index}>
            <input
              type="checkbox"
              aria-label={`Send header ${index + 1}`}
              checked={row.on}
              onChange={(event) => change(index, { on: event.currentTarget.checked })}
            />
            <input
              class="mono"
              aria-label={`Name of header ${index + 1}`}
              placeholder="Name"
              value={row.name}
              aria-invalid={isBadName(row.name) || undefined}
              onInput={(event) => change(index, { name: event.currentTarget.value })}
            />
            <input
              class="mono"
              aria-label={`Value of header ${index + 1}`}
              placeholder="Value"
              value={row.value}
              onInput={(event) => change(index, { value: event.currentTarget.value })}
            />
            <IconButton
              icon="remove"
              label={`Remove header ${index + 1}`}
              onClick={() => {
                headers.value = rows.filter((_row, at) => at !== index);
                const undo = () => void (headers.value = [...headers.value.slice(0, index), row, ...headers.value.slice(index)]);
                notify(`${row.name || "Header"} removed.`, { undo });
              }}
            />
          </div>
        ))}
        <div class="row">
          <Button
            small
            icon="add"
            disabled={rows.length >= MOST_HEADERS}
            onClick={() => void (headers.value = [...rows, { name: "", value: "", on: true }])}
          >
            Add a header
          </Button>
          <Button small look="quiet" onClick={showEnvironments}>
            Environments
          </Button>
        </div>
        <p class="muted small">Token and headers stay in this browser tab until you close it.</p>
      </div>
    </Dialog>
  );
}

function isBadName(name: string): boolean {
  return name.trim() !== "" && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name.trim());
}
