/** The folder of a saved request: one that there is, or a new one. */

import { useId } from "preact/hooks";
import { Field } from "../ui";
import { foldersOf, saved } from "./saved";

export function FolderField({ value, onChange }: { value: string; onChange: (folder: string) => void }) {
  const list = useId();
  return (
    <Field label="Folder" hint="Optional">
      {(ids) => (
        <>
          <input {...ids} list={list} value={value} maxLength={200} onInput={(event) => onChange(event.currentTarget.value)} />
          <datalist id={list}>
            {foldersOf(saved.value).map(({ name }) => name && <option key={name} value={name} />)}
          </datalist>
        </>
      )}
    </Field>
  );
}
