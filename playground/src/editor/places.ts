/** Where in a JSON text the values are, by path; and at which path a position is. */

import { ensureSyntaxTree, syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";

export interface Place {
  from: number;
  to: number;
}

/** What reading a text to its end may take, in milliseconds; what is behind has no place then. */
const MOST_MS = 200;

/** The places of all values, by path; that of the whole is under "". */
export function placesOf(state: EditorState): Map<string, Place> {
  const places = new Map<string, Place>();
  const visit = (node: SyntaxNode, path: string): void => {
    places.set(path, { from: node.from, to: node.to });
    const below = (name: string) => (path ? `${path}.${name}` : name);
    if (node.name === "Object")
      for (const property of node.getChildren("Property")) {
        const value = property.lastChild;
        const name = nameOf(state, property);
        if (value && name !== undefined && value.name !== "PropertyName") visit(value, below(name));
      }
    else if (node.name === "Array") valuesOf(node).forEach((value, index) => visit(value, below(String(index))));
  };
  const tree = ensureSyntaxTree(state, state.doc.length, MOST_MS) ?? syntaxTree(state);
  const top = tree.topNode.firstChild;
  if (top) visit(top, "");
  return places;
}

/** The place of a path, or of the nearest above it. */
export function placeOf(places: Map<string, Place>, path: string): Place {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const place = places.get(at);
    if (place) return place;
    if (at === "") return { from: 0, to: 0 };
  }
}

const VALUES = ["Object", "Array", "String", "Number", "True", "False", "Null"];

function valuesOf(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) if (VALUES.includes(child.name)) found.push(child);
  return found;
}

export function nameOf(state: EditorState, property: SyntaxNode): string | undefined {
  const name = property.getChild("PropertyName");
  if (!name) return undefined;
  try {
    return String(JSON.parse(state.sliceDoc(name.from, name.to)));
  } catch {
    return undefined;
  }
}

/** The path of the value that a node is, or is within. */
export function pathOf(state: EditorState, node: SyntaxNode): string[] {
  const path: string[] = [];
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    const parent: SyntaxNode | null = at.parent;
    if (at.name === "Property") path.unshift(nameOf(state, at) ?? "");
    else if (parent?.name === "Array") {
      const { from } = at;
      path.unshift(String(Math.max(0, valuesOf(parent).findIndex((value) => value.from === from))));
    }
  }
  return path;
}
