/** Files of a request: they are no JSON, so they are kept beside it, and are gone after a reload. */

import type { Signal } from "@preact/signals";
import { useContext, useEffect, useState } from "preact/hooks";
import type { FileKind } from "../catalog";
import { putFile, type Files } from "../state";
import { Button, Field } from "../ui";
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
                {file.name}, {file.size} bytes
              </span>
              <Button small icon="remove" aria-label={`Remove ${name}`} onClick={() => {
                  undoable(`${file.name} removed.`);
                  putFile(files, path, undefined);
                }}>
                Remove
              </Button>
              <Preview file={file} />
            </>
          )}
        </div>
      )}
    </Field>
  );
}

/** The most bytes of a picture that is shown. */
const MOST_SHOWN = 10_000_000;

function Preview({ file }: { file: File }) {
  const [address, setAddress] = useState("");
  useEffect(() => {
    setAddress("");
    if (!/^image\/(avif|gif|jpeg|png|webp)$/.test(file.type) || file.size > MOST_SHOWN) return;
    const reader = new FileReader();
    reader.onload = () => setAddress(String(reader.result));
    reader.readAsDataURL(file);
    return () => reader.abort();
  }, [file]);
  return address ? <img class="file-preview" src={address} alt={`Preview of ${file.name}`} /> : null;
}
