/** A stored file where something names it: a picture, its name and size, and a button to get it. */

import { useEffect, useState } from "preact/hooks";
import { size } from "../reply/facts";
import { filledHeaders, tokenOf } from "../state";
import { Button, notify, once, saveFile } from "../ui";
import type { LinkedFile } from "./find";
import { isShown, Picture } from "./picture";
import "./linked.css";

interface Props {
  file: LinkedFile;
  /** Whose token opens it, as of a tab. */
  who: string;
}
interface Opened {
  name: string;
  type: string;
  bytes: number;
  /** Where it is a picture. */
  blob?: Blob;
  problem?: string;
}

/** A small picture in a line; nothing where it is none. */
export function Thumb(props: Props) {
  const { blob, name } = useOpened(props) ?? {};
  return blob ? <Picture blob={blob} name={name || "the file"} class="linked-thumb" /> : null;
}

export function LinkedView(props: Props) {
  const { file, who } = props;
  const opened = useOpened(props);
  const name = file.name || opened?.name || "file";
  const save = async () => {
    try {
      saveFile(name, await (await fetchFile(file, who)).blob(), "application/octet-stream");
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error), { bad: true });
    }
  };
  return (
    <figure class="linked" aria-label={name}>
      {opened?.blob && <Picture blob={opened.blob} name={name} class="file-preview" />}
      <figcaption class="row">
        <span class="grow">
          {name}
          {opened && <span class="muted small"> {opened.problem ?? [opened.type, size(opened.bytes)].join(", ")}</span>}
        </span>
        {opened && !opened.problem && (
          <Button small icon="download" onClick={once(() => void save())}>
            Download
          </Button>
        )}
      </figcaption>
    </figure>
  );
}

function useOpened({ file, who }: Props): Opened | undefined {
  const [opened, setOpened] = useState<Opened>();
  const token = tokenOf(who);
  useEffect(() => {
    const controller = new AbortController();
    setOpened(undefined);
    void open(file, who, controller.signal).then((found) => controller.signal.aborted || setOpened(found));
    return () => controller.abort();
  }, [file.url, who, token]);
  return opened;
}

/** Open a file; of what is no picture only the headers are read. Never rejects. */
async function open(file: LinkedFile, who: string, signal: AbortSignal): Promise<Opened> {
  try {
    const reply = await fetchFile(file, who, signal);
    const type = (reply.headers.get("Content-Type") ?? "").split(";")[0] as string;
    const bytes = Number(reply.headers.get("Content-Length"));
    const found = { name: file.name || nameIn(reply.headers), type, bytes };
    if (isShown(type, bytes)) return { ...found, blob: await reply.blob() };
    await reply.body?.cancel();
    return found;
  } catch (error) {
    return { name: file.name, type: "", bytes: 0, problem: error instanceof Error ? error.message : String(error) };
  }
}

async function fetchFile({ url, isSigned }: LinkedFile, who: string, signal?: AbortSignal): Promise<Response> {
  const headers = isSigned ? {} : filledHeaders(tokenOf(who));
  const reply = await fetch(url, { headers, signal: signal ?? null, credentials: "same-origin", redirect: "error" });
  if (!reply.ok) throw new Error(`The file was not opened: status ${reply.status}.`);
  return reply;
}

/** What the file is called, by its reply. */
function nameIn(headers: Headers): string {
  const written = /filename\*=UTF-8''([^;]*)/.exec(headers.get("Content-Disposition") ?? "")?.[1] ?? "";
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}
