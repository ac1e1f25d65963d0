/* Shows the blocks of the open page. All text is inserted as text, never as markup. */

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

function tooltip(block, number) {
  const reasons = block.reasons.map(([name, says]) => `${signed(says)} ${name}`).join("\n");
  const changed = block.changed_by ? `\n${block.main ? "main" : "other"} by: ${block.changed_by}` : "";
  return `block ${number}: ${block.path}${changed}${reasons ? "\n" + reasons : ""}`;
}

/* Tags that determine the look of a block. The tag nearest to the block counts. */
const LOOKS = { h1: "heading", h2: "heading", h3: "heading", h4: "heading", pre: "code", code: "code" };
const BULK = 20_000;

/* Line breaks are those of the page's source, and most have no meaning. They are kept only if the average line is longer than this number of characters. */
const LONG_LINE = 40;

function legible(text) {
  const lines = text.slice(0, BULK).split("\n").map((line) => line.trim()).filter(Boolean);
  const isLong = lines.reduce((sum, line) => sum + line.length, 0) > LONG_LINE * lines.length;
  return lines.join(isLong ? "\n" : " ") + (text.length > BULK ? " …" : "");
}

function blockElement(block, at) {
  const names = block.path.split(" > ");
  const look = names.map((name) => LOOKS[name]).filter(Boolean).pop() ?? "";
  const row = element("div", `block ${look}`);
  row.id = `block-${at + 1}`;
  row.tabIndex = -1;
  row.dataset.at = at;
  row.title = tooltip(block, at + 1);
  row.setAttribute("role", "option");
  row.classList.toggle("doubtful", isDoubtful(block));
  row.classList.toggle("markup", block.is_markup);
  row.append(
    element("span", "number", at + 1),
    element("span", "probability", block.probability === null ? "–" : block.probability.toFixed(2)),
    element("span", "tag", names[names.length - 1]),
  );
  const text = element("span", "text", look === "code" ? block.text.slice(0, BULK) : legible(block.text));
  text.dir = "auto";
  row.append(text);
  return row;
}

/* If the labeler gives no probability, its decision determines the colour. */
function paint(row, block, main) {
  row.style.setProperty("--p", block.probability ?? (block.main ? 1 : 0));
  row.setAttribute("aria-selected", main);
  row.classList.toggle("corrected", main !== block.main);
}

function detail(block, at, main) {
  const number = element("strong", "", `Block ${at + 1}`);
  const label = element("span", main ? "label main" : "label other", main ? "main" : "other");
  const parts = [number, label];
  if (main !== block.main) parts.push(element("span", "label was", `was ${block.main ? "main" : "other"}`));
  if (block.probability !== null) parts.push(element("span", "", `p ${block.probability.toFixed(3)}`));
  if (block.changed_by) parts.push(element("span", "changed", `${block.main ? "main" : "other"} by: ${block.changed_by}`));
  parts.push(element("code", "path", block.path));
  const line = element("p");
  line.append(...parts);
  const list = element("ul", "reasons");
  for (const [name, says] of block.reasons) {
    const item = element("li", says < 0 ? "against" : "for");
    const bar = element("i");
    bar.style.setProperty("--size", Math.min(1, Math.abs(says) / 4));
    item.append(element("span", "name", name), bar, element("span", "says", signed(says)));
    list.append(item);
  }
  return block.reasons.length ? [line, list] : [line];
}
