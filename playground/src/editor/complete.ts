/** Completion: the keys that an object may still have, the values that a key takes. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { SyntaxNode } from "@lezer/common";
import type { Catalog, Kind } from "../catalog";
import { nameOfKind } from "../form";
import { stringify } from "../json";
import { plainText } from "../library/words";
import { activeTab, emptyValue, hiddenIn, identityOf, ROLE, roleOf, specOf, type Role } from "../state";
import { choicesOf, keysOf, kindAt } from "./kinds";
import { nameOf, pathOf } from "./places";

export function completer(catalog: Catalog, kind: () => Kind | undefined) {
  return (context: CompletionContext): CompletionResult | null => {
    const node = syntaxTree(context.state).resolveInner(context.pos, -1);
    const value = valueAt(context, node);
    if (value?.path.at(-1) === ROLE) return valueOptions(context, value.from, roles().map(({ id }) => id), roles().map(({ name }) => name));
    if (value) return valueOptions(context, value.from, choicesOf(kindAt(catalog, kind(), value.path)));
    const object = objectAround(node);
    if (!object) return null;
    const from = node.name === "PropertyName" ? node.from : (context.matchBefore(/"?[\w$]*/)?.from ?? context.pos);
    if (from === context.pos && !context.explicit) return null;
    const part = kindAt(catalog, kind(), pathOf(context.state, object));
    const keys = keysOf(catalog, part);
    const isHidden = hider(catalog, part);
    const present = object.getChildren("Property").map((property) => nameOf(context.state, property));
    const here = context.state.sliceDoc(from, context.pos).replaceAll('"', "");
    const isNew = node.name !== "PropertyName" || node.parent?.getChild(":") === null;
    const to = node.name === "PropertyName" ? node.to : context.pos;
    const options = Object.entries(keys ?? {})
      .filter(([name, inner]) => name === here || !(present.includes(name) || isHidden(name, inner)))
      .map(([name, inner]) => keyOption(name, inner, isNew && !hasColon(context, to)));
    return { from, to, options, validFor: /^"?[\w$]*"?$/ };
  };
}

/** Return whether a name of a selection is hidden from whoever the open request is sent as: there is no use in asking for it. */
function hider(catalog: Catalog, part: Kind | undefined): (name: string, kind: Kind) => boolean {
  const tab = activeTab.value;
  const role = tab && roleOf(tab.as.value, tab.request.value, specOf(tab.request.value));
  if (part?.kind !== "selection") return () => false;
  const hidden = hiddenIn(catalog, part.model, role);
  return (name, kind) => hidden.includes(name) || (kind.kind === "selection" && hiddenIn(catalog, kind.model, role).includes("_id"));
}

function hasColon(context: CompletionContext, at: number): boolean {
  return /^\s*:/.test(context.state.sliceDoc(at, at + 20));
}

function keyOption(name: string, kind: Kind, withValue: boolean): Completion {
  const key = JSON.stringify(name);
  return {
    label: key,
    displayLabel: name,
    detail: nameOfKind(kind),
    type: "property",
    boost: kind.presence === "required" ? 1 : 0,
    ...(kind.description ? { info: plainText(kind.description) as string } : {}),
    apply: withValue ? `${key}: ${stringify(firstValue(kind))}` : key,
  };
}

function firstValue(kind: Kind): unknown {
  return kind.kind === "selection" || (kind.kind === "enums" && kind.choices.includes(1)) ? 1 : emptyValue(kind);
}

/** Where a value is or would be written: after the colon, or in a list. */
function valueAt(context: CompletionContext, node: SyntaxNode): { from: number; path: string[] } | null {
  const isValue = ["String", "Number", "True", "False", "Null"].includes(node.name);
  if (isValue) return { from: node.from, path: pathOf(context.state, node) };
  const property = node.name === "Property" ? node : node.parent?.name === "Property" && node.name !== "PropertyName" ? node.parent : null;
  if (!property) return null;
  const before = context.state.sliceDoc(property.from, context.pos);
  if (!before.includes(":") || (!context.explicit && !context.matchBefore(/[\w"]+/))) return null;
  return { from: context.matchBefore(/"?\w*/)?.from ?? context.pos, path: pathOf(context.state, property) };
}

/** Those of whoever the open request is sent as. */
function roles(): Role[] {
  return identityOf(activeTab.value?.as.value ?? "")?.session.roles ?? [];
}

function valueOptions(context: CompletionContext, from: number, choices: unknown[], names: string[] = []): CompletionResult | null {
  if (!choices.length) return null;
  const node = syntaxTree(context.state).resolveInner(context.pos, -1);
  const to = node.from === from && node.name === "String" ? node.to : context.pos;
  return { from, to, options: choices.map((choice, at) => ({ label: stringify(choice), detail: names[at], type: "constant" })) };
}

function objectAround(node: SyntaxNode): SyntaxNode | null {
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    if (at.name === "Object") return at;
    if (at.name === "Array" || at.name === "String") return null;
  }
  return null;
}
