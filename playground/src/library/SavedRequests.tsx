/** Saved requests: open, send, share, remove; import and export as a file. */

import { useState } from "preact/hooks";
import { CallName, GivenName } from "../request/mark";
import { openRequest, showSaved } from "../state";
import { Button, Empty, IconButton, notify, once, saveFile } from "../ui";
import { FileButton } from "./FileButton";
import { leaveRow } from "./focus";
import { readRequests, writeRequests } from "./files";
import { titleOf } from "./reading";
import { NotKept } from "./NotKept";
import { EditFolder, EditSaved } from "./EditDialog";
import { foldersOf, refusal, removeSaved, saveAll, saved, type Folder, type Saved } from "./saved";
import { copyLink } from "./share";

export function SavedRequests() {
  const [problem, setProblem] = useState("");
  const [edited, setEdited] = useState<Saved>();
  const [folder, setFolder] = useState<Folder>();
  const all = saved.value;
  const importText = (text: string) => {
    const requests = readRequests(text);
    const refused = saveAll(requests);
    notify(refused ? `Imported only until the page closes: ${refused}.` : `${requests.length} imported.`, {
      bad: refused !== "",
    });
  };
  return (
    <section class="library-part" aria-label="Saved requests">
      <div class="library-bar">
        <p class="field-hint grow">Stored in this browser, without passwords, tokens or headers.</p>
        <FileButton onText={importText} onProblem={setProblem}>
          Import
        </FileButton>
        <Button
          icon="download"
          disabled={all.length === 0}
          onClick={() => saveFile("requests.json", writeRequests(all))}
        >
          Export
        </Button>
      </div>
      <p class="library-problem" role="alert">
        {problem}
      </p>
      <NotKept exported refusal={refusal.value} />
      {all.length === 0 ? (
        <Empty icon="save" title="No saved requests">
          Save a request from its tab or the history, or import a file.
        </Empty>
      ) : (
        foldersOf(all).map((folder) => (
          <section key={folder.name} aria-label={folder.name || "No folder"}>
            {folder.name && (
              <h3 class="row">
                {folder.name}
                <IconButton small icon="edit" label={`Edit the folder ${folder.name}`} onClick={() => setFolder(folder)} />
              </h3>
            )}
            <ul class="library-entries">
              {folder.requests.map((one) => (
                <SavedRow key={one.name} one={one} onEdit={() => setEdited(one)} />
              ))}
            </ul>
          </section>
        ))
      )}
      {edited && <EditSaved one={edited} onClose={() => setEdited(undefined)} />}
      {folder && <EditFolder folder={folder} onClose={() => setFolder(undefined)} />}
    </section>
  );
}

function SavedRow({ one, onEdit }: { one: Saved; onEdit: () => void }) {
  const { name, request } = one;
  const remove = (event: Event) => {
    leaveRow(event);
    removeSaved(one);
  };
  return (
    <li class="library-entry">
      <div class="library-line">
        <span class="library-title">
          <GivenName name={name} request={request} />
        </span>
        {name !== titleOf(request) && (
          <span class="library-facts">
            <CallName {...request} />
          </span>
        )}
        <span class="library-acts">
          <Button small look="quiet" icon="play" aria-label={`Send ${name}`} onClick={() => openRequest(request, { run: true, saved: name })}>
            Send
          </Button>
          <IconButton small icon="share" label={`Copy a link to ${name}`} onClick={() => void copyLink(request)} />
          <IconButton small icon="edit" label={`Edit ${name}`} onClick={onEdit} />
          <IconButton small icon="remove" label={`Remove ${name}`} onClick={once(remove)} />
        </span>
        <span class="library-facts">{titleOf(request)}</span>
        <Button small look="quiet" aria-label={`Open ${name} in a tab`} onClick={() => showSaved(name, request)}>
          Open
        </Button>
      </div>
    </li>
  );
}
