// Numbers for people, and files.
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
/// The least number of the form 1, 2 or 5 times a power of ten that is no less than a value.
const ceiling = (value) => {
  if (!(value > 0)) return 1;
  const scale = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 5, 10].map((it) => it * scale).find((it) => it >= value * (1 - 1e-9));
};

const cell = (value) => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (rows) => rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
const offer = (name, blob) => {
  const url = URL.createObjectURL(blob);
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};
const download = (name, text, type) => offer(name, new Blob([text], { type }));

/// The name of a row of bars: with its group, if there are groups.
const rowName = (panel, index) => {
  let left = index;
  for (const [group, count] of panel.groups ?? []) {
    if (left < count) return `${group}, ${panel.rows[index]}`;
    left -= count;
  }
  return panel.rows[index];
};

/// The marks of a box, from below.
const BOX = ['p5', 'p25', 'p50', 'p75', 'p99'];

/// Returns the numbers behind a chart as rows, heads first.
const numbers = (chart) => {
  const several = chart.panels.length > 1;
  const heads = {
    bars: ['row', 'part', 'value', 'of'],
    heat: ['row', chart.x.name, 'value', 'of'],
    boxes: ['row', 'series', 'percentile', 'value', 'of'],
  }[chart.shape] ?? ['series', chart.x.name, 'value', 'of'];
  const rows = [several ? ['view', ...heads] : heads];
  for (const panel of chart.panels) {
    const add = (...row) => rows.push(several ? [panel.name, ...row] : row);
    for (const series of panel.series) {
      series.y.forEach((value, index) => {
        if (chart.shape === 'boxes') add(panel.rows[Math.floor(index / 5)], series.name, BOX[index % 5], value, panel.y.name);
        else if (chart.shape === 'bars') add(rowName(panel, index), series.name, value, panel.y.name);
        else add(series.name, series.x[index], value, panel.y.name);
        if (series.band) ['from', 'to'].forEach((side, at) => add(series.name, series.x[index], series.band[index]?.[at], `${panel.y.name}, ${side}`));
      });
    }
  }
  return rows;
};
