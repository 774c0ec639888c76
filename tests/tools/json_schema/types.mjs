// Write the types of a document, those of the schemas that nothing refers to, too.
import { writeFileSync } from "node:fs";
import { compileFromFile } from "json-schema-to-typescript";

writeFileSync("types.ts", await compileFromFile("schema.json", { unreachableDefinitions: true }));
