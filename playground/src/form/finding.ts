/** What is loaded for ids of documents when it is shown: the dialog that finds them, and stored files. */

import { lazy } from "../lazy";

export const Picker = lazy(() => import("./picker").then((part) => part.Picker), "");
/** The stored file whose id is in a field. */
export const FileOfId = lazy(() => import("../linked/of-id").then((part) => part.FileOfId), "");
/** One of many choices. */
export const Combobox = lazy(() => import("./combobox").then((part) => part.Combobox), "");
