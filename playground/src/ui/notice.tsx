/** Short notes at the corner, read out by screen readers; and copying. */

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Button, IconButton } from "./button";

interface Note {
  id: number;
  text: string;
  bad: boolean;
  undo: (() => void) | undefined;
  show: (() => void) | undefined;
  heard: boolean;
  about: string;
  /** How often it was told while it is shown. */
  times: number;
}
const notes = signal<Note[]>([]);
let lastId = 0;

const SHORT = 4000;
/** Of a note with a button: there must be time to reach it. */
const LONG = 12_000;

interface NoteOptions {
  bad?: boolean;
  /** Takes back what the note tells. */
  undo?: () => void;
  /** Leads to what the note tells of. */
  show?: () => void;
  /** Whether it takes long to read. */
  lasts?: boolean;
  /** Only read out: the page shows the same. */
  heard?: boolean;
  /** What it is about: it takes the place of an earlier note about that, and goes with `closeNotes`. */
  about?: string;
}

/** Show a note for a few seconds, longer where it has a button; the same one without a button counts. */
export function notify(text: string, { bad = false, undo, show, lasts, heard = false, about = "" }: NoteOptions = {}): void {
  const id = ++lastId;
  if (about) closeNotes(about);
  const isSame = (note: Note): boolean => note.text === text && !(note.undo || note.show || undo || show);
  const times = (notes.value.find(isSame)?.times ?? 0) + 1;
  const others = notes.value.filter((note) => !isSame(note));
  notes.value = [...others.slice(-2), { id, text, bad, undo, show, heard, about, times }];
  setTimeout(() => close(id), undo || show || lasts ? LONG : SHORT);
}

export function closeNotes(about: string): void {
  if (notes.value.some((note) => note.about === about)) notes.value = notes.value.filter((note) => note.about !== about);
}

function close(id: number): void {
  notes.value = notes.value.filter((note) => note.id !== id);
}

/** The dialog that is open, or null for the page: the rest of the page cannot be clicked, so the notes stand in it. */
export const noticesIn = signal<object | null>(null);

export function Notices({ within = null }: { within?: object | null }) {
  if (noticesIn.value !== within) return null;
  return (
    <div class="notices" role="status" aria-live="polite">
      {notes.value.map(({ id, text, bad, undo, show, heard, times }) => (
        <p key={id} class={heard ? "sr-only" : bad ? "notice bad" : "notice"}>
          {text}
          {times > 1 && ` ×${times}`}
          {Object.entries({ Undo: undo, Show: show }).map(([label, run]) =>
            run ? (
              <button
                type="button"
                key={label}
                onClick={() => {
                  close(id);
                  run();
                }}
              >
                {label}
              </button>
            ) : null,
          )}
        </p>
      ))}
    </div>
  );
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // There is no clipboard on plain http.
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr-only";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

export interface CopyProps {
  /** What is copied; a function when it is made only then. */
  text: string | (() => string);
  label?: string;
  iconOnly?: boolean;
  small?: boolean;
}

export function CopyButton({ text, label = "Copy", iconOnly, small = true }: CopyProps) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    const worked = await copyText(typeof text === "function" ? text() : text);
    notify(worked ? "Copied." : "The browser blocked copying.", { bad: !worked });
    setDone(worked);
    setTimeout(() => setDone(false), 1500);
  };
  const icon = done ? "check" : "copy";
  return iconOnly ? (
    <IconButton icon={icon} label={label} small={small} onClick={copy} />
  ) : (
    <Button icon={icon} small={small} onClick={copy}>
      {label}
    </Button>
  );
}

/** Give the user a text, or what was sent, as a file. */
export function saveFile(name: string, content: string | Blob, type = "application/json"): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
