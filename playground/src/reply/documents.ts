/** Which documents the ids in a reply are of, and the acts that get one by its id. */

import { allActs, linksOf, modelOf, type Catalog, type Json, type Kind, type PlacedAct } from "../catalog";
import { own } from "../json";
import { beginningOf, catalog, type ActRequest } from "../state";

export type Path = readonly (string | number)[];

const ID = /^[0-9a-f]{24}$/;

/** What opens the document whose id stands at a path of a reply; undefined where no act gets one, or it is no id. */
export function openerOf(returns: Kind, value: Json, path: Path, who: string): { act: string; request: ActRequest } | undefined {
  const known = catalog.value;
  if (!known || typeof value !== "string" || !ID.test(value) || path[0] !== "body") return undefined;
  const model = modelAt(known, returns, path.slice(1));
  const found = model === undefined ? undefined : getterOf(known, model);
  if (!found) return undefined;
  const { placed, name } = found;
  const beginning = beginningOf(known, placed, who);
  return { act: placed.act, request: { ...beginning, set: { ...beginning.set, [name]: value } } };
}

/** The model that an id at a path below what an act returns is of. */
export function modelAt(known: Catalog, kind: Kind | undefined, path: Path): string | undefined {
  if (!kind) return undefined;
  const [step, ...rest] = path;
  if (kind.kind === "documents") return inDocument(known, kind.model, kind.type === "many" ? rest : path);
  if (step === undefined) return kind.kind === "object_id" ? kind.of : undefined;
  if (kind.kind === "array") return modelAt(known, kind.items, rest);
  return kind.kind === "object" ? modelAt(known, own(kind.fields ?? {}, step), rest) : undefined;
}

function inDocument(known: Catalog, model: string, [step, ...rest]: Path): string | undefined {
  if (step === undefined) return undefined;
  if (step === "_id") return model;
  const link = own(linksOf(known, model), step);
  if (link) return inDocument(known, link.model, typeof rest[0] === "number" ? rest.slice(1) : rest);
  return modelAt(known, own(modelOf(known, model)?.fields ?? {}, step), rest);
}

/** The act that gets one document of a model by its id, and the name of the field that takes the id. */
function getterOf(known: Catalog, model: string): { placed: PlacedAct; name: string } | undefined {
  const found = allActs(known).flatMap((placed) => {
    const { set, returns, role } = placed.spec;
    if (!placed.act.startsWith("get") || returns.kind !== "documents" || returns.type === "many" || returns.model !== model) return [];
    if (set.kind !== "object") return [];
    const needed = Object.entries(set.fields ?? {}).filter(([field, kind]) => kind.presence === "required" && field !== role?.name);
    const [[name, kind] = []] = needed;
    return needed.length === 1 && name !== undefined && kind?.kind === "object_id" ? [{ placed, name }] : [];
  });
  return found.find(({ placed }) => placed.model === model) ?? found[0];
}
