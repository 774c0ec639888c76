// Writes ../THIRD-PARTY-NOTICES.txt: the licence of every package that has code in the built page.
import { readFileSync, writeFileSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
// The two that build leave helpers of their own in what they build.
const builders = ["node_modules/rolldown", "node_modules/vite"];
const bundled = Object.keys(lock).filter((path) => path && (!lock[path].dev || builders.includes(path)));
const wanted = bundled.sort().map((path) => {
  const name = path.replace("node_modules/", "");
  const file = name === "vite" ? "LICENSE.md" : "LICENSE";
  // vite's file goes on with what only the program itself contains.
  const text = readFileSync(`${path}/${file}`, "utf8").split("# Licenses of bundled dependencies")[0];
  return `${"=".repeat(80)}\n${name} ${lock[path].version}\n${"=".repeat(80)}\n\n${text.replaceAll("\r", "").trim()}\n`;
});
const head = "The playground (gatewayfw/playground/static) contains code of the packages below, under these licences.\n";
writeFileSync("../THIRD-PARTY-NOTICES.txt", [head, ...wanted].join("\n"));
