// SPDX-License-Identifier: BSD-3-Clause
//
// Like clickhouse-client, for a ClickHouse in this process: node chdb.js MODULES FOLDER
// [--SETTING VALUE]... [--query INSERT]. Runs SQL from standard input, or the INSERT with data
// from there.
"use strict";
const fs = require("fs");
const [modules, folder, ...options] = process.argv.slice(2);
const { Session } = require(`${modules}/chdb`);

const session = new Session(folder);
const input = fs.readFileSync(0, "utf8");
let statements = input.split(/;\s*\n/).filter(text => text.trim());

for (let i = 0; i < options.length; i += 2) {
	if (options[i] === "--query")
		statements = [`${options[i + 1]}\n${input}`];
	else
		session.query(`SET ${options[i].slice(2)} = '${options[i + 1]}'`);
}
for (const statement of statements)
	process.stdout.write(session.query(statement, "TSV"));
