"use strict";
(() => {
  const table = document.querySelector("table");
  const form = document.querySelector("form");
  if (!table || !form) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const heads = [...table.tHead.rows[0].cells];
  const place = new Map(heads.map((head, index) => [head.textContent, index]));

  const filter = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = ["verdict", "framework"].map((name) => [place.get(name), form.elements[name].value]);
    let shown = 0;
    rows.forEach((row, index) => {
      const fits = words.every((word) => texts[index].includes(word)) &&
        wanted.every(([column, value]) => !value || row.cells[column].textContent === value);
      row.hidden = !fits;
      shown += fits;
    });
    form.querySelector("output").textContent = shown + " of " + rows.length;
  };

  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.classList.contains("number")) return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
    return cell.textContent;
  };
  const order = new Intl.Collator(undefined, { numeric: true });
  const sort = (column) => {
    const up = heads[column].getAttribute("aria-sort") !== "ascending";
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    const keyed = rows.map((row, index) => [key(row, column), index, row]);
    keyed.sort(([a, i], [b, j]) => {
      if (a === b) return i - j;
      if (a === null || a === "") return 1; // what is not known comes last
      if (b === null || b === "") return -1;
      const found = typeof a === "number" ? a - b : order.compare(a, b);
      return (up ? found : -found) || i - j;
    });
    body.append(...keyed.map(([, , row]) => row));
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(column));
    head.replaceChildren(button);
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
