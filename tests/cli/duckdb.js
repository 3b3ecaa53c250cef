// SPDX-License-Identifier: BSD-3-Clause
//
// Runs SQL from standard input: node duckdb.js MODULES DATABASE. Prints the rows that each
// SELECT returns, with tabs between columns.
"use strict";
const fs = require("fs");
const [modules, database] = process.argv.slice(2);
const { DuckDBInstance, StatementType } = require(`${modules}/@duckdb/node-api`);

async function main()
{
	const connection = await (await DuckDBInstance.create(database)).connect();
	const sql = await connection.extractStatements(fs.readFileSync(0, "utf8"));

	for (let i = 0; i < sql.count; i++) {
		const statement = await sql.prepare(i);
		const result = await statement.runAndReadAll();

		if (statement.statementType === StatementType.SELECT)
			for (const row of result.getRows())
				console.log(row.join("\t"));
	}
	connection.closeSync();
}

main().catch(error => {
	console.error(String(error));
	process.exitCode = 1;
});
