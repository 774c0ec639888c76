/** What a request begins with for whoever sends it: with the first of their roles that may call the act. */

import { actOf, type Act, type Catalog, type Place } from "../catalog";
import { own } from "../json";
import { emptyRequest } from "./empty";
import type { ActRequest } from "./request";
import { hiddenIn, roleOf } from "./rights";
import { identities, identityOf } from "./session";

/** `as` is that of a tab. */
export function beginningOf(known: Catalog | null, place: Place, as = ""): ActRequest {
  const spec = known ? actOf(known, place) : undefined;
  const request = inRole(spec, emptyRequest(known, place), as);
  if (spec?.get.kind !== "selection") return request;
  const hidden = hiddenIn(known, spec.get.model, roleOf(as, request, spec));
  return { ...request, get: Object.fromEntries(Object.entries(request.get).filter(([name]) => !hidden.includes(name))) };
}

/** A request in a role of whoever sends it; as it is where it names a role of theirs, or one that nobody here has. */
export function inRole(spec: Act | undefined, request: ActRequest, as: string): ActRequest {
  const roles = identityOf(as)?.session.roles ?? [];
  const fitting = roles.find(({ name }) => !spec?.roles || spec.roles.includes(name));
  if (spec?.role?.in !== "set" || !fitting) return request;
  const given = own(request.set, spec.role.name);
  const isOf = (all: typeof roles) => all.some(({ id }) => id === given);
  const isFree = given === undefined || given === "" || identities.value.some(({ session }) => isOf(session.roles));
  if (!isFree || isOf(roles)) return request;
  return { ...request, set: { [spec.role.name]: fitting.id, ...request.set, ...(given !== undefined && { [spec.role.name]: fitting.id }) } };
}
