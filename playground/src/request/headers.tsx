/** The token and more headers of every call. */

import { headers, keepToken, token, type HeaderRow } from "../state";
import { Button, Dialog, Field, IconButton } from "../ui";
import "../form/form.css";

export function HeadersDialog({ onClose }: { onClose: () => void }) {
  const rows = headers.value;
  const change = (at: number, part: Partial<HeaderRow>) => {
    headers.value = rows.map((row, index) => (index === at ? { ...row, ...part } : row));
  };
  return (
    <Dialog title="Headers and token" onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      <div class="stack">
        <Field label="Token" hint="Sent in the header “token”. An act that returns one offers to put it here.">
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
            Keep it in this tab when the page is loaded again
          </label>
          <Button small disabled={!token.value} onClick={() => void (token.value = "")}>
            Forget the token
          </Button>
        </div>
        <h3>More headers</h3>
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
              onClick={() => void (headers.value = rows.filter((_row, at) => at !== index))}
            />
          </div>
        ))}
        <div>
          <Button
            small
            icon="add"
            onClick={() => void (headers.value = [...rows, { name: "", value: "", on: true }])}
          >
            Add a header
          </Button>
        </div>
        <p class="muted small">Headers are forgotten when the page is closed.</p>
      </div>
    </Dialog>
  );
}

function isBadName(name: string): boolean {
  return name.trim() !== "" && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name.trim());
}
