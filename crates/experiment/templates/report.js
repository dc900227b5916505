// Draws the charts of a page from its embedded data. Series can be toggled, and values can be read with mouse,
// keyboard and screen reader. The numbers behind every chart are available as a table and as CSV.
'use strict';
(() => {
  // The colors of series are in the style sheet, for light and dark, and can be distinguished with every common
  // color blindness. From the eighth on, series also differ in dashes or pattern.
  const COLOURS = 7;
  const DASHES = ['solid', [7, 4], [2, 3], [9, 3, 2, 3]];
  const DECALS = [
    null,
    { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: Math.PI / 4 },
    { symbol: 'circle', dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [5, 0], symbolSize: 0.7 },
    { symbol: 'rect', dashArrayX: [1, 0], dashArrayY: [1, 3], rotation: -Math.PI / 4 },
  ];
  // Viridis (van der Walt and Smith, matplotlib, 2015): perceptually uniform, so it also works in grayscale print.
  const FIELD = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];
  const ROWS_SHOWN = 500;
  const root = document.documentElement;
  const views = [];

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
      else if (value !== null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const ink = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const colour = (index) => ink(`--series-${index % COLOURS + 1}`);
  const dash = (index) => DASHES[Math.floor(index / COLOURS) % DASHES.length];
  const decal = (index) => {
    const pattern = DECALS[Math.floor(index / COLOURS) % DECALS.length];
    return pattern && { ...pattern, color: 'rgba(255, 255, 255, 0.75)' };
  };

  const fill = (index) => (decal(index)
    ? `repeating-linear-gradient(135deg, ${colour(index)} 0 3px, #ffffff 3px 5px)` : colour(index));

  // --- Numbers ------------------------------------------------------------------------------------------

  const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';
  const exact = new Intl.NumberFormat('en', { maximumSignificantDigits: 7 });
  const brief = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
  const power = (value) => {
    const exponent = Math.log10(value);
    const rounded = Math.round(exponent);
    if (Math.abs(exponent - rounded) > 1e-9) return '';
    if (rounded >= -3 && rounded <= 5) return brief.format(value);
    const digits = [...String(Math.abs(rounded))].map((digit) => SUPERSCRIPTS[digit]).join('');
    return `10${rounded < 0 ? '⁻' : ''}${digits}`;
  };
  const number = (value) => {
    if (value === null || value === undefined) return '-';
    return value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential(3) : exact.format(value);
  };

  // --- Files --------------------------------------------------------------------------------------------

  const cell = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (rows) => rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
  const download = (name, text, type) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    make('a', { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };

  /// Returns the numbers behind a chart as rows, heads first.
  const numbers = (chart) => {
    const several = chart.panels.length > 1;
    const heads = {
      bars: ['row', 'part', 'value', 'of'],
      heat: ['row', chart.x.name, 'value', 'of'],
    }[chart.shape] ?? ['series', chart.x.name, 'value', 'of'];
    const rows = [several ? ['view', ...heads] : heads];
    for (const panel of chart.panels) {
      const add = (...row) => rows.push(several ? [panel.name, ...row] : row);
      for (const series of panel.series) {
        series.y.forEach((value, index) => {
          if (chart.shape === 'bars') add(panel.rows[index], series.name, value, panel.y.name);
          else add(series.name, series.x[index], value, panel.y.name);
        });
      }
    }
    return rows;
  };

  // --- Charts -------------------------------------------------------------------------------------------

  class View {
    constructor(figure) {
      this.figure = figure;
      this.chart = JSON.parse(figure.querySelector('script').textContent);
      for (const { series } of this.chart.panels) for (const its of series) its.x ??= series[0].x;
      this.panel = 0;
      this.hidden = new Set();
      this.cursor = { series: 0, point: -1 };
      this.spoken = make('p', { class: 'spoken', 'aria-live': 'polite' });
      // A heat map has rows but no series to toggle.
      this.legend = this.chart.shape === 'heat' ? ''
        : make('ul', { class: 'legend', 'aria-label': 'Series: press to show or hide' });
      this.plot = make('div', {
        class: 'plot', tabindex: '0', role: 'group', 'aria-roledescription': 'chart',
        'aria-label': `${this.chart.title}. Arrow keys read values.`,
        onkeydown: (event) => this.key(event),
        onblur: () => this.drawn?.dispatchAction({ type: 'hideTip' }),
      });
      figure.append(this.tools(), this.legend, this.plot, this.spoken, this.table());
      // A heat map has too many cells for SVG; all other charts are sharper in SVG and print better.
      this.drawn = echarts.init(this.plot, null, {
        renderer: this.chart.shape === 'heat' ? 'canvas' : 'svg', height: this.height(),
      });
      this.plot.style.height = `${this.height()}px`;
      this.draw();
      new ResizeObserver(() => this.drawn.resize()).observe(this.plot);
    }

    get shown() { return this.chart.panels[this.panel]; }

    height() {
      const rows = Math.max(...this.chart.panels.map((panel) => panel.rows?.length ?? 0));
      if (this.chart.shape === 'bars') return 64 + 30 * rows;
      if (this.chart.shape === 'heat') return 120 + Math.max(150, Math.min(15 * rows, 420));
      return 330;
    }

    tools() {
      const tools = make('div', { class: 'tools' });
      if (this.chart.panels.length > 1) {
        const choose = (index) => {
          this.panel = index;
          this.cursor = { series: 0, point: -1 };
          [...group.children].forEach((it, at) => it.setAttribute('aria-pressed', String(at === index)));
          this.draw();
        };
        const button = (panel, index) => make('button', {
          type: 'button', 'aria-pressed': String(index === 0), onclick: () => choose(index),
        }, panel.name);
        const group = make('div', { class: 'views', role: 'group', 'aria-label': 'View' });
        group.append(...this.chart.panels.map(button));
        tools.append(group);
      }
      const save = () => download(`${this.chart.id}.csv`, csv(numbers(this.chart)), 'text/csv');
      tools.append(make('div', { class: 'files' }, make('button', {
        type: 'button', class: 'save', onclick: save, 'aria-label': `CSV of the numbers of: ${this.chart.title}`,
      }, 'CSV')));
      return tools;
    }

    /// The numbers as a table, created when it is first opened.
    table() {
      const name = `Numbers of: ${this.chart.title}`;
      const details = make('details', {}, make('summary', { 'aria-label': name }, 'Numbers'));
      details.addEventListener('toggle', () => {
        if (details.childElementCount > 1) return;
        const [heads, ...rows] = numbers(this.chart);
        const attributes = (tag, value) => ({
          scope: tag === 'th' ? 'col' : null, class: typeof value === 'number' ? 'number' : null,
        });
        const line = (tag, row) => make('tr', {}, ...row.map((value) =>
          make(tag, attributes(tag, value), typeof value === 'number' ? number(value) : value ?? '-')));
        const table = make('table', {}, make('thead', {}, line('th', heads)),
          make('tbody', {}, ...rows.slice(0, ROWS_SHOWN).map((row) => line('td', row))));
        details.append(make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name }, table));
        if (rows.length > ROWS_SHOWN) {
          details.append(make('p', {}, `The first ${ROWS_SHOWN} of ${rows.length} rows; the CSV has all of them.`));
        }
      });
      return details;
    }

    draw() {
      if (this.legend) this.legend.replaceChildren(...this.shown.series.map((series, index) => this.entry(series, index)));
      this.drawn.setOption(this.option(), { notMerge: true });
    }

    entry(series, index) {
      const bars = this.chart.shape === 'bars' || this.chart.shape === 'areas';
      const dashes = bars || !Array.isArray(this.dash(index)) ? null : this.dash(index).join(' ');
      const space = 'http://www.w3.org/2000/svg';
      const mark = document.createElementNS(space, 'svg');
      const shape = document.createElementNS(space, bars ? 'rect' : 'line');
      const facts = bars
        ? { x: 5, y: 1, width: 12, height: 10, rx: 2, fill: colour(index) }
        : { x1: 0, x2: 22, y1: 6, y2: 6, stroke: colour(index), 'stroke-width': 3, 'stroke-dasharray': dashes };
      for (const [name, value] of Object.entries(facts)) if (value !== null) shape.setAttribute(name, value);
      for (const [name, value] of Object.entries({ width: 22, height: 12, 'aria-hidden': 'true' })) mark.setAttribute(name, value);
      mark.append(shape);
      // Show the pattern of the series in the legend, too.
      for (const x of bars && decal(index) ? [6, 10, 14] : []) {
        const stripe = document.createElementNS(space, 'line');
        for (const [name, value] of Object.entries({ x1: x, x2: x + 4, y1: 11, y2: 1, stroke: '#ffffff', 'stroke-width': 1.5 })) stripe.setAttribute(name, value);
        mark.append(stripe);
      }
      const toggle = (event) => {
        if (!this.hidden.delete(series.name)) this.hidden.add(series.name);
        event.currentTarget.setAttribute('aria-pressed', String(!this.hidden.has(series.name)));
        this.drawn.setOption(this.option(), { notMerge: true });
      };
      const pressed = String(!this.hidden.has(series.name));
      return make('li', {}, make('button', { type: 'button', 'aria-pressed': pressed, onclick: toggle }, mark, series.name));
    }

    /// Distributions cross and cover each other, so there every line has its own dashes. In time series dashes would
    /// be lost in the noise.
    dash(index) {
      return this.chart.shape === 'steps' ? DASHES[index % DASHES.length] : dash(index);
    }

    visible() {
      return this.shown.series
        .map((series, index) => ({ series, index }))
        .filter(({ series }) => !this.hidden.has(series.name));
    }

    // --- Options of the charting library -------------------------------------------------------------

    option() {
      const text = { color: ink('--ink'), fontFamily: getComputedStyle(document.body).fontFamily };
      const shared = {
        animation: false, textStyle: text, backgroundColor: 'transparent',
        aria: { enabled: true, label: { enabled: false } },
        tooltip: {
          confine: true, transitionDuration: 0, className: 'tip', padding: [6, 10],
          backgroundColor: ink('--raised'), borderColor: ink('--line'), textStyle: { color: ink('--ink') },
          axisPointer: { lineStyle: { color: ink('--quiet') }, shadowStyle: { color: 'rgba(127, 127, 127, 0.15)' } },
        },
      };
      const kind = { bars: () => this.bars(), heat: () => this.heat() }[this.chart.shape] ?? (() => this.lines());
      const own = kind();
      return { ...shared, ...own, tooltip: { ...shared.tooltip, ...own.tooltip } };
    }

    axis(axis, more = {}) {
      return {
        type: axis.log ? 'log' : 'value', name: axis.name, nameLocation: 'middle',
        nameTextStyle: { color: ink('--quiet') },
        axisLine: { lineStyle: { color: ink('--line') } }, axisTick: { lineStyle: { color: ink('--line') } },
        axisLabel: { color: ink('--quiet'), hideOverlap: true, formatter: axis.log ? power : (it) => brief.format(it) },
        splitLine: { lineStyle: { color: ink('--grid') } }, ...more,
      };
    }

    /// Returns the powers of ten around all values, so that hiding a series does not move the axes.
    range(axis, pick) {
      if (!axis.log) return { scale: pick === 'x' };
      const values = this.shown.series.flatMap((series) => series[pick]).filter((value) => value > 0);
      if (values.length === 0) return {};
      const [least, most] = values.reduce(([a, b], it) => [Math.min(a, it), Math.max(b, it)], [Infinity, 0]);
      const min = 10 ** Math.floor(Math.log10(least) + 1e-9);
      return { min, max: Math.max(10 ** Math.ceil(Math.log10(most) - 1e-9), min * 10) };
    }

    lines() {
      const { x, shape } = this.chart;
      const stacked = shape === 'areas';
      const all = this.shown.series.flatMap((series) => series.x);
      const ends = x.log ? this.range(x, 'x') : { min: 0, max: all.reduce((a, b) => Math.max(a, b), 0) };
      const line = ({ series, index }) => ({
        type: 'line', name: series.name, color: colour(index), showSymbol: series.x.length < 2, symbolSize: 7, symbol: 'circle',
        step: shape === 'steps' ? 'start' : false, stack: stacked ? 'all' : undefined,
        areaStyle: stacked ? { opacity: 1, decal: decal(index) } : undefined,
        lineStyle: { width: stacked ? 0.5 : 2, type: this.dash(index) }, emphasis: { disabled: true },
        data: series.x.map((at, point) => [at, x.log || !this.shown.y.log || series.y[point] > 0 ? series.y[point] : null]),
      });
      return {
        grid: { left: 70, right: 24, top: 14, bottom: 48 },
        xAxis: this.axis(x, { nameGap: 30, ...ends, axisLabel: { ...this.axis(x).axisLabel, showMaxLabel: x.log ? null : false } }),
        yAxis: this.axis(this.shown.y, { nameGap: 52, ...this.range(this.shown.y, 'y'), ...(stacked ? { max: 100 } : {}) }),
        tooltip: { trigger: 'axis', formatter: (points) => this.tip(points) },
        series: this.visible().map(line),
      };
    }

    bars() {
      const bar = ({ series, index }) => ({
        type: 'bar', name: series.name, color: colour(index), stack: 'all', barMaxWidth: 22, data: series.y,
        itemStyle: { decal: decal(index), borderColor: ink('--paper'), borderWidth: 0.5 }, emphasis: { disabled: true },
      });
      const rows = this.axis({ name: '', log: false }, {
        type: 'category', data: this.shown.rows, inverse: true, splitLine: { show: false },
        axisLabel: { color: ink('--ink'), interval: 0, width: 190, overflow: 'truncate' },
      });
      return {
        grid: { left: 8, right: 24, top: 8, bottom: 30, containLabel: true },
        xAxis: this.axis(this.shown.y, { nameGap: 28, ...(this.shown.y.name.includes('%') ? { max: 100 } : {}) }), yAxis: rows,
        tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: (points) => this.tip(points) },
        series: this.visible().map(bar),
      };
    }

    heat() {
      const { rows, series, y } = this.shown;
      const columns = series[0].x;
      const data = series.flatMap((line, row) => line.y.map((value, column) => [column, row, value]));
      // One scale for all schemes, so that a color always has the same meaning.
      const values = this.chart.panels.flatMap((panel) => panel.series.flatMap((line) => line.y)).filter((it) => it !== null);
      const least = values.reduce((a, b) => Math.min(a, b), Infinity);
      const most = values.reduce((a, b) => Math.max(a, b), 0);
      const percent = y.name.includes('%');
      const label = { color: ink('--quiet'), hideOverlap: true };
      const category = (names, more) => this.axis({ name: '', log: false }, {
        type: 'category', data: names, splitLine: { show: false }, axisLabel: label, ...more,
      });
      const low = percent ? 0 : Math.floor(Math.min(least, most));
      const high = percent ? Math.min(100, 10 * Math.max(1, Math.ceil(most / 10))) : Math.max(Math.ceil(most), low + 1);
      return {
        grid: { left: 8, right: 24, top: 8, bottom: 76, containLabel: true },
        xAxis: category(columns.map((it) => brief.format(it)), { name: this.chart.x.name, nameGap: 26 }),
        yAxis: category(rows, { inverse: true }),
        visualMap: {
          type: 'continuous', min: low, max: high, orient: 'horizontal', left: 'center', bottom: 0,
          itemHeight: 160, itemWidth: 12, calculable: false, text: [number(high), `${y.name}: ${number(low)}`],
          textStyle: { color: ink('--quiet') }, inRange: { color: FIELD },
        },
        tooltip: { trigger: 'item', formatter: (point) => this.tip([point]) },
        series: [{ type: 'heatmap', data, progressive: 0, emphasis: { itemStyle: { borderColor: ink('--ink'), borderWidth: 1.5 } } }],
      };
    }

    // --- Reading values ------------------------------------------------------------------------------

    /// Returns the text of a point: a head, and a line for each series.
    lines_of(points) {
      const { shape, x } = this.chart;
      if (shape === 'heat') {
        const [column, row, value] = points[0].value;
        const { series, rows, y } = this.shown;
        return [`${rows[row]}, ${x.name} ${number(series[0].x[column])}`, [[y.name, number(value), null]]];
      }
      if (shape === 'bars') {
        const shown = points.filter((it) => it.value > 0).sort((a, b) => b.value - a.value);
        const index = (it) => this.shown.series.findIndex((series) => series.name === it.seriesName);
        const rows = shown.map((it) => [it.seriesName, number(it.value), fill(index(it))]);
        return [`${points[0].name}: ${this.shown.y.name}`, rows];
      }
      // The library passes only the series with a point at this position; show all of them.
      const at = points[0].axisValue ?? points[0].value[0];
      const rows = this.visible().map(({ series, index }) => [series.name, number(this.value(series, at)), this.chart.shape === 'areas' ? fill(index) : colour(index)]);
      return [`${x.name} ${number(at)}`, rows];
    }

    /// Returns the value of a series at a position: for steps the value of the next point, and 0 beyond the last; for
    /// lines the value of the nearest point.
    value(series, at) {
      const next = series.x.findIndex((it) => it >= at);
      if (this.chart.shape === 'steps') return next < 0 ? 0 : series.y[next];
      const right = next < 0 ? series.x.length - 1 : next;
      const left = Math.max(right - 1, 0);
      return series.y[at - series.x[left] < series.x[right] - at ? left : right];
    }

    tip(points) {
      const [head, rows] = this.lines_of(points);
      const line = ([name, value, mark]) => {
        const swatch = make('i');
        swatch.style.background = typeof mark === 'string' ? mark : 'transparent';
        return make('tr', {}, make('td', {}, swatch), make('td', {}, name), make('td', {}, value));
      };
      this.spoken.textContent = document.activeElement === this.plot
        ? `${head}: ${rows.map(([name, value]) => `${name} ${value}`).join(', ')}` : '';
      return make('div', {}, make('strong', {}, head), make('table', {}, make('tbody', {}, ...rows.map(line))));
    }

    key(event) {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [-10, 0], PageDown: [10, 0], Home: [-1e9, 0], End: [1e9, 0] };
      if (event.key === 'Escape') this.drawn.dispatchAction({ type: 'hideTip' });
      let [along, across] = steps[event.key] ?? [0, 0];
      if (along === 0 && across === 0) return;
      event.preventDefault();
      // The first key press goes to the first point, whichever arrow it is; only End goes to the last.
      if (this.cursor.point < 0) {
        this.cursor = { series: 0, point: 0 };
        [along, across] = [event.key === 'End' ? along : 0, 0];
      }
      const { shape } = this.chart;
      const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
      const visible = this.visible();
      if (visible.length === 0) return;
      let seriesIndex = 0;
      let dataIndex;
      if (shape === 'heat') {
        const [columns, rows] = [this.shown.series[0].x.length, this.shown.rows.length];
        this.cursor.point = clamp(this.cursor.point + along, columns);
        this.cursor.series = clamp(this.cursor.series + across, rows);
        dataIndex = this.cursor.series * columns + this.cursor.point;
      } else if (shape === 'bars') {
        dataIndex = this.cursor.point = clamp(this.cursor.point + along + across, this.shown.rows.length);
      } else {
        seriesIndex = this.cursor.series = clamp(this.cursor.series + across, visible.length);
        dataIndex = this.cursor.point = clamp(this.cursor.point + along, visible[seriesIndex].series.x.length);
      }
      this.drawn.dispatchAction({ type: 'showTip', seriesIndex, dataIndex });
    }
  }

  // --- The page -----------------------------------------------------------------------------------------

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
    const text = () => button.parentElement.querySelector('pre').textContent;
    button.hidden = false;
    button.addEventListener('click', () => download(button.dataset.file, text(), 'text/plain'));
  }
  for (const value of document.querySelectorAll('td.number')) value.title = value.dataset.sort;

  // Print in light colors with all details open.
  let before = null;
  addEventListener('beforeprint', () => {
    const closed = [...document.querySelectorAll('details.text:not([open])')];
    before = { theme: root.dataset.theme, closed };
    closed.forEach((it) => { it.open = true; });
    root.dataset.theme = 'light';
    redraw();
  });
  addEventListener('afterprint', () => {
    if (!before) return;
    before.closed.forEach((it) => { it.open = false; });
    if (before.theme) root.dataset.theme = before.theme;
    else delete root.dataset.theme;
    before = null;
    redraw();
  });
  root.dataset.drawn = 'yes';
})();
