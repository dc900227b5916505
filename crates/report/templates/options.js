// How each shape of chart is drawn: options of the charting library.

/// Parts of a view that are shown now, between the ends to which its axis is zoomed.
const zoomed = (view) => ranges.get(view.chart.x.name);
/// The names of values are above their axis: upright ones need no turned heads, and are never cut off.
const left = (view) => (view.printed ? 42 : 58);

const axis = (view, its, more = {}) => ({
  type: its.log ? 'log' : 'value', name: its.name, nameLocation: 'middle',
  nameTextStyle: { color: ink('--quiet'), fontSize: view.letters },
  axisLine: { lineStyle: { color: ink('--line') } }, axisTick: { lineStyle: { color: ink('--line') } },
  axisLabel: {
    color: ink('--quiet'), hideOverlap: true, fontSize: view.letters, formatter: its.log ? power : (it) => brief.format(it),
  },
  splitLine: { lineStyle: { color: ink('--grid') } }, splitNumber: view.printed ? 4 : 5, ...more,
});
const upright = (view, its, more = {}) => axis(view, its, {
  nameLocation: 'end', nameGap: view.printed ? 8 : 12,
  nameTextStyle: { color: ink('--quiet'), fontSize: view.letters, align: 'left', padding: [0, 0, 0, 8 - left(view)] }, ...more,
});

/// Returns the powers of ten around all values, so that hiding a series does not move the axes.
const range = (view, its, pick) => {
  if (!its.log) return { scale: pick === 'x' };
  const values = view.shown.series
    .flatMap((series) => [...series[pick], ...(pick === 'y' ? (series.band ?? []).flat() : [])]).filter((value) => value > 0);
  if (values.length === 0) return {};
  const [least, most] = values.reduce(([a, b], it) => [Math.min(a, it), Math.max(b, it)], [Infinity, 0]);
  const min = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return { min, max: Math.max(10 ** Math.ceil(Math.log10(most) - 1e-9), min * 10) };
};

/// An axis up to 1, 2 or 5 times a power of ten, with ticks at such numbers.
const even = (max) => ({ max, interval: max / (String(max).replace(/[0.]/g, '').startsWith('2') ? 4 : 5) });

const lines = (view) => {
  const { x, shape } = view.chart;
  const { series, y } = view.shown;
  const stacked = shape === 'areas';
  const all = series.flatMap((its) => its.x);
  const ends = x.log ? range(view, x, 'x') : { min: 0, max: all.reduce((a, b) => Math.max(a, b), 0) };
  const [min, max] = zoomed(view) ?? [ends.min, ends.max];
  const line = ({ series: its, index }) => ({
    type: 'line', id: String(index), name: its.name, color: colour(its), showSymbol: its.x.length < 2, symbolSize: 7, symbol: 'circle',
    step: shape === 'steps' ? 'start' : false, stack: stacked ? 'all' : undefined,
    areaStyle: stacked ? { opacity: 1, color: tile(its) } : undefined,
    lineStyle: { width: stacked ? 0.5 : view.printed ? 1.4 : 2, type: dash(its, shape) }, emphasis: { disabled: true },
    data: its.x.map((at, point) => [at, x.log || !y.log || its.y[point] > 0 ? its.y[point] : null]),
  });
  // The bounds of a band come after all lines, so that a line has the same index with and without them.
  const bounds = view.visible().filter(({ series: its }) => its.band).flatMap(({ series: its, index }) => [0, 1].map((side) => ({
    ...line({ series: its, index }), id: `${index} ${side}`, silent: true,
    lineStyle: { width: 1, type: [2, 2], opacity: 0.8 },
    data: its.x.map((at, point) => [at, its.band[point]?.[side] > 0 || !y.log ? its.band[point]?.[side] ?? null : null]),
  })));
  const sums = stacked ? series[0]?.x.map((_, at) => series.reduce((sum, its) => sum + (its.y[at] ?? 0), 0)) ?? [] : [];
  const top = even(Math.min(100, ceiling(sums.reduce((a, b) => Math.max(a, b), 0))));
  const below = axis(view, x).axisLabel;
  return {
    grid: { left: left(view), right: 18, top: view.printed ? 20 : 34, bottom: view.printed ? 32 : 46 },
    xAxis: axis(view, x, {
      nameGap: view.printed ? 20 : 28, ...ends, min, max,
      axisLabel: { ...below, showMaxLabel: x.log ? null : false, showMinLabel: zoomed(view) && !x.log ? false : null },
    }),
    yAxis: upright(view, y, { ...range(view, y, 'y'), ...(stacked ? top : {}) }),
    tooltip: { trigger: 'axis', formatter: (points) => view.tip(points) },
    series: [...view.visible().map(line), ...bounds],
  };
};

