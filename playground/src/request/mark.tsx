/** What an act seems to do, judged by its name: a letter and a colour. */

const MARKS = [
  { look: "read", letter: "R", title: "reads", verb: /^(get|list|find|count|search|read)(?![a-z])/ },
  { look: "remove", letter: "D", title: "removes", verb: /^(remove|delete|purge|clear)(?![a-z])/ },
  { look: "write", letter: "W", title: "writes", verb: /^(add|create|update|set|put|save|move|import)(?![a-z])/ },
] as const;

/** A hint for the eye only: the name beside it says the same, and other names have an empty place. */
export function ActMark({ act }: { act: string }) {
  const mark = MARKS.find(({ verb }) => verb.test(act));
  return (
    <span
      class={mark ? `act-mark ${mark.look}` : "act-mark"}
      data-letter={mark?.letter}
      title={mark && `By its name it ${mark.title}`}
      aria-hidden="true"
    />
  );
}
