// A chart of the page: its picture, legend, views, files and numbers.
const ROWS_SHOWN = 500;
/// Three charts beside each other on A4 and Letter paper, in pixels of 1/96 inch.
const PRINTED = 212;
const views = [];
/// The part that is shown of each axis of which a part is shown: charts with the same axis share it.
const ranges = new Map();

class View {
  constructor(figure) {
    this.figure = figure;
    this.chart = JSON.parse(figure.querySelector('script').textContent);
    const { panels } = this.chart;
    for (const panel of panels) {
      if (this.chart.shape === 'heat') panel.rows ??= panels[0].rows;
      panel.series.forEach((its, row) => {
        its.x ??= panel.series[0].x;
        its.name ??= panel.rows[row];
      });
    }
    this.panel = 0;
    this.hidden = new Set();
    this.cursor = { series: 0, point: -1 };
    this.printed = false;
    this.spoken = make('p', { class: 'spoken', 'aria-live': 'polite' });
    // A heat map has rows but no series to toggle.
    this.legend = this.chart.shape === 'heat' ? ''
      : make('ul', { class: 'legend', 'aria-label': 'Series: press to show or hide' });
    this.remark = make('p', { class: 'remark' });
    this.plot = make('div', {
      class: 'plot', tabindex: '0', role: 'group', 'aria-roledescription': 'chart',
      'aria-label': `${this.chart.title}. Arrow keys read values.${this.zooms ? ' Plus and minus zoom, 0 shows all.' : ''}`,
      onkeydown: (event) => key(this, event),
      onblur: () => this.drawn?.dispatchAction({ type: 'hideTip' }),
    });
    figure.append(this.tools(), this.legend, this.remark, this.plot, this.spoken, this.table());
    // A heat map has too many cells for SVG; all other charts are sharper in SVG and print better.
    this.drawn = echarts.init(this.plot, null, {
      renderer: this.chart.shape === 'heat' ? 'canvas' : 'svg', height: this.height(),
    });
    this.plot.style.height = `${this.height()}px`;
    this.draw();
    if (this.zooms) brush(this);
    new ResizeObserver(() => { if (!this.printed) this.resize(); }).observe(this.plot);
  }

  get shown() { return this.chart.panels[this.panel]; }

  /// True if the x axis of the chart has numbers.
  get zooms() { return !['bars', 'boxes'].includes(this.chart.shape); }

  /// The height of letters, in pixels.
  get letters() { return this.printed ? 8.5 : 12; }

  width() { return this.printed ? PRINTED : this.plot.clientWidth; }

  height() {
    const rows = Math.max(...this.chart.panels.map((panel) => slots({ rows: [], ...panel }).length));
    if (this.chart.shape === 'bars') return this.printed ? 30 + 11 * rows : 52 + 24 * rows;
    if (this.printed) return 146;
    if (this.chart.shape === 'heat') return 120 + Math.max(150, Math.min(15 * rows, 420));
    return 330;
  }

  resize() {
    this.drawn.resize();
    // Some options depend on the width.
    this.drawn.setOption(option(this), { notMerge: true });
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
    this.whole = make('button', { type: 'button', class: 'whole', hidden: '', onclick: () => zoom(this, null) }, 'Show all');
    const file = (what, save) => make('button', {
      type: 'button', class: 'save', onclick: save, 'aria-label': `${what} of: ${this.chart.title}`, 'data-file': what,
    }, what);
    tools.append(make('div', { class: 'files' }, this.whole,
      file('CSV', () => download(`${this.chart.id}.csv`, csv(numbers(this.chart)), 'text/csv')),
      file('SVG', () => download(`${this.chart.id}.svg`, this.copy('svg', (it) => it.renderToSVGString()), 'image/svg+xml')),
      file('PNG', () => this.copy('canvas', (it) => it.renderToCanvas({ pixelRatio: 2 }))
        .toBlob((blob) => offer(`${this.chart.id}.png`, blob)))));
    return tools;
  }

  /// Draws it once more, off the page and on paper, as large as it is now, and returns what `take` makes of that.
  copy(renderer, take) {
    const size = { width: this.width(), height: this.height() };
    const drawn = echarts.init(make('div'), null, { renderer, ...size });
    drawn.setOption({ ...option(this), backgroundColor: ink('--paper') });
    drawn.getZr().flush();
    const taken = take(drawn);
    // On a slow machine the library goes on painting in the next frames, and fails in a chart that is gone by then.
    // Painting nothing ends that.
    drawn.clear();
    drawn.getZr().flush();
    drawn.dispose();
    return taken;
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
    if (this.legend) this.legend.replaceChildren(...this.shown.series.map((series) => this.entry(series)));
    this.remark.textContent = this.shown.remark ?? '';
    this.whole.hidden = !ranges.has(this.chart.x.name);
    this.drawn.setOption(option(this), { notMerge: true });
  }

