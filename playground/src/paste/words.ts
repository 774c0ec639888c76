/** The words of commands as a shell reads them: bash and the like, and cmd of Windows. Nothing is run or filled in. */

import { Unreadable } from "../library/reading";

export interface Command {
  words: string[];
  /** What it reads as its input: of a here-document, or of a command before it; undefined where that is not known. */
  input?: string | undefined;
}

/** Return the commands in a text. Throws `Unreadable` where a quote is not closed. */
export function commandsIn(text: string): Command[] {
  const commands = IS_CMD.test(text) ? wordsOfCmd(text).map((words) => ({ words })) : new Bash(text).read();
  return commands.filter(({ words }) => words.length > 0);
}

/** Stands before the `$` of what a shell would fill in: no text has this character. */
export const FILLED = "\u{f0000}";

/** cmd ends a line that goes on with a caret, and browsers write carets before the quotes, too. */
const IS_CMD = /\^\r?\n|^\s*curl(\.exe)?\s[^\n]*\^"/;

/** A text that `cat` gives within a word; its last line is the name that it begins with. */
const CAT = /"?\$\(\s*cat\s*<<-?[ \t]*(['"\\]?)([\w.-]+)['"]?[ \t]*\r?\n([\s\S]*?)\r?\n[ \t]*\2[ \t]*\r?\n?[ \t]*\)"?/g;

/** One after the other: a comment, a line that goes on, and what its groups are called. */
const BASH =
  /(?<=^|[\s;])#[^\n]*|\\\r?\n|\\(?<one>[\s\S])|'(?<single>[^']*)'|\$'(?<ansi>(?:\\[\s\S]|[^'\\])*)'|"(?<double>(?:\\[\s\S]|[^"\\])*)"|(?<ifSet>\$\{\w+:\+(?:"[^"]*"|[^}"]*)\})|\$\((?<output>[^)]*)\)|`(?<ticks>[^`]*)`|(?<hereText><<<)|<<-?[ \t]*(?:'(?<quoted>[^'\n]+)'|"(?<quoted2>[^"\n]+)"|(?<slash>\\?)(?<end>[\w.-]+))|(?<stop>\r?\n|[;|&]+)|(?<space>\s+)|(?<plain>[^\s\\'"$;|&<`]+|[\s\S])/gy;

interface Here {
  of: Command;
  end: string;
  isQuoted: boolean;
}

/** Reads a text once. */
class Bash {
  private readonly commands: (Command & { from?: Command })[] = [{ words: [] }];
  private readonly waiting: Here[] = [];
  private word: string | undefined;
  private isInput = false;
  private readonly text: string;

  constructor(text: string) {
    this.text = text.replace(CAT, (_, quote: string, _end, inner: string) => `'${(quote ? inner : inDouble(inner, true)).replaceAll("'", "'\\''")}'`);
  }

  read(): Command[] {
    const bash = new RegExp(BASH);
    for (let found = bash.exec(this.text); found?.[0]; found = bash.exec(this.text)) {
      const { groups = {}, index, 0: all } = found;
      const { hereText, quoted = groups.quoted2, end, slash, stop, space } = groups;
      const part = this.partOf(groups, all, index);
      if (part !== undefined) this.word = (this.word ?? "") + part;
      else if (space !== undefined || stop !== undefined) this.endWord();
      if (hereText) this.isInput = true;
      if (quoted ?? end) this.waiting.push({ of: this.now(), end: quoted ?? end ?? "", isQuoted: Boolean(quoted || slash) });
      if (stop !== undefined) this.commands.push({ words: [], ...(stop === "|" && { from: this.now() }) });
      if (stop?.endsWith("\n")) for (const one of this.waiting.splice(0)) bash.lastIndex = this.feed(one, bash.lastIndex);
    }
    this.endWord();
    for (const one of this.commands) one.input ??= one.from && outputOf(one.from);
    return this.commands;
  }

  private now(): Command {
    return this.commands.at(-1) as Command;
  }

  /** What a token adds to a word; undefined for nothing. */
  private partOf({ one, single, ansi, double, output, ticks, plain }: Record<string, string | undefined>, all: string, index: number): string | undefined {
    if ((all === "'" || all === '"') && /\bcurl\b/.test(this.text)) throw new Unreadable(`The quote ${all} ${placeIn(this.text, index)} is not closed`);
    if (output !== undefined || ticks !== undefined) return `${FILLED}$(${output ?? ticks})`;
    if (all === "$" && /^[a-z_{(]/i.test(this.text.slice(index + 1))) return `${FILLED}$`;
    return one ?? single ?? plain ?? (ansi === undefined ? double && inDouble(double) : unescaped(ansi));
  }

  private endWord(): void {
    if (this.word === undefined) return;
    if (this.isInput) this.now().input = this.word;
    else this.now().words.push(this.word);
    this.isInput = false;
    this.word = undefined;
  }

  /** Take the lines of a here-document; return where they end. */
  private feed({ of, end, isQuoted }: Here, from: number): number {
    const lines = this.text.slice(from).split("\n");
    const last = lines.findIndex((line) => line.trim() === end);
    const inner = lines.slice(0, last < 0 ? lines.length : last).join("\n");
    of.input = isQuoted ? inner : inDouble(inner, true);
    return last < 0 ? this.text.length : from + lines.slice(0, last + 1).join("\n").length;
  }
}

/** What a command gives to the next one, for those that people put before curl. */
function outputOf({ words: [name = "", ...rest], input }: Command): string | undefined {
  if (name === "cat") return rest.length ? undefined : input;
  return /^(echo|printf)$/.test(name) ? rest.filter((word) => !/^(-[neE]+|%s(\\n)?)$/.test(word)).join(" ") : undefined;
}

/** `at line 2, column 5`. */
function placeIn(text: string, index: number): string {
  const lines = text.slice(0, index).split("\n");
  return `at line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}

/** What stands between double quotes; in a here-document, where quotes are plain, `isHere`. */
function inDouble(text: string, isHere = false): string {
  const read = (all: string, one?: string, ticks?: string): string =>
    one ? (isHere && one === '"' ? all : one) : ticks === undefined ? `${FILLED}$` : `${FILLED}$(${ticks})`;
  return text.replaceAll(/\\\r?\n/g, "").replace(/\\([$`"\\])|`([^`]*)`|\$(?=[a-z_{(])/gi, read);
}

const ANSI: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", a: "\x07", e: "\x1b" };
const BYTE = /\\(?:x([\da-fA-F]{1,2})|([0-7]{1,3}))/g;
const ESCAPE = /((?:\\x[\da-fA-F]{1,2}|\\[0-7]{1,3})+)|\\(?:u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([\s\S]))/g;

/** What stands between `$'` and `'`. */
function unescaped(text: string): string {
  const decode = (run: string) =>
    new TextDecoder().decode(Uint8Array.from(run.matchAll(BYTE), ([, hex, octal = ""]) => (hex ? parseInt(hex, 16) : parseInt(octal, 8))));
  return text.replace(ESCAPE, (_, bytes?: string, short?: string, long?: string, plain = "") => {
    if (bytes) return decode(bytes);
    if (short ?? long) return String.fromCodePoint(Math.min(parseInt(short ?? long ?? "", 16), 0x10ffff));
    return ANSI[plain] ?? plain;
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
