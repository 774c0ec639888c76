/** The stored file whose id is written in a field. */

import { useContext } from "preact/hooks";
import { WhoContext } from "../form/who";
import { fileOf } from "./find";
import { LinkedView } from "./view";

export function FileOfId({ model, id }: { model: string | undefined; id: string }) {
  const who = useContext(WhoContext);
  const file = fileOf(model, id);
  return file ? <LinkedView key={file.url} file={file} who={who} /> : null;
}
