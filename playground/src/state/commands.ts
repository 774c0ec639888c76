/** What the palette offers. */

export interface Command {
  label: string;
  /** Said in small beside it, such as the kind of thing. */
  hint?: string;
  /** The heading under which it stands, after acts and models: "Actions" unless said. */
  group?: "Acts" | "Models" | "Views";
  /** The act that it shows, where it shows one. */
  act?: string;
  run: () => void;
}

const sources: (() => Command[])[] = [];

/** Add a source that is asked each time the palette opens. */
export function addCommands(source: () => Command[]): void {
  sources.push(source);
}

export function allCommands(): Command[] {
  return sources.flatMap((source) => source());
}
