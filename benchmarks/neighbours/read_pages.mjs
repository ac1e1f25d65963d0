// Reads pages with defuddle or Readability: node read_pages.mjs READER PAGES prints a list of
// {markdown, title, author}. Readability gives HTML, which Turndown writes as Markdown.
import { readFileSync } from "node:fs";
import { Readability } from "@mozilla/readability";
import { Defuddle } from "defuddle/node";
import { JSDOM } from "jsdom";
import Turndown from "turndown";

const ADDRESS = "https://example.org/notes/mill.html";

async function byDefuddle(page) {
  const read = await Defuddle(new JSDOM(page, { url: ADDRESS }), ADDRESS, { markdown: true });
  return { markdown: read.content, title: read.title, author: read.author };
}

async function byReadability(page) {
  const read = new Readability(new JSDOM(page, { url: ADDRESS }).window.document).parse();
  const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced" });
  return { markdown: turndown.turndown(read?.content ?? ""), title: read?.title ?? "", author: read?.byline ?? "" };
}

const read = { defuddle: byDefuddle, Readability: byReadability }[process.argv[2]];
const answers = [];
console.log = console.error;
for (const page of JSON.parse(readFileSync(process.argv[3], "utf8"))) answers.push(await read(page));
process.stdout.write(JSON.stringify(answers));
