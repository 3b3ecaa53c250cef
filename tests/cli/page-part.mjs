// SPDX-License-Identifier: BSD-3-Clause
//
// Prints a part of the page on standard input, as stored: node page-part.mjs PART <PAGE

import { readFileSync } from "node:fs";

import { unpack } from "../../output/html/page/decode.mjs";

const page = readFileSync(0, "utf8");
const [, data] = page.split(`data-part="${process.argv[2]}">`);
process.stdout.write(await unpack(data.slice(0, data.indexOf("<"))));
