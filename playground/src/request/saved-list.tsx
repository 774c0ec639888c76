/** The saved requests, by folder, above the acts. */

import { useState } from "preact/hooks";
import { lazy } from "../lazy";
import { foldersOf, saved, type Folder, type Saved } from "../library/saved";
import { activeTab, showSaved } from "../state";
import { Icon, IconButton } from "../ui";
import { ActMark, GivenName, saidOf } from "./mark";

const EditSaved = lazy(() => import("../library/EditDialog").then((part) => part.EditSaved), "");
const EditFolder = lazy(() => import("../library/EditDialog").then((part) => part.EditFolder), "");

interface Props {
  words: string;
  isFolded: (key: string) => boolean;
  toggle: (key: string) => void;
  onOpen: () => void;
}

export function SavedList({ words, isFolded, toggle, onOpen }: Props) {
  const [edited, setEdited] = useState<Saved>();
  const [folder, setFolder] = useState<Folder>();
  const found = saved.value.filter((one) => fits(one, words));
  return (
    <div role="group" aria-label="Saved requests">
      {foldersOf(found).map((one) => {
        const key = `saved/${one.name}`;
        return (
          <div key={key}>
            <div class="acts-saved">
              <button type="button" class="acts-group" aria-expanded={!isFolded(key)} onClick={() => toggle(key)}>
                <span>{one.name || "Saved"}</span>
                <span class="acts-count">{one.requests.length}</span>
                <Icon name={isFolded(key) ? "right" : "down"} />
              </button>
              {one.name && <IconButton small icon="edit" label={`Edit the folder ${one.name}`} onClick={() => setFolder(one)} />}
            </div>
            {!isFolded(key) && (
              <ul>
                {one.requests.map((each) => (
                  <li key={each.name} class="acts-saved">
                    <button
                      type="button"
                      class={isNow(each.name) ? "acts-act now" : "acts-act"}
                      aria-current={isNow(each.name) || undefined}
                      aria-description={saidOf(each.request.act)}
                      onClick={() => {
                        showSaved(each.name, each.request);
                        onOpen();
                      }}
                    >
                      <ActMark act={each.request.act} />
                      <span>
                        <GivenName name={each.name} request={each.request} />
                      </span>
                    </button>
                    <IconButton small icon="edit" label={`Edit ${each.name}`} onClick={() => setEdited(each)} />
                  </li>
                ))}
              </ul>
            )}
          </div>
        );
      })}
      {edited && <EditSaved one={edited} onClose={() => setEdited(undefined)} />}
      {folder && <EditFolder folder={folder} onClose={() => setFolder(undefined)} />}
    </div>
  );
}

function isNow(name: string): boolean {
  return activeTab.value?.saved.value === name;
}

function fits({ name, folder, request: { model, act } }: Saved, words: string): boolean {
  const text = `${folder} ${name} ${model} ${act}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
