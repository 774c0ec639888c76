/** CodeMirror in a shadow root: its style sheets are constructed there, which the page's policy allows. */

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { forceLinting, lintGutter, linter, lintKeymap, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Catalog, Kind } from "../catalog";
import { parse, twiceIn, twiceText } from "../json";
import { completer } from "./complete";
import { check } from "./kinds";
import { placeOf, placesOf } from "./places";

export interface PathError {
  path: string;
  texts: readonly string[];
}

export interface Options {
  label: string;
  text: string;
  readOnly: boolean;
  catalog: Catalog | null;
  /** Those in force when asked: they change while the editor stays. */
  kind: () => Kind | undefined;
  errors: () => readonly PathError[];
  onChange: (text: string) => void;
}

export interface Handle {
  setText: (text: string) => void;
  /** Ask for kind and errors again. */
  relint: () => void;
  focus: () => void;
  destroy: () => void;
}

export function mount(host: HTMLElement, options: Options): Handle {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  let isOurs = false;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        ...extensions(options),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isOurs) options.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText(text) {
      if (text === view.state.doc.toString()) return;
      isOurs = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      isOurs = false;
    },
    relint: () => forceLinting(view),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function extensions(options: Options) {
  const { catalog, kind } = options;
  return [
    lineNumbers(),
    foldGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSpecialChars(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    json(),
    syntaxHighlighting(COLOURS),
    LOOK,
    EditorView.lineWrapping,
    EditorView.domEventHandlers({ keydown: deleteSelection }),
    EditorView.contentAttributes.of({ "aria-label": options.label }),
    EditorState.readOnly.of(options.readOnly),
    EditorState.tabSize.of(2),
    ...(options.readOnly ? [] : [lintGutter(), linter((view) => problems(view, options), { delay: 300 })]),
    ...(catalog ? [autocompletion({ override: [completer(catalog, kind)], icons: false })] : []),
    keymap.of([
      ...closeBracketsKeymap,
      // Mod-Enter sends the request; Tab leaves the editor.
      ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"),
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ];
}

/**
 * Delete a selection before something is typed over it. Chromium would keep the style of what it deletes
 * in an attribute, which the page's policy forbids and the console tells.
 */
function deleteSelection(event: KeyboardEvent, view: EditorView): boolean {
  const types = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
  if (types && !view.state.selection.main.empty && !view.state.readOnly)
    view.dispatch(view.state.replaceSelection(""), { userEvent: "delete.selection" });
  return false;
}

const parseProblems = jsonParseLinter();

function problems(view: EditorView, { catalog, kind, errors }: Options): Diagnostic[] {
  const broken = parseProblems(view);
  if (broken.length) return broken;
  const twice = twiceIn(view.state.doc.toString());
  if (twice) return [{ from: twice.from, to: twice.to, severity: "error", message: twiceText(twice) }];
  const places = placesOf(view.state);
  const described = kind();
  const value = parse(view.state.doc.toString());
  const ours = catalog && described ? check(catalog, described, value, "") : [];
  return [
    ...ours.map(({ path, text }): Diagnostic => ({ ...first(view, placeOf(places, path)), severity: "warning", message: text })),
    ...errors().map(({ path, texts }): Diagnostic => ({
      ...first(view, placeOf(places, path)),
      severity: "error",
      message: texts.join(" "),
      source: "server",
    })),
  ];
}

/** The first line of a place: a whole object underlined says nothing. */
function first(view: EditorView, { from, to }: { from: number; to: number }): { from: number; to: number } {
  return { from, to: Math.min(to, view.state.doc.lineAt(from).to) };
}

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-key)" },
  { tag: tags.string, color: "var(--code-text)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: [tags.bool, tags.null], color: "var(--code-word)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const LOOK = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--ground)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  // Of the content, not of what is around it: a click below the last line is one into the text.
  ".cm-content, .cm-gutter": { minHeight: "160px" },
  ".cm-content": { caretColor: "var(--text)", paddingBlock: "8px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--text-2)", borderRight: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent) !important",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-ground)", outline: "1px solid var(--accent)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--ground-3)", color: "var(--text-2)", border: "0" },
  ".cm-panels": { backgroundColor: "var(--ground-2)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-textfield": { backgroundColor: "var(--ground)", border: "1px solid var(--line-strong)" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--raised)", border: "1px solid var(--line-strong)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-ground)",
    color: "var(--text)",
  },
  ".cm-completionDetail": { color: "var(--text-2)", fontStyle: "normal" },
  ".cm-diagnostic": { fontFamily: "var(--font)", fontSize: "13px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-lint-marker": { width: "9px", height: "9px", margin: "3px 1px", borderRadius: "50%" },
  ".cm-lint-marker-error": { content: "normal", backgroundColor: "var(--bad)" },
  ".cm-lint-marker-warning": { content: "normal", backgroundColor: "var(--warn)", borderRadius: "2px" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1px" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn) 1px" },
});
