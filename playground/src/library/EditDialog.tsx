/** Renames, moves and removes a saved request, or a folder of them. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button, Dialog, Field, once } from "../ui";
import { FolderField } from "./FolderField";
import { removeSaved, replaceSaved, saved, type Folder, type Saved } from "./saved";

interface FormProps {
  title: string;
  /** Why it cannot be so. */
  problem?: string;
  onSave: () => void;
  onRemove: () => void;
  onClose: () => void;
  name: string;
  onName: (name: string) => void;
  children?: ComponentChildren;
}

function EditForm({ title, problem = "", onSave, onRemove, onClose, name, onName, children }: FormProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    if (problem || !name.trim()) return;
    onSave();
    onClose();
  };
  const remove = () => {
    onRemove();
    onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button icon="remove" onClick={once(remove)}>
            Remove
          </Button>
          <Button look="primary" type="submit" form="library-edit" disabled={problem !== "" || !name.trim()}>
            Save
          </Button>
        </>
      }
    >
      <form id="library-edit" class="stack" onSubmit={submit}>
        <Field label="Name" errors={problem ? [problem] : []}>
          {(ids) => <input {...ids} value={name} maxLength={200} onInput={(event) => onName(event.currentTarget.value)} />}
        </Field>
        {children}
      </form>
    </Dialog>
  );
}

export function EditSaved({ one: before, onClose }: { one: Saved; onClose: () => void }) {
  const one = saved.value.find(({ name }) => name === before.name) ?? before; // Another tab may change it meanwhile.
  const [name, setName] = useState(one.name);
  const [folder, setFolder] = useState(one.folder);
  const isTaken = name.trim() !== one.name && saved.value.some((other) => other.name === name.trim());
  const next = { ...one, name: name.trim(), folder: folder.trim() };
  const save = () => {
    if (next.name === one.name && next.folder === one.folder) return;
    const what = next.name === one.name ? `“${one.name}” moved.` : `“${one.name}” is “${next.name}” now.`;
    replaceSaved([one], [next], what);
  };
  return (
    <EditForm
      title="Saved request"
      problem={isTaken ? "This name is taken." : ""}
      name={name}
      onName={setName}
      onSave={save}
      onRemove={() => removeSaved(one)}
      onClose={onClose}
    >
      <FolderField value={folder} onChange={setFolder} />
    </EditForm>
  );
}

export function EditFolder({ folder, onClose }: { folder: Folder; onClose: () => void }) {
  const [name, setName] = useState(folder.name);
  const { requests } = folder;
  const save = () => {
    const next = name.trim();
    if (next === folder.name) return;
    replaceSaved(requests, requests.map((one) => ({ ...one, folder: next })), `Folder “${folder.name}” renamed to “${next}”.`);
  };
  const count = `${requests.length} request${requests.length === 1 ? "" : "s"}`;
  return (
    <EditForm
      title="Folder"
      name={name}
      onName={setName}
      onSave={save}
      onRemove={() => replaceSaved(requests, [], `Folder “${folder.name}” with ${count} removed.`)}
      onClose={onClose}
    >
      <p class="muted">It has {count}; the folder of a name that there is takes them in.</p>
    </EditForm>
  );
}
