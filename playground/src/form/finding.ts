/** The dialog that finds ids of documents, loaded when it opens. */

import { lazy } from "../lazy";

export const Picker = lazy(() => import("./picker").then((part) => part.Picker), "");