  entry(series) {
    const toggle = (event) => {
      if (!this.hidden.delete(series.name)) this.hidden.add(series.name);
      event.currentTarget.setAttribute('aria-pressed', String(!this.hidden.has(series.name)));
      this.drawn.setOption(option(this), { notMerge: true });
    };
    const pressed = String(!this.hidden.has(series.name));
    return make('li', {}, make('button', { type: 'button', 'aria-pressed': pressed, onclick: toggle }, swatch(series, this.chart.shape), series.name));
  }

  visible() {
    return this.shown.series
      .map((series, index) => ({ series, index }))
      .filter(({ series }) => !this.hidden.has(series.name));
  }

  tip(points) {
    const [head, rows] = reading(this, points);
    const line = ([name, value, series]) =>
      make('tr', {}, make('td', {}, series ? swatch(series, this.chart.shape) : ''), make('td', {}, name), make('td', {}, value));
    this.spoken.textContent = document.activeElement === this.plot
      ? `${head}: ${rows.map(([name, value]) => `${name} ${value}`).join(', ')}` : '';
    return make('div', {}, make('strong', {}, head), make('table', {}, make('tbody', {}, ...rows.map(line))));
  }

  /// Draws it for paper, or again for the screen. A canvas that has just been drawn may be blank on paper, so a picture
  /// of it is printed in its place.
  print(printed) {
    this.printed = printed;
    this.figure.querySelectorAll('img.paper').forEach((it) => it.remove());
    const size = { width: this.width(), height: this.height() };
    this.plot.style.height = `${size.height}px`;
    this.plot.style.width = printed ? `${size.width}px` : '';
    this.drawn.resize(printed ? size : { width: 'auto', height: size.height });
    this.draw();
    this.drawn.getZr().flush();
    if (!printed || this.chart.shape !== 'heat') return;
    const src = this.copy('canvas', (it) => it.renderToCanvas({ pixelRatio: 3 })).toDataURL();
    this.plot.after(make('img', { class: 'paper', src, alt: this.chart.title, ...size }));
  }
}

// --- Reading values ---------------------------------------------------------------------------------------

/// Returns the value of a series at a position: for steps the value of the next point, and 0 beyond the last; for
/// lines the value of the nearest point.
const valueAt = (view, series, at) => {
  const next = series.x.findIndex((it) => it >= at);
  if (view.chart.shape === 'steps') return next < 0 ? 0 : series.y[next];
  const right = next < 0 ? series.x.length - 1 : next;
  const left = Math.max(right - 1, 0);
  return series.y[at - series.x[left] < series.x[right] - at ? left : right];
};

/// Returns the text of a point: a head, and a line for each series.
const reading = (view, points) => {
  const { shape, x } = view.chart;
  const { series, rows, y } = view.shown;
  if (shape === 'heat') {
    const [at, row] = points[0].value;
    const column = columns(view).shown[at];
    return [`${rows[row]}, ${x.name} ${number(series[0].x[column])}`, [[y.name, number(series[row].y[column]), null]]];
  }
  if (shape === 'boxes') {
    const row = points[0].dataIndex;
    const marks = (its) => BOX.map((name, at) => `${name} ${number(its.y[row * 5 + at])}`).join(', ');
    return [`${x.name.split(' ')[0]} ${rows[row]}, ${y.name}`, view.visible().map(({ series: its }) => [its.name, marks(its), its])];
  }
  if (shape === 'bars') {
    const slot = slots(view.shown)[points[0].dataIndex];
    if (slot.row === null) return [slot.name, []];
    const shown = points.filter((it) => it.value > 0).sort((a, b) => b.value - a.value);
    const of = shown.map((it) => [it.seriesName, number(it.value), series.find((its) => its.name === it.seriesName)]);
    return [`${rowName(view.shown, slot.row)}: ${y.name}`, of];
  }
  // The library passes only the series with a point at this position; show all of them.
  const at = points[0].axisValue ?? points[0].value[0];
  const band = (its) => (its.band ? ` (${its.band[its.x.indexOf(at)]?.map(number).join(' to ') ?? '-'})` : '');
  return [`${x.name} ${number(at)}`, view.visible().map(({ series: its }) => [its.name, number(valueAt(view, its, at)) + band(its), its])];
};

