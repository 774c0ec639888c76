// Compile each schema of some documents by itself, in strict mode: only what is referred to would be compiled.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";

for (const file of process.argv.slice(2)) {
  const document = JSON.parse(readFileSync(`${file}.json`, "utf8"));
  const ajv = new Ajv2020.default({ strict: true, strictTypes: true, strictTuples: true });
  formats.default(ajv);
  ajv.addSchema(document, "document");
  for (const name of ["", ...Object.keys(document.$defs).map((name) => `#/$defs/${name}`)]) {
    try {
      ajv.compile({ $ref: `document${name}` });
    } catch (error) {
      throw new Error(`${file}${name}: ${error.message}`);
    }
  }
}
