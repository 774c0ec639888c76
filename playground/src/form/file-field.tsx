/** Where files of a request are, and whether they can be chosen; what chooses them is loaded when it is shown. */

import type { Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { FileKind } from "../catalog";
import { lazy } from "../lazy";
import type { Files } from "../state";
import type { ValueProps } from "./value";

const Chooser = lazy(() => import("./files").then((part) => part.Chooser), "");

/** Null where no files are sent. */
export const FilesContext = createContext<Signal<Files> | null>(null);

export function FileField(props: ValueProps<FileKind>) {
  const files = useContext(FilesContext);
  if (files) return <Chooser {...props} files={files} />;
  return (
    <div class="value-off">
      <span class="value-name">{props.name}</span>
      <span class="muted small">Files are sent from the view of acts only.</span>
    </div>
  );
}
