/* Shows the data about a page as a whole: metadata, posts and images. */

function section(title, rows, header) {
  const table = element("table");
  const cells = (tag, values) => {
    const row = element("tr");
    row.append(...values.map((value) => {
      const cell = element(tag);
      cell.append(value ?? "–");
      cell.dir = "auto";
      return cell;
    }));
    return row;
  };
  if (header) table.append(cells("th", header));
  table.append(...rows.map((row) => cells("td", row)));
  return [element("h2", "", title), ...(rows.length ? [table] : [])];
}

function placeButton(place) {
  if (place === null) return null;
  const button = element("button", "place", place);
  button.type = "button";
  button.title = "Show it in the Markdown";
  button.addEventListener("click", () => showPlace(place));
  return button;
}

const count = (things, name) => `${things.length || "No"} ${name}${things.length === 1 ? "" : "s"}`;
const sizeOf = (image) => (image.width || image.height ? `${image.width ?? "?"} × ${image.height ?? "?"}` : null);
const addressOf = (address) => element("span", "address", address);
const wordsOf = (image) => [image.alt, image.caption].filter(Boolean).join(" · ") || null;

function aboutPage(content) {
  const { metadata, posts, images, refused, comments } = content;
  const known = Object.entries(metadata ?? {}).filter(([, value]) => value?.length);
  const facts = known.map(([name, value]) => [name.replaceAll("_", " "), Array.isArray(value) ? value.join(" · ") : value]);
  const found = posts.map((post) => [post.author, post.published?.replace("T", " "), placeButton(post.offset), post.id, post.reply_to]);
  const kept = images.map((image) => [image.role, addressOf(image.address), wordsOf(image), sizeOf(image), placeButton(image.place)]);
  return [
    ...section(facts.length ? "Metadata" : "No metadata", facts),
    ...section(count(posts, "post") + (comments === "out" ? "; most of the page's are not in the extraction" : ""), found, ["author", "published", "place", "id", "reply to"]),
    ...section(`${count(images, "picture")} kept`, kept, ["role", "address", "words", "size", "place"]),
    ...section(`${count(refused, "picture")} refused`, refused.map(([address, why]) => [why, addressOf(address)]), ["why", "address"]),
  ];
}
