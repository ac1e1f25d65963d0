"use strict";

/* Reads the pages in the document, and keeps the user's corrections. */

const byId = (id) => document.getElementById(id);
const index = JSON.parse(byId("index").textContent);
const pages = index.pages;

/* Page number → {main: [bool], checked: bool, corrected: bool}, for pages that the user corrected or checked. */
const decisions = new Map();
const opened = new Map();
const KEPT_OPEN = 8;

async function unpack(id) {
  const packed = Uint8Array.from(atob(byId(id).textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Returns a page's content: {blocks, markdown, main_html, …}. The contents of the last few pages are cached. */
async function contentOf(number) {
  if (!opened.has(number)) {
    opened.set(number, JSON.parse(new TextDecoder().decode(await unpack(`page-${number}`))));
    if (opened.size > KEPT_OPEN) opened.delete(opened.keys().next().value);
  }
  return opened.get(number);
}

function labelsOf(number, content) {
  return decisions.get(number)?.main ?? content.blocks.map((block) => block.main);
}

function decide(number, content, change) {
  const before = decisions.get(number) ?? { main: content.blocks.map((block) => block.main), checked: false };
  const after = { ...before, main: [...before.main], ...change(before) };
  const corrected = after.main.some((main, at) => main !== content.blocks[at].main);
  if (corrected || after.checked) decisions.set(number, { ...after, corrected });
  else return undecide(number);
  unsaved = true;
}

function undecide(number) {
  decisions.delete(number);
  unsaved = decisions.size > 0;
}

let unsaved = false;
window.addEventListener("beforeunload", (event) => {
  if (unsaved) event.preventDefault();
});

function isDoubtful(block) {
  const [least, most] = index.doubtful;
  return block.probability !== null && block.probability >= least && block.probability <= most;
}