/// The rows of bars, each group under its name.
const slots = (panel) => {
  if (!panel.groups) return panel.rows.map((name, row) => ({ name, row }));
  let row = 0;
  return panel.groups.flatMap(([group, count]) => [
    { name: group, row: null }, ...Array.from({ length: count }, () => ({ name: panel.rows[row], row: row++ })),
  ]);
};

const bars = (view) => {
  const { y } = view.shown;
  const all = slots(view.shown);
  const bar = ({ series, index }) => ({
    type: 'bar', id: String(index), name: series.name, color: colour(series), stack: 'all', barMaxWidth: 22, barCategoryGap: '16%',
    data: all.map((slot) => (slot.row === null ? null : series.y[slot.row])),
    itemStyle: { decal: decal(series), borderColor: ink('--paper'), borderWidth: 0.5 }, emphasis: { disabled: true },
  });
  const rows = axis(view, { name: '', log: false }, {
    type: 'category', data: all.map((slot) => slot.name), inverse: true, splitLine: { show: false },
    axisTick: { show: false },
    axisLabel: {
      color: ink('--ink'), interval: 0, width: view.width() < 420 ? 110 : 190, overflow: 'truncate', fontSize: view.letters,
      formatter: (name, at) => (all[at].row === null ? `{group|${name}}` : name),
      rich: { group: { fontWeight: 'bold', fontSize: view.letters, color: ink('--ink') } },
    },
  });
  return {
    grid: { left: 8, right: 18, top: 6, bottom: view.printed ? 20 : 28, containLabel: true },
    xAxis: axis(view, y, { nameGap: view.printed ? 20 : 28, ...(y.name.includes('%') ? even(100) : {}) }), yAxis: rows,
    tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: (points) => view.tip(points) },
    series: view.visible().map(bar),
  };
};

/// The columns of a heat map that are shown, and where the first begins and the last ends.
const columns = (view) => {
  const all = view.shown.series[0].x;
  // Columns are named by their beginning, or else by their middle.
  const step = all.length > 1 ? all[1] - all[0] : all[0] * 2 || 1;
  const before = all[0] === 0 ? 0 : step / 2;
  const [from, to] = zoomed(view) ?? [-Infinity, Infinity];
  let shown = all.map((_, at) => at).filter((at) => all[at] - before + step > from && all[at] - before < to);
  if (shown.length === 0) shown = all.map((_, at) => at);
  return { shown, min: Math.max(all[shown[0]] - before, 0), max: all[shown.at(-1)] - before + step };
};

/// About how much of the height is that of the cells.
const cellsHigh = (view) => view.height() - (view.printed ? 60 : 100);

const boxes = (view) => {
  const { rows, series, y } = view.shown;
  const box = ({ series: its, index }) => ({
    type: 'boxplot', id: String(index), name: its.name, boxWidth: [3, 18], emphasis: { disabled: true },
    itemStyle: { color: ink('--paper'), borderColor: colour(its), borderWidth: view.printed ? 1.2 : 1.8 },
    data: rows.map((_, row) => (its.y[row * 5 + 4] === null ? [] : its.y.slice(row * 5, row * 5 + 5))),
  });
  return {
    grid: { left: left(view), right: 18, top: view.printed ? 20 : 34, bottom: view.printed ? 32 : 46 },
    xAxis: axis(view, view.chart.x, {
      type: 'category', data: rows, nameGap: view.printed ? 20 : 28, splitLine: { show: false },
      axisLabel: { color: ink('--quiet'), fontSize: view.letters, interval: 0 },
    }),
    yAxis: upright(view, y, range(view, y, 'y')),
    tooltip: { trigger: 'axis', axisPointer: { type: 'shadow' }, formatter: (points) => view.tip(points) },
    series: view.visible().map(box),
  };
};

