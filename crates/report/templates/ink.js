// The inks of series: a hue by name from the style sheet, for light and dark, and a pattern. The data of a chart name
// both, so that a scheme or a cause looks the same in every chart.
const HUES = ['blue', 'vermilion', 'green', 'pink', 'orange', 'sky', 'ink'];
const PATTERNS = ['solid', 'rising', 'dots', 'falling', 'level'];
const DASHES = ['solid', [7, 4], [2, 3], [9, 3, 2, 3]];
const LINES = { symbol: 'rect', dashArrayX: [1, 0], symbolSize: 1 };
const DECALS = {
  rising: { ...LINES, dashArrayY: [2, 4], rotation: -Math.PI / 4 },
  dots: { symbol: 'circle', dashArrayX: [[5, 5], [0, 5, 5, 0]], dashArrayY: [5, 0], symbolSize: 0.7 },
  falling: { ...LINES, dashArrayY: [2, 4], rotation: Math.PI / 4 },
  level: { ...LINES, dashArrayY: [2, 4], rotation: 0 },
};
// Viridis (van der Walt and Smith, matplotlib, 2015): perceptually uniform, so it also works in grayscale print.
const FIELD = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];
const SVG = 'http://www.w3.org/2000/svg';
const root = document.documentElement;

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};
const picture = (tag, attributes, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const ink = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const parts = (series) => (series.ink ?? 'ink solid').split(' ');
const colour = (series) => ink(`--hue-${parts(series)[0]}`);
const pattern = (series) => parts(series)[1];
/// The place of a scheme in the comparison.
const place = (series) => PATTERNS.indexOf(pattern(series)) * HUES.length + Math.max(HUES.indexOf(parts(series)[0]), 0);
/// Patterns have the color of the paper, which every hue contrasts with.
const decal = (series) => (DECALS[pattern(series)] ? { ...DECALS[pattern(series)], color: ink('--paper') } : null);
/// A fill with the pattern of a series, as a tile, for shapes that the library has no decals for.
const tile = (series) => {
  if (pattern(series) === 'solid') return colour(series);
  const canvas = make('canvas', { width: 12, height: 12 });
  const context = canvas.getContext('2d');
  context.fillStyle = colour(series);
  context.fillRect(0, 0, 12, 12);
  [context.fillStyle, context.strokeStyle, context.lineWidth] = [ink('--paper'), ink('--paper'), 2];
  const line = (...ends) => { context.beginPath(); ends.forEach(([x, y]) => context.lineTo(x, y)); context.stroke(); };
  const dot = (x, y) => { context.beginPath(); context.arc(x, y, 1.6, 0, 2 * Math.PI); context.fill(); };
  // Lines go over the edges, so that tiles join.
  for (const at of [-6, 0, 6, 12]) {
    if (pattern(series) === 'rising') line([at - 2, 14], [at + 14, -2]);
    if (pattern(series) === 'falling') line([at - 2, -2], [at + 14, 14]);
    if (pattern(series) === 'level' && at >= 0) line([0, at + 3], [12, at + 3]);
  }
  if (pattern(series) === 'dots') [[3, 3], [9, 9]].forEach(([x, y]) => dot(x, y));
  return { image: canvas, imageWidth: 12, imageHeight: 12, repeat: 'repeat' };
};
/// Distributions cross and cover each other, so there every line has its own dashes. In time series dashes would be
/// lost in the noise, so there they only tell the eighth scheme from the first.
const dash = (series, shape) => DASHES[(shape === 'steps' ? place(series) : PATTERNS.indexOf(pattern(series))) % DASHES.length];

/// A swatch of 22 x 12: a line, or an area with its pattern.
const swatch = (series, shape) => {
  const own = { width: 22, height: 12, viewBox: '0 0 22 12', 'aria-hidden': 'true' };
  if (shape !== 'bars' && shape !== 'areas') {
    const dashes = dash(series, shape);
    const line = { x1: 0, x2: 22, y1: 6, y2: 6, stroke: colour(series), 'stroke-width': 3 };
    return picture('svg', own, picture('line', { ...line, 'stroke-dasharray': Array.isArray(dashes) ? dashes.join(' ') : null }));
  }
  const mark = picture('svg', own, picture('rect', { x: 1, y: 0, width: 20, height: 12, rx: 2, fill: colour(series) }));
  const line = (x1, y1, x2, y2) => picture('line', { x1, y1, x2, y2, stroke: ink('--paper'), 'stroke-width': 1.6 });
  const across = [2, 8, 14];
  mark.append(...{
    solid: () => [],
    rising: () => across.map((x) => line(x, 12, x + 8, 0)),
    falling: () => across.map((x) => line(x, 0, x + 8, 12)),
    level: () => [3, 8].map((y) => line(1, y, 21, y)),
    dots: () => [5, 11, 17].flatMap((x) => [3.5, 8.5].map((y) => picture('circle', { cx: x, cy: y, r: 1.5, fill: ink('--paper') }))),
  }[pattern(series)]());
  return mark;
};