const key = (view, event) => {
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [-10, 0], PageDown: [10, 0], Home: [-1e9, 0], End: [1e9, 0] };
  if (event.key === 'Escape') view.drawn.dispatchAction({ type: 'hideTip' });
  if (view.zooms && ['+', '-', '0'].includes(event.key)) zoomBy(view, { '+': 0.5, '-': 2, 0: Infinity }[event.key]);
  let [along, across] = steps[event.key] ?? [0, 0];
  if (along === 0 && across === 0) return;
  event.preventDefault();
  // The first key press goes to the first point, whichever arrow it is; only End goes to the last.
  if (view.cursor.point < 0) {
    view.cursor = { series: 0, point: 0 };
    [along, across] = [event.key === 'End' ? along : 0, 0];
  }
  const { shape } = view.chart;
  const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
  const visible = view.visible();
  if (visible.length === 0) return;
  const { cursor } = view;
  let seriesIndex = 0;
  let dataIndex;
  if (shape === 'heat') {
    const [wide, rows] = [columns(view).shown.length, view.shown.rows.length];
    cursor.point = clamp(cursor.point + along, wide);
    cursor.series = clamp(cursor.series + across, rows);
    dataIndex = cursor.series * wide + cursor.point;
  } else if (shape === 'boxes') {
    dataIndex = cursor.point = clamp(cursor.point + along + across, view.shown.rows.length);
  } else if (shape === 'bars') {
    cursor.point = clamp(cursor.point + along + across, view.shown.rows.length);
    dataIndex = slots(view.shown).findIndex((slot) => slot.row === cursor.point);
  } else {
    seriesIndex = cursor.series = clamp(cursor.series + across, visible.length);
    dataIndex = cursor.point = clamp(cursor.point + along, visible[seriesIndex].series.x.length);
  }
  if (shape === 'heat') {
    // The library says nothing of a blank cell.
    const at = [cursor.point, cursor.series];
    if (view.shown.series[at[1]].y[columns(view).shown[at[0]]] === null) {
      view.drawn.dispatchAction({ type: 'hideTip' });
      view.tip([{ value: at }]);
      return;
    }
  }
  view.drawn.dispatchAction({ type: 'showTip', seriesIndex, dataIndex });
};

// --- Zoom -------------------------------------------------------------------------------------------------

/// Shows a part of an axis, or all of it, in every chart that has it.
const zoom = (view, part) => {
  const { name } = view.chart.x;
  if (part) ranges.set(name, part);
  else ranges.delete(name);
  for (const its of views) if (its.chart.x.name === name) its.draw();
};

/// Returns where an axis begins and ends, over all charts that have it; a logarithmic one begins above zero.
const whole = (view) => {
  const same = views.filter((its) => its.chart.x.name === view.chart.x.name);
  const all = same.flatMap((its) => its.chart.panels.flatMap((panel) => panel.series.flatMap((series) => series.x)));
  const least = all.reduce((a, b) => Math.min(a, b), Infinity);
  return [view.chart.x.log ? least : Math.min(least, 0), all.reduce((a, b) => Math.max(a, b), 0)];
};

/// Shows a part around the middle that is as many times as long.
const zoomBy = (view, factor) => {
  const [least, most] = whole(view);
  const [go, back] = view.chart.x.log ? [Math.log10, (it) => 10 ** it] : [(it) => it, (it) => it];
  const [from, to] = (ranges.get(view.chart.x.name) ?? [least, most]).map(go);
  const [middle, half] = [(from + to) / 2, ((to - from) / 2) * factor];
  const part = [Math.max(middle - half, go(least)), Math.min(middle + half, go(most))];
  zoom(view, part[0] <= go(least) && part[1] >= go(most) ? null : part.map(back));
};

/// Lets the mouse draw over a part to zoom to it; a double click shows all.
const brush = (view) => {
  const band = make('div', { class: 'brush', hidden: '' });
  let from = null;
  const at = (event) => event.clientX - view.plot.getBoundingClientRect().left;
  const value = (x) => {
    const it = view.drawn.convertFromPixel({ xAxisIndex: view.chart.shape === 'heat' ? 1 : 0 }, x);
    const [least, most] = whole(view);
    return Math.max(least, Math.min(most, it));
  };
  const cover = (to) => Object.assign(band.style, { left: `${Math.min(from, to)}px`, width: `${Math.abs(to - from)}px` });
  view.plot.append(band);
  view.plot.addEventListener('pointerdown', (event) => {
    const inside = view.drawn.containPixel('grid', [at(event), event.clientY - view.plot.getBoundingClientRect().top]);
    if (event.button === 0 && event.pointerType === 'mouse' && inside) from = at(event);
  });
  addEventListener('pointermove', (event) => {
    if (from === null) return;
    band.hidden = Math.abs(at(event) - from) < 6;
    cover(at(event));
  });
  addEventListener('pointerup', (event) => {
    if (from === null) return;
    const part = [value(from), value(at(event))].sort((a, b) => a - b);
    const drawn = !band.hidden;
    [from, band.hidden] = [null, true];
    if (drawn && part[1] > part[0]) zoom(view, part);
  });
  view.plot.addEventListener('dblclick', () => zoom(view, null));
};