/// Cells of a logarithmic scale have the colors of their powers of ten; zero has none.
const scaled = (its) => (its.log ? (value) => (value > 0 ? Math.log10(value) : null) : (value) => value);

const heat = (view) => {
  const { rows, series, y } = view.shown;
  const { shown, min, max } = columns(view);
  const color = scaled(y);
  const data = series.flatMap((line, row) => shown.map((column, at) => [at, row, color(line.y[column])]));
  // One scale for all schemes, so that a color always has the same meaning.
  const values = view.chart.panels.flatMap((panel) => panel.series.flatMap((line) => line.y)).filter((it) => it !== null);
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const least = values.reduce((a, b) => Math.min(a, b), most);
  const percent = y.name.includes('%');
  const low = y.log ? 10 ** Math.floor(Math.log10(least)) : percent ? 0 : Math.floor(least);
  const high = percent ? Math.min(100, ceiling(most)) : Math.max(low + ceiling(most - low), low + 1);
  const every = Math.ceil((rows.length * (view.letters + 3)) / cellsHigh(view));
  const major = view.shown.major;
  const hidden = { axisLabel: { show: false }, axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false } };
  const along = axis(view, view.chart.x, { nameGap: view.printed ? 20 : 28, min, max, position: 'bottom', splitLine: { show: false } });
  return {
    grid: { left: 8, right: 18, top: 8, bottom: view.printed ? 46 : 74, containLabel: true },
    // The cells need a category for each column; the ticks are those of a second axis, at round numbers.
    xAxis: [
      { type: 'category', data: shown.map(String), position: 'top', ...hidden },
      { ...along, axisLabel: { ...along.axisLabel, showMaxLabel: false, showMinLabel: min === 0 ? null : false } },
    ],
    yAxis: axis(view, { name: '', log: false }, {
      type: 'category', data: rows, inverse: true, splitLine: { show: false },
      axisLabel: {
        color: ink('--quiet'), fontSize: view.letters, interval: major ? (at) => major.includes(at) : every - 1,
        // The beginning of a range is enough.
        formatter: (name) => (major ? name.replace(/^(\S+) to \S+/, (_, from) => brief.format(Number(from))) : name),
      },
    }),
    visualMap: {
      type: 'continuous', min: color(low), max: color(high), orient: 'horizontal', left: 'center', bottom: 0, seriesIndex: 0,
      itemHeight: view.printed ? 36 : view.width() < 420 ? 70 : 160, itemWidth: view.printed ? 8 : 12, calculable: false,
      text: [number(high), `${y.name}: ${number(low)}`],
      textStyle: { color: ink('--quiet'), fontSize: view.letters }, inRange: { color: FIELD },
    },
    tooltip: { trigger: 'item', formatter: (point) => view.tip([point]) },
    series: [{
      type: 'heatmap', xAxisIndex: 0, data, progressive: 0,
      emphasis: { itemStyle: { borderColor: ink('--ink'), borderWidth: 1.5 } },
    }],
  };
};

const option = (view) => {
  const text = { color: ink('--ink'), fontFamily: getComputedStyle(document.body).fontFamily };
  const own = ({ bars, heat, boxes }[view.chart.shape] ?? lines)(view);
  const shared = {
    animation: false, textStyle: text, backgroundColor: 'transparent',
    // Labels of the chart would repeat the caption; its decals are replaced by those of the inks.
    aria: { enabled: true, label: { enabled: false }, decal: { show: false } },
  };
  const tooltip = {
    confine: true, transitionDuration: 0, className: 'tip', padding: [6, 10],
    backgroundColor: ink('--raised'), borderColor: ink('--line'), textStyle: { color: ink('--ink') },
    axisPointer: { lineStyle: { color: ink('--quiet') }, shadowStyle: { color: 'rgba(127, 127, 127, 0.15)' } },
  };
  return { ...shared, ...own, tooltip: { ...tooltip, ...own.tooltip } };
};
