/** Values whose kind or keys are not known, loaded when they are shown. */

import { lazy } from "../lazy";

export const AnyField = lazy(() => import("./any").then((part) => part.AnyField), "");
export const MappingField = lazy(() => import("./mapping").then((part) => part.MappingField), "");
