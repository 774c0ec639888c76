// Write the types of some documents, those of the schemas that nothing refers to, too.
import { writeFileSync } from "node:fs";
import { compileFromFile } from "json-schema-to-typescript";

for (const file of process.argv.slice(2)) {
  writeFileSync(`${file}.ts`, await compileFromFile(`${file}.json`, { unreachableDefinitions: true }));
}
