// The page: charts, themes, tables, downloads and print. `ink.js`, `numbers.js`, `options.js` and `chart.js` come before.
for (const figure of document.querySelectorAll('main figure:not(.drawing)')) views.push(new View(figure));
const redraw = () => views.forEach((view) => { view.draw(); view.drawn.resize(); });

const system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
const theme = document.getElementById('theme');
const label = () => { theme.textContent = isDark() ? 'Light colors' : 'Dark colors'; };
theme.hidden = false;
theme.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  label();
  redraw();
});
system.addEventListener('change', () => { label(); redraw(); });
label();

// Column heads are buttons, so they work with mouse, Enter and Space. The library sorts and announces the order.
for (const head of document.querySelectorAll('table.sortable thead th')) {
  const column = [...head.closest('table').tBodies[0].rows].map((row) => row.cells[head.cellIndex]);
  head.classList.toggle('number', column.some((it) => it.classList.contains('number')));
  head.replaceChildren(make('button', { type: 'button', class: 'sort' }, head.textContent));
}

for (const button of document.querySelectorAll('button.csv')) {
  const table = document.querySelector(`table[data-name="${button.dataset.sheet}"]`);
  const rows = () => [...table.rows].map((row) => [...row.cells].map((it) => it.dataset.sort ?? it.textContent));
  button.hidden = false;
  button.addEventListener('click', () => download(`${button.dataset.sheet}.csv`, csv(rows()), 'text/csv'));
}
for (const button of document.querySelectorAll('button.download')) {
  // A text that is like the one on the page is given as the lines that it takes from it, and its own.
  const text = () => {
    const shown = button.closest('.text').querySelector('pre').textContent;
    if (!button.dataset.delta) return shown;
    const lines = shown.split('\n');
    return JSON.parse(button.dataset.delta)
      .flatMap((it) => (typeof it === 'string' ? [it] : lines.slice(it[0], it[0] + it[1]))).join('\n');
  };
  button.hidden = false;
  button.addEventListener('click', () => download(button.dataset.file, text(), 'text/plain'));
}
for (const value of document.querySelectorAll('td.number')) value.title = value.dataset.sort;

// Print in light colors, with charts as wide as half a page.
let before = null;
addEventListener('beforeprint', () => {
  before = { theme: root.dataset.theme };
  root.dataset.theme = 'light';
  views.forEach((view) => view.print(true));
});
addEventListener('afterprint', () => {
  if (!before) return;
  if (before.theme) root.dataset.theme = before.theme;
  else delete root.dataset.theme;
  before = null;
  views.forEach((view) => view.print(false));
});
root.dataset.drawn = 'yes';
