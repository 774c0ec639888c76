/** A button that lets the user choose a file and gives its text. */

import { useRef } from "preact/hooks";
import { Button } from "../ui";
import { textOf } from "./files";
import { Unreadable } from "./reading";

export interface FileButtonProps {
  children: string;
  /** Among others that are as small and have no border. */
  quiet?: boolean;
  /** May throw `Unreadable`. */
  onText: (text: string) => void;
  /** Gets what is wrong with the file; empty when nothing is. */
  onProblem: (problem: string) => void;
}

export function FileButton({ children, quiet = false, onText, onProblem }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  const read = async (element: HTMLInputElement) => {
    const file = element.files?.[0];
    element.value = ""; // so that the same file can be chosen again
    if (!file) return;
    try {
      onText(await textOf(file));
      onProblem("");
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      onProblem(`${file.name} was not imported. ${error.message}.`);
    }
  };
  return (
    <>
      <Button icon="upload" small={quiet} look={quiet ? "quiet" : undefined} onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        aria-label={children}
        hidden
        onChange={(event) => void read(event.currentTarget)}
      />
    </>
  );
}
