/** Asks what is to become of a saved request that another browser tab has changed meanwhile. */

import { remember, type Tab } from "../state";
import { Button, Dialog, notify } from "../ui";
import { noteSaved, type Saved } from "./saved";

interface Props {
  tab: Tab;
  /** As it is saved now. */
  theirs: Saved;
  onReplace: () => void;
  onSaveAsNew: () => void;
  onClose: () => void;
}

export function ChangedDialog({ tab, theirs, onReplace, onSaveAsNew, onClose }: Props) {
  const take = () => {
    notify("The saved request is shown.", { undo: remember(tab) });
    tab.drafts.value = new Map();
    tab.request.value = theirs.request;
    noteSaved(tab, theirs);
  };
  const then = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <Dialog
      title="Changed in another browser tab"
      onClose={onClose}
      actions={
        <>
          <Button onClick={then(take)}>Show the saved one</Button>
          <Button data-focus onClick={then(onSaveAsNew)}>
            Save as new
          </Button>
          <Button look="danger" onClick={then(onReplace)}>
            Replace it
          </Button>
        </>
      }
    >
      <p>
        “{theirs.name}” has been changed since it was opened here. What is written here is not saved yet.
      </p>
    </Dialog>
  );
}
