/** The words of commands as a shell reads them: bash and the like, and cmd of Windows. Nothing is run or filled in. */

/** Return the words of each command in a text. */
export function commandsIn(text: string): string[][] {
  return (IS_CMD.test(text) ? wordsOfCmd(text) : wordsOfBash(text)).filter((words) => words.length > 0);
}

/** Stands before the `$` of what a shell would fill in: no text has this character. */
export const FILLED = "\u{f0000}";

/** cmd ends a line that goes on with a caret, and browsers write carets before the quotes, too. */
const IS_CMD = /\^\r?\n|^\s*curl(\.exe)?\s[^\n]*\^"/;

/** One after the other: a comment, a line that goes on, a character, quotes of three kinds, what is there only with a variable, an end, a space, plain text. */
const BASH =
  /(?<=^|[\s;])#[^\n]*|\\\r?\n|\\([\s\S])|'([^']*)'|\$'((?:\\[\s\S]|[^'\\])*)'|"((?:\\[\s\S]|[^"\\])*)"|(\$\{\w+:\+(?:"[^"]*"|[^}"]*)\})|(\r?\n|[;|&]+)|(\s+)|([^\s\\'"$;|&]+|[\s\S])/gy;

function wordsOfBash(text: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const end = () => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (const { index, 0: all, 1: one, 2: single, 3: ansi, 4: double, 5: ifSet, 6: stop, 7: space, 8: plain } of text.matchAll(BASH)) {
    const isFilled = all === "$" && /^[a-z_{(]/i.test(text.slice(index + 1));
    const part = one ?? single ?? (isFilled ? `${FILLED}$` : plain) ?? (ansi === undefined ? double && inDouble(double) : unescaped(ansi));
    if (part !== undefined) word = (word ?? "") + part;
    else if (space !== undefined || stop !== undefined) end();
    if (stop !== undefined) commands.push([]);
    void ifSet; // No word: the variable is not set here.
  }
  end();
  return commands;
}

function inDouble(text: string): string {
  return text.replace(/\\\r?\n|\\([$`"\\])|\$(?=[a-z_{(])/gi, (all, one = "") => (all === "$" ? `${FILLED}$` : one));
}

const ANSI: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", a: "\x07", e: "\x1b" };
const BYTES = /(?:\\x[0-9a-f]{1,2})+/gi;
const ESCAPE = /\\(?:u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|([0-7]{1,3})|([\s\S]))/gi;

/** What stands between `$'` and `'`. */
function unescaped(text: string): string {
  const codes = (run: string) => Uint8Array.from(run.split("\\x").slice(1), (code) => parseInt(code, 16));
  const named = text.replace(/\\\\|(?:\\x[0-9a-f]{1,2})+/gi, (run) => (BYTES.test(run) ? new TextDecoder().decode(codes(run)) : run));
  return named.replace(ESCAPE, (_, short?: string, long?: string, octal?: string, plain = "") => {
    if (short ?? long) return String.fromCodePoint(Math.min(parseInt(short ?? long ?? "", 16), 0x10ffff));
    return octal ? String.fromCharCode(parseInt(octal, 8)) : (ANSI[plain] ?? plain);
  });
}

function wordsOfCmd(text: string): string[][] {
  // Without carets before quotes those within them are plain characters.
  const plain = text.includes('^"') ? text.replace(/\^(?:\r?\n)?([\s\S])/g, "$1") : text.replace(/\^\r?\n/g, " ");
  const commands: string[][] = [[]];
  for (const [, stop, word] of plain.matchAll(/(\r?\n|&+)|((?:"(?:\\[\s\S]|""|[^"\\])*"?|[^\s"&])+)|\s/g)) {
    if (stop !== undefined) commands.push([]);
    if (word !== undefined) commands.at(-1)?.push(unquoted(word));
  }
  return commands;
}

function unquoted(word: string): string {
  return word.replace(/"((?:\\[\s\S]|""|[^"\\])*)"?/g, (_, inner: string) => inner.replace(/\\(["\\])|""/g, (pair) => pair.slice(-1)));
}
