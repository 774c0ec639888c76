/** Files of a request: they are no JSON, so they are kept beside it, and are gone after a reload. */

import type { Signal } from "@preact/signals";
import { useContext, useEffect, useState } from "preact/hooks";
import type { FileKind } from "../catalog";
import { Picture } from "../linked/picture";
import { WithCode } from "../library/words";
import { putFile, type Files } from "../state";
import { HEAD, isOfType } from "./file-types";
import { Button, Field } from "../ui";
import { size as sizeText } from "../reply/facts";
import { useErrors } from "./errors";
import { UndoContext } from "./undo";
import { nameOfKind, type ValueProps } from "./value";

export function Chooser({ kind, name, path, files }: ValueProps<FileKind> & { files: Signal<Files> }) {
  const undoable = useContext(UndoContext);
  const file = files.value.get(path);
  const isTyped = useTyped(file, kind.types);
  const isLarge = file !== undefined && file.size > kind.maxBytes;
  const wrong = [
    ...(isLarge ? ["The file is too large."] : []),
    ...(isTyped ? [] : [`The content must be ${kind.types.join(" or ")}.`]),
  ];
  const said = useErrors(path);
  const errors = wrong.length ? wrong : said;
  return (
    <Field
      label={<span class="value-name">{name}</span>}
      errors={errors}
      hint={kind.description && <WithCode text={kind.description} />}
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

/** Whether the content of a file is of one of some types, as the service will judge it; true until that is known. */
function useTyped(file: File | undefined, types: readonly string[]): boolean {
  const [found, setFound] = useState<{ file: File; isTyped: boolean }>();
  useEffect(() => {
    if (file) void file.slice(0, HEAD).arrayBuffer().then((head) => setFound({ file, isTyped: isOfType(new Uint8Array(head), types) }));
  }, [file]);
  return found?.file !== file || (found?.isTyped ?? true);
}
