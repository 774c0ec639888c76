/** Files of a request: they are no JSON, so they are kept beside it, and are gone after a reload. */

import type { Signal } from "@preact/signals";
import { useContext } from "preact/hooks";
import type { FileKind } from "../catalog";
import { Picture } from "../linked/picture";
import { putFile, type Files } from "../state";
import { Button, Field } from "../ui";
import { size as sizeText } from "../reply/facts";
import { useErrors } from "./errors";
import { UndoContext } from "./undo";
import { nameOfKind, type ValueProps } from "./value";

export function Chooser({ kind, name, path, files }: ValueProps<FileKind> & { files: Signal<Files> }) {
  const undoable = useContext(UndoContext);
  const file = files.value.get(path);
  const isLarge = file !== undefined && file.size > kind.maxBytes;
  const errors = useErrors(path) ?? (isLarge ? ["The file is too large."] : undefined);
  return (
    <Field
      label={<span class="value-name">{name}</span>}
      errors={errors}
      hint={kind.description}
      required={kind.presence === "required"}
      aside={nameOfKind(kind)}
    >
      {(ids) => (
        <div class="file-value">
          <input
            {...ids}
            // A new input when the file is removed: its own list of files cannot be emptied otherwise.
            key={String(file === undefined)}
            type="file"
            data-path={path}
            accept={kind.types.join(",")}
            onChange={(event) => putFile(files, path, event.currentTarget.files?.[0])}
          />
          {file && (
            <>
              <span class="muted small">
                {file.name}, {sizeText(file.size)}
              </span>
              <Button small icon="remove" aria-label={`Remove ${name}`} onClick={() => {
                  undoable(`${file.name} removed.`);
                  putFile(files, path, undefined);
                }}>
                Remove
              </Button>
              <Picture blob={file} name={file.name} class="file-preview" />
            </>
          )}
        </div>
      )}
    </Field>
  );
}
