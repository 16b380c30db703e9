"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const numeric = heading.classList.contains("number");
      const order = (a, b) => {
        const [x, y] = [value(a), value(b)];
        // Empty values come last in either order.
        if (x === "" || y === "") return (x === "") - (y === "");
        const by = numeric ? x - y : x.localeCompare(y);
        return down ? -by : by;
      };
      body.append(...[...body.rows].sort(order));
    });
  });
  // Tables of a few rows need no filter.
  if (body.rows.length < 8) continue;
  const names = headings.map((heading) => heading.textContent.replace(/\(.*/, "").trim().toLowerCase().replace(/\W+/g, "_"));
  const input = document.createElement("input");
  input.type = "search";
  input.className = "filter";
  input.placeholder = `filter: words, or ${names[headings.findIndex((one) => one.classList.contains("number"))] ?? "column"} > 2`;
  input.setAttribute("aria-label", "filter of the rows");
  input.addEventListener("input", () => {
    const text = input.value.trim();
    let rows = [...body.rows];
    const number = (place, column) => {
      const cell = rows[place].cells[column];
      const value = cell.dataset.value ?? cell.textContent.replaceAll(",", "");
      return value === "" ? NaN : Number(value);
    };
    const words = text.toLowerCase().split(/\s+/);
    let passes = (place) => words.every((word) => rows[place].textContent.toLowerCase().includes(word));
    try {
      const column = (name) => (names.includes(name) ? (place) => number(place, names.indexOf(name)) : undefined);
      if (/[<>=]/.test(text)) passes = compileFilter(text, column, names);
      input.setCustomValidity("");
    } catch (error) {
      input.setCustomValidity(error.message);
    }
    input.title = input.validationMessage;
    rows.forEach((row, place) => (row.hidden = text !== "" && !passes(place)));
  });
  table.parentElement.before(input);
}
