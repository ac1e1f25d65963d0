// Reads archives with warcio.js, as by_python.py does: node by_warcio_js.mjs FILE…
import fs from "node:fs";
import { WARCParser } from "warcio";

async function read(file) {
  const pages = [];
  for await (const record of new WARCParser(fs.createReadStream(file))) {
    if (!["response", "resource"].includes(record.warcType)) continue;
    const media = record.httpHeaders?.headers.get("content-type");
    if (media && !media.includes("html")) continue;
    const body = Buffer.from(await record.contentText(), "utf-8");
    const when = new Date(record.warcDate);
    pages.push([record.warcTargetURI, isNaN(when) ? null : when.toISOString().replace("Z", ""), body.toString("base64")]);
  }
  return pages;
}

for (const file of process.argv.slice(2)) {
  let line;
  try {
    line = await read(file);
  } catch (error) {
    line = error.constructor.name;
  }
  console.log(JSON.stringify(line));
}
