/** What policies let a caller see, and acts let them call, as far as the page knows: the service decides. */

import { modelOf, type Act, type Catalog, type Rights } from "../catalog";
import { own } from "../json";
import type { ActRequest } from "./request";
import { identityOf, tokenOf } from "./session";

/** The name of a role; null is nobody signed in, undefined one that is not known. */
export type RoleName = string | null | undefined;

/** In which role somebody calls, by the `as` of a tab: that of the request, else their first one. */
export function roleOf(as: string, request?: ActRequest, spec?: Act): RoleName {
  if (!tokenOf(as)) return null;
  const roles = identityOf(as)?.session.roles ?? [];
  const named = request && spec?.role?.in === "set" ? own(request.set, spec.role.name) : undefined;
  return (roles.find(({ id }) => id === named) ?? roles[0])?.name;
}

/** What policies say of a model to a role; undefined where they say nothing, or the role is not known. */
export function rightsOf(known: Catalog | null, model: string, role: RoleName): Rights | undefined {
  return known ? modelOf(known, model)?.rights?.find((one) => one.role === role) : undefined;
}

/** The names of a model that a role sees in no document: all of them where it sees none. */
export function hiddenIn(known: Catalog | null, model: string, role: RoleName): readonly string[] {
  const rights = rightsOf(known, model, role);
  const found = known && modelOf(known, model);
  if (found && rights?.sees === false) return [...Object.keys(found.fields), ...Object.keys(found.links)];
  return rights?.hidden.filter((name) => !rights.own.includes(name)) ?? [];
}

/** Whether somebody in a role may call an act; undefined where that is not known. */
export function mayCall({ access, roles }: Act, role: RoleName): boolean | undefined {
  if (access !== "rule") return true;
  if (role === null || roles === null) return role !== null;
  return role === undefined ? undefined : roles.includes(role);
}
