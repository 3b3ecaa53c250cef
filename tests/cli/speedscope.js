// SPDX-License-Identifier: BSD-3-Clause
//
// What Speedscope makes of files: node speedscope.js MODULES FILE...
//
// The importer is Speedscope's own, taken out of the program that browsers load
// (MODULES/speedscope/dist/release): node runs it all, with a page that does nothing.
// What is not tried is how it looks. Files of Speedscope's own format are held against
// its schema too, by ajv.
//
// For each file, a line of tabs each:
//   profile  FILE  NAME  TOTAL  as Speedscope shows it
//   frame    NAME  its file  SELF  TOTAL
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [modules, ...files] = process.argv.slice(2);
const release = path.join(modules, "speedscope", "dist", "release");

// Takes any call and any property, and is none of them.
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
		// The last thing it does is to show the page, which can't end well.
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
