const outputOf = (name) => ({ target: `${name}.ts`, client: "fetch", mode: "single", baseUrl: { getBaseUrlFromSpecification: true } });
const names = process.env.DOCUMENTS.split(",");
export default Object.fromEntries(names.map((name) => [name, { input: `${name}.json`, output: outputOf(name) }]));
