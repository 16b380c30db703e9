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
}
