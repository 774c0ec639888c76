const output = { target: "made.ts", client: "fetch", mode: "single", baseUrl: { getBaseUrlFromSpecification: true } };
export default { made: { input: "openapi.json", output } };
