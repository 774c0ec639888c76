/** Asks for the name under which a request is saved. */

import { useState } from "preact/hooks";
import type { ActRequest } from "../state";
import { Button, Dialog, Field, notify } from "../ui";
import { FolderField } from "./FolderField";
import { freeName } from "./names";
import { titleOf, Unreadable } from "./reading";
import { saveAll, saveRequest, saved, type Saved } from "./saved";

interface Props {
  request: ActRequest;
  /** What it was saved as before: it is saved beside that. */
  from?: Saved | undefined;
  onSaved?: (name: string) => void;
  onClose: () => void;
}

export function SaveDialog({ request, from, onSaved, onClose }: Props) {
  const [name, setName] = useState(() => (from ? freeName(from.name, saved.value.map(({ name }) => name)) : titleOf(request)));
  const [folder, setFolder] = useState(from?.folder ?? "");
  const taken = saved.value.find((one) => one.name === name.trim());
  const save = (event: Event) => {
    event.preventDefault();
    if (!name.trim()) return;
    try {
      const refused = saveRequest(request, name.trim(), folder.trim() || taken?.folder);
      const [bad, undo] = [refused !== "", taken && (() => void saveAll([taken]))];
      notify(bad ? `Saved only until the page closes, because the browser cannot store it: ${refused}.` : taken ? "Replaced." : "Saved.", {
        bad,
        ...(undo && { undo }),
      });
      onSaved?.(name.trim());
      onClose();
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      notify(`${error.message}.`, { bad: true });
    }
  };
  return (
    <Dialog
      title={from ? "Save as new" : "Save the request"}
      onClose={onClose}
      actions={
        <Button look="primary" type="submit" form="library-save" disabled={!name.trim()}>
          {taken ? "Replace" : "Save"}
        </Button>
      }
    >
      <form id="library-save" class="stack" onSubmit={save}>
        <Field label="Name" hint="Passwords, tokens and headers are not saved.">
          {(ids) => (
            <input {...ids} value={name} maxLength={200} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <FolderField value={folder} onChange={setFolder} />
      </form>
    </Dialog>
  );
}
