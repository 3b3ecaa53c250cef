// SPDX-License-Identifier: BSD-3-Clause
//
// Imports files with Speedscope: node speedscope.js MODULES FILE...
//
// The importer is Speedscope's own, taken from the program that browsers load
// (MODULES/speedscope/dist/release): node runs all of it, with a dummy page. The display
// is not tested. Files in Speedscope's own format are also validated against its schema,
// with ajv.
//
// For each file, lines with fields separated by tabs:
//   profile  FILE  NAME  TOTAL  as Speedscope shows it
//   frame    NAME  its file  SELF  TOTAL
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [modules, ...files] = process.argv.slice(2);
const release = path.join(modules, "speedscope", "dist", "release");

// A dummy object that accepts any call and any property.
const nothing = new Proxy(function () {}, {
	get: (_, key) => (key === Symbol.toPrimitive ? () => "" : nothing),
	apply: () => nothing,
});

function loadImporter()
{
	const bundle = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name));
	const code = fs.readFileSync(path.join(release, bundle), "utf8");
	const wrapper = /async function (\w+)\((\w+),(\w+)\)\{return\(await \w+\)\.importProfilesFromArrayBuffer\(\2,\3\)\}/;
	const exported = code.replace(wrapper, "$&;globalThis.importProfiles=$1;");

	if (exported === code)
		throw new Error("this Speedscope has no importProfilesFromArrayBuffer()");
	globalThis.window = globalThis;
	for (const name of ["document", "localStorage", "location", "addEventListener"])
		globalThis[name] = nothing;
	console.log = () => {};
	try {
		vm.runInThisContext(exported);
	} catch (error) {
		// Showing the page, its last step, fails.
		if (!globalThis.importProfiles)
			throw error;
	}
}

function checkSchema(name, data)
{
	const Ajv = require(path.join(modules, "ajv"));
	const schema = JSON.parse(fs.readFileSync(path.join(release, "file-format-schema.json")));
	const validate = new Ajv({strict: false}).compile(schema);

	if (!validate(JSON.parse(data)))
		process.stdout.write(`${name}: ${JSON.stringify(validate.errors)}\n`);
}

function show(...fields)
{
	process.stdout.write(fields.join("\t") + "\n");
}

async function main()
{
	loadImporter();
	for (const name of files) {
		const data = fs.readFileSync(name);

		if (name.endsWith(".json"))
			checkSchema(name, data);
		const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
		const group = await globalThis.importProfiles(name, bytes);
		if (!group)
			show("not imported", name);
		for (const profile of group ? group.profiles : []) {
			const total = profile.getTotalWeight();

			show("profile", name, profile.getName(), total, profile.formatValue(total));
			profile.forEachFrame(frame => show("frame", frame.name, frame.file ?? "",
				frame.getSelfWeight(), frame.getTotalWeight()));
		}
	}
}

main().catch(error => {
	process.stderr.write(`${error.stack}\n`);
	process.exit(1);
});
