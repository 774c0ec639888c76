/** What can be done with a request beside sending it, and what it is saved as. */

import { useEffect, useState } from "preact/hooks";
import { isAsSaved, isChangedElsewhere, noteSaved, saved, saveRequest, type Saved } from "../library/saved";
import { lazy } from "../lazy";
import { firstDraft, reasonNot, resetTab, type Tab } from "../state";
import { Button, Icon, Menu, notify } from "../ui";

const SaveDialog = lazy(() => import("../library/SaveDialog").then((part) => part.SaveDialog), "");
const ChangedDialog = lazy(() => import("../library/ChangedDialog").then((part) => part.ChangedDialog), "");

/** The saved request of a tab; undefined where it is none, or was removed. */
function savedOf(tab: Tab): Saved | undefined {
  return saved.value.find(({ name }) => name === tab.saved.value);
}

/** Whether a tab's saved request was changed in it. */
export function isChanged(tab: Tab): boolean {
  const one = savedOf(tab);
  return one !== undefined && (firstDraft(tab.drafts.value) !== undefined || !isAsSaved(tab.request.value, one));
}

export function SavedAs({ tab }: { tab: Tab }) {
  const one = savedOf(tab);
  if (!one) return null;
  return (
    <p class="request-saved small muted">
      <Icon name="save" />
      <span>
        <span class="sr-only">Saved as </span>
        {[one.folder, one.name].filter(Boolean).join(" / ")}
        {isChanged(tab) && <em> · changed</em>}
      </span>
    </p>
  );
}

function update(tab: Tab, one: Saved): void {
  const { name, folder, request } = one;
  const refused = saveRequest(tab.request.value, name, folder);
  const undo = () => {
    saveRequest(request, name, folder);
    noteSaved(tab, one);
  };
  noteSaved(tab, { name, request: tab.request.value });
  notify(refused ? `Updated only until the page closes: ${refused}.` : `“${name}” updated.`, { bad: refused !== "", undo });
}

export function RequestMenu({ tab }: { tab: Tab }) {
  const [isSaving, setSaving] = useState(false);
  const request = tab.request.value;
  const one = savedOf(tab);
  const disabled = reasonNot(tab.drafts.value) !== "";
  const isCode = tab.shown.value === "code";
  const [isAsking, setAsking] = useState(false);
  const save = () => {
    if (!one) setSaving(true);
    else if (isChangedElsewhere(tab, one)) setAsking(true);
    else update(tab, one);
  };
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      if (!disabled) save();
    };
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  });
  const share = async () => (await import("../library/share")).copyLink(request);
  const addStep = async () => (await import("../reply/values")).addToSequence(request, tab.files.value.size > 0);
  return (
    <>
      <Button
        small
        look="quiet"
        icon="code"
        disabled={disabled && !isCode}
        aria-pressed={isCode}
        title="The request as code, in the place of the reply"
        onClick={() => void (tab.shown.value = isCode ? "tree" : "code")}
      >
        Code
      </Button>
      <Button small look="quiet" icon="save" disabled={disabled || (one && isAsSaved(request, one))} title={one ? `Save over “${one.name}” (Ctrl+S)` : "Save (Ctrl+S)"} onClick={save}>
        {one ? "Update" : "Save"}
      </Button>
      <Menu
        label="More"
        icon="more"
        iconOnly
        items={[
          ...(one ? [{ label: "Save as new", icon: "save" as const, disabled, onSelect: () => setSaving(true) }] : []),
          { label: "Share", icon: "share", disabled, onSelect: () => void share() },
          { label: "Add to a sequence", icon: "list", disabled, onSelect: () => void addStep() },
          { label: "Reset", icon: "history", onSelect: () => resetTab(tab) },
        ]}
      />
      {isSaving && <SaveDialog request={request} from={one} onSaved={(name) => noteSaved(tab, { name, request: tab.request.value })} onClose={() => setSaving(false)} />}
      {isAsking && one && (
        <ChangedDialog tab={tab} theirs={one} onReplace={() => update(tab, one)} onSaveAsNew={() => setSaving(true)} onClose={() => setAsking(false)} />
      )}
    </>
  );
}
