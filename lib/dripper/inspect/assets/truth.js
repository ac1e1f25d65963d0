/* Builds ground truth rows, in the form of this project's labelled data sets, and downloads them. */

const DATA_SET = "corrected";

function truthText(blocks, main) {
  return blocks.filter((block, at) => main[at] && !block.is_markup).map((block) => block.text).join("\n");
}

/* [true, true, false, true] → "1-2,4" */
function ranges(main) {
  const found = [];
  main.forEach((isMain, at) => {
    if (!isMain) return;
    if (at > 0 && main[at - 1]) found[found.length - 1][1] = at + 1;
    else found.push([at + 1, at + 1]);
  });
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

function truthRow(page, content, decision) {
  const row = {
    id: page.id,
    url: page.url,
    file: `html/${page.id}.html`,
    truth_text: truthText(content.blocks, decision.main),
    encoding: page.encoding,
    html_sha256: page.html_sha256,
    main_blocks: ranges(decision.main),
    n_blocks: content.blocks.length,
    profile: page.profile,
    labeler: page.labeler,
    corrected: decision.main.filter((main, at) => main !== content.blocks[at].main).length,
  };
  if (page.language) row.lang = page.language;
  if (!row.truth_text) row.bad = "no main content";
  return row;
}

/* Returns the files of the exported data set: [[name, bytes]]. */
async function dataSet() {
  const rows = [];
  const files = [];
  for (const number of [...decisions.keys()].sort((a, b) => a - b)) {
    const row = truthRow(pages[number], await contentOf(number), decisions.get(number));
    rows.push(JSON.stringify(row) + "\n");
    files.push([`${DATA_SET}/${row.file}`, await unpack(`html-${number}`)]);
  }
  const meta = { source: index.generator, truth: "blocks as corrected by a person", about: index.about };
  const text = new TextEncoder();
  files.unshift([`${DATA_SET}/META.json`, text.encode(JSON.stringify(meta, null, 1) + "\n")]);
  files.unshift([`${DATA_SET}/truth.jsonl`, text.encode(rows.join(""))]);
  return files;
}

/* Returns one member of a tar archive (POSIX ustar): a header of 512 bytes, then the content, padded to a multiple of 512 bytes. */
function tarMember(name, content) {
  const header = new Uint8Array(512);
  const put = (text, at) => header.set(new TextEncoder().encode(text), at);
  const octal = (value, width) => value.toString(8).padStart(width - 1, "0") + "\0";
  put(name, 0);
  put(octal(0o644, 8) + octal(0, 8) + octal(0, 8) + octal(content.length, 12) + octal(0, 12), 100);
  put(" ".repeat(8) + "0", 148);
  put("ustar\x0000", 257);
  put(octal(header.reduce((sum, byte) => sum + byte, 0), 7) + " ", 148);
  return [header, content, new Uint8Array((512 - (content.length % 512)) % 512)];
}

function download(name, type, parts) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  unsaved = false;
}

async function exportDataSet() {
  if (!decisions.size) return;
  const members = (await dataSet()).flatMap(([name, content]) => tarMember(name, content));
  download(`${DATA_SET}.tar`, "application/x-tar", [...members, new Uint8Array(1024)]);
}

async function exportRows() {
  if (!decisions.size) return;
  const [[, rows]] = await dataSet();
  download("truth.jsonl", "application/jsonl", [rows]);
}
