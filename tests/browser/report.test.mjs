// Tests the reports of real runs in a browser: they draw, respond to mouse and keyboard, and fetch nothing.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { raster } from './raster.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const target = path.resolve(process.env.CARGO_TARGET_DIR ?? path.join(root, 'target'));
const fowler = process.env.FOWLER ?? path.join(target, 'shipped/fowler');
const out = path.join(target, 'browser');
const WIDTHS = [['wide', 1280, 'light'], ['narrow', 390, 'dark']];
// The charts of a run with reads and writes under schemes that suspend.
const CHARTS = [
  'read-latency', 'write-latency', 'read-latency-density', 'write-latency-density', 'read-latency-boxes',
  'write-latency-boxes', 'outstanding', 'read-blame', 'write-blame', 'read-latency-over-time',
  'write-latency-over-time', 'throughput', 'die-activity', 'die-utilisation', 'channel-utilisation', 'waf-over-time', 'suspensions-over-time',
  'traffic-by-address', 'latency-by-address', 'waf-by-address', 'write-amplification', 'wear-map',
];
const HEATS = ['read-latency-density', 'write-latency-density', 'die-utilisation', 'channel-utilisation', 'wear-map'];
/// Most pages of a comparison on paper.
const PAGES = 5;
let browser;

/// Runs the program with its output in a folder, and returns the path of the report.
const run = (folder, ...flags) => {
  mkdirSync(out, { recursive: true });
  execFileSync(fowler, [...flags, '--quiet', '--out', path.join(out, folder)]);
  return path.join(out, folder, 'report.html');
};

/// Opens a page, in which `first` has run before its own scripts, and passes it to `look`. Fails on console messages,
/// and on requests other than for the file.
const opened = async (file, options, look, first = () => {}) => {
  // Reduced motion: tests read positions right after scrolling, so scrolling must not be animated.
  const context = await browser.newContext({ acceptDownloads: true, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  await page.addInitScript(first);
  const complaints = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  const url = pathToFileURL(file).href;
  try {
    await page.goto(url, { timeout: 120_000 });
    await page.waitForFunction(() => document.documentElement.dataset.drawn === 'yes', null, { timeout: 120_000 });
    await look(page);
  } finally {
    await context.close();
  }
  assert.deepEqual(complaints, []);
  const elsewhere = asked.filter((it) => it !== url && !it.startsWith('blob:') && !it.startsWith('data:'));
  assert.deepEqual(elsewhere, []);
};

/// Returns the number of lines or bars drawn in a chart.
const drawn = (page, id) => page.locator(`#${id} .plot svg path`).count();
/// Waits until a value satisfies `holds`, because a page reacts to events at times that the browser chooses. Fails
/// with the last value.
const until = async (what, holds, about) => {
  const patience = Date.now() + 10_000;
  for (;;) {
    const value = await what();
    if (holds(value)) return value;
    if (Date.now() > patience) assert.fail(`${about}: ${JSON.stringify(value)}`);
    await new Promise((resume) => { setTimeout(resume, 20); });
  }
};
/// Waits until a chart's text for screen readers matches.
const says = (page, id, expected) => until(
  () => page.locator(`#${id} .spoken`).textContent(), (text) => expected.test(text), `${id} does not say ${expected}`);
/// Returns the role and name of every focusable element, as the browser reports them to screen readers.
const acting = async (page) => {
  const browserSays = await page.context().newCDPSession(page);
  const { nodes } = await browserSays.send('Accessibility.getFullAXTree');
  const is = (node, what) => node.properties?.some((it) => it.name === what && it.value.value === true);
  return nodes.filter((it) => !it.ignored && is(it, 'focusable') && it.role.value !== 'RootWebArea')
    .map((it) => [it.role.value, it.name?.value.trim() ?? '']);
};
const nameless = async (page) => (await acting(page)).filter(([, name]) => name === '');
const saved = async (page, click) => {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
};

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
});
after(() => browser?.close());

test('a comparison, at two widths', async (context) => {
  const file = run('compare', 'compare', '--device', 'pes-mlc', '--workload', 'demo', '--limit', '30000',
    '--set', 'geometry.blocks_per_plane=128', '--set', 'gc.background_below=24',
    '--set', 'precondition.pattern=steady', '--schemes', 'fifo,rps,pes_ipc');
  assert.ok(statSync(file).size < 2e6, `${statSync(file).size} bytes`);

  for (const [name, width, colorScheme] of WIDTHS) {
    await context.test(`${name}: every chart is there and fits`, () =>
      opened(file, { viewport: { width, height: 900 }, colorScheme }, async (page) => {
        const ids = await page.locator('main figure').evaluateAll((all) => all.map((it) => it.id));
        assert.deepEqual(ids.toSorted(), CHARTS.toSorted());
        for (const id of CHARTS) {
          const plot = await page.locator(`#${id} .plot`).boundingBox();
          assert.ok(plot.width > 250 && plot.height > 100, `${id}: ${plot.width} x ${plot.height}`);
          assert.ok(plot.x >= 0 && plot.x + plot.width <= width, `${id} is wider than the window`);
        }
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `the page is ${over} px too wide`);
        const text = await page.locator('body').innerText();
        assert.doesNotMatch(text, /NaN|Infinity|undefined|\[object/);
        assert.doesNotMatch(await page.locator('figure svg').allInnerTexts().then((all) => all.join()), /NaN|undefined/);
        // Every word is inside its chart, and ticks have at most two digits that are not zeros at an end.
        const words = await page.locator('.plot svg text').evaluateAll((all) => all.map((it) => {
          const [word, plot] = [it.getBoundingClientRect(), it.closest('.plot').getBoundingClientRect()];
          const out = Math.max(plot.left - word.left, word.right - plot.right, plot.top - word.top, word.bottom - plot.bottom);
          return { text: it.textContent, id: it.closest('figure').id, out };
        }));
        assert.deepEqual(words.filter((it) => it.out > 1), [], 'words are cut off');
        const ticks = words.filter((it) => /^[\d,.]+$/.test(it.text));
        assert.ok(ticks.length > 100, `${ticks.length} ticks`);
        const digits = (text) => text.replaceAll(/[,.]/g, '').replaceAll(/^0+|0+$/g, '').length;
        assert.deepEqual(ticks.filter((it) => digits(it.text) > 2), [], 'ticks for people');
        await page.screenshot({ path: path.join(out, `compare-${name}.png`), fullPage: true });
      }));
  }

  await context.test('the legend hides and shows a series', () => opened(file, {}, async (page) => {
    const button = page.locator('#read-latency .legend button', { hasText: 'rps' });
    const all = await drawn(page, 'read-latency');
    const pressed = (state) => until(() => button.getAttribute('aria-pressed'), (its) => its === state, `not ${state}`);
    await button.click();
    await pressed('false');
    await until(() => drawn(page, 'read-latency'), (its) => its < all, `still ${all} lines`);
    await button.press('Enter');
    await pressed('true');
    await until(() => drawn(page, 'read-latency'), (its) => its === all, `not back to ${all} lines`);
  }));

  await context.test('a table sorts both ways, by mouse and by keyboard', () => opened(file, {}, async (page) => {
    const head = page.locator('table[data-name="latency"] th', { hasText: 'mean (us)' });
    const column = () => page.locator('table[data-name="latency"] tbody td:nth-child(4)')
      .evaluateAll((cells) => cells.map((it) => Number(it.dataset.sort)));
    const down = (await column()).toSorted((a, b) => b - a);
    assert.equal(down.length, 6);
    const sorted = async (state, expected) => {
      await until(() => head.getAttribute('aria-sort'), (its) => its === state, `not ${state}`);
      await until(column, (its) => String(its) === String(expected), `not ${expected}`);
    };
    const button = head.getByRole('button', { name: 'mean (us)', exact: true });
    await button.click();
    await sorted('descending', down);
    await button.focus();
    await page.keyboard.press('Enter');
    await sorted('ascending', down.toReversed());
    await page.keyboard.press('Space');
    await sorted('descending', down);
    // Heads are aligned with their numbers.
    assert.equal(await button.evaluate((it) => getComputedStyle(it).textAlign), 'right');
    // Sorting does not change a head's name: `aria-sort` reports the order.
    assert.equal(await head.getAttribute('aria-label'), null);
    assert.equal(await head.getAttribute('tabindex'), null);
  }));

  await context.test('the mouse shows exact values', () => opened(file, {}, async (page) => {
    const plot = page.locator('#read-latency .plot');
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + box.width * 0.55, box.y + box.height / 2);
    const tip = page.locator('#read-latency .tip');
    await tip.waitFor({ state: 'visible' });
    const text = await until(() => tip.innerText(), (its) => its.includes('fifo'), 'the tip');
    for (const scheme of ['fifo', 'rps', 'pes_ipc']) assert.match(text, new RegExp(`${scheme}\\s+[\\d.]+`));
    // The value shown is in the data.
    const data = JSON.parse(await page.locator('#read-latency script').textContent());
    const value = Number(text.match(/fifo\s+([\d.e-]+)/)[1]);
    const known = data.panels[0].series.find((it) => it.name === 'fifo').y;
    assert.ok(known.some((it) => Math.abs(it - value) <= 1e-3 * value), `${value} is not in the data`);
  }));

  await context.test('the keyboard reads values aloud', () => opened(file, {}, async (page) => {
    for (const [id, keys, expected] of [
      ['read-latency', ['End', 'ArrowLeft'], /fifo \d/],
      ['read-blame', ['ArrowDown', 'ArrowDown'], /share of the latency.*\d/],
      // Whichever key is pressed first, it goes to the first point of the first row.
      ['die-utilisation', ['ArrowDown'], /^die 0, time since the first request .*die busy \(%\) \d/],
      ['channel-utilisation', ['ArrowUp'], /^channel 0, time since the first request/],
      // Latencies by window and by phase.
      ['read-latency-density', ['ArrowDown'], /^[\d.]+ to [\d.]+ us, time since .*reads of the window \(%\) /],
      ['read-latency-boxes', ['ArrowRight'], /^phase 1, latency of reads \(us\): fifo p5 [\d.]+, p25 [\d.]+, p50/],
      ['wear-map', ['End'], /^die 0, block of the die \(number\) 508:/],
      ['die-utilisation', ['ArrowDown', 'ArrowRight'], /^die 1, time since the first request .*die busy \(%\) \d/],
    ]) {
      await page.locator(`#${id} .plot`).focus();
      for (const key of keys) await page.keyboard.press(key);
      await says(page, id, expected);
    }
  }));

  await context.test('a heat map has no legend, because it has no series to hide', () => opened(file, {}, async (page) => {
    const legends = await page.locator('.legend').evaluateAll((all) => all.map((it) => [it.closest('figure').id, it.childElementCount]));
    for (const [id, entries] of legends) assert.ok(entries > 0, `${id} has an empty legend`);
    assert.equal(legends.length, CHARTS.length - HEATS.length, 'all charts but heat maps have a legend');
  }));

  await context.test('the data behind a chart can be downloaded', () => opened(file, {}, async (page) => {
    const figure = await saved(page, () => page.click('#read-latency [data-file=CSV]'));
    assert.equal(figure.name, 'read-latency.csv');
    assert.match(figure.text, /^series,latency \(us\),value,of\r\nfifo,\d/);
    for (const id of ['read-latency', 'die-utilisation']) {
      const svg = await saved(page, () => page.click(`#${id} [data-file=SVG]`));
      assert.equal(svg.name, `${id}.svg`);
      assert.match(svg.text, /^<svg[^]*<\/svg>$/);
      assert.ok(svg.text.match(/<path/g).length > 5, `${id}: nothing is drawn`);
      const png = await saved(page, () => page.click(`#${id} [data-file=PNG]`));
      assert.equal(png.name, `${id}.png`);
      assert.match(png.text, /^.PNG/);
      assert.ok(png.text.length > 5_000, `${id}: ${png.text.length} bytes`);
    }
    const heat = await saved(page, () => page.click('#die-utilisation [data-file=CSV]'));
    assert.match(heat.text, /\r\npes_ipc,die 15,[\d.]+,[\d.]+,die busy \(%\)\r\n/);
    const table = await saved(page, () => page.click('button[data-sheet="latency"]'));
    assert.match(table.text, /^scheme,requests,count,/);
    await page.click('#texts summary >> nth=0');
    const drive = await saved(page, () => page.click('#texts button.download >> nth=0'));
    assert.equal(drive.name, 'fifo.toml');
    assert.match(drive.text, /\[geometry\]/);
    // The others are put together from the first and what differs.
    const other = await saved(page, () => page.click('#texts button.download >> nth=1'));
    assert.equal(other.name, 'rps.toml');
    const lines = drive.text.split('\n');
    assert.deepEqual(other.text.split('\n').filter((line, at) => line !== lines[at]), ['name = "read_first"']);
    await page.click('#read-latency details summary');
    // The rows appear with the `toggle` event, which a browser sends some time after the click.
    await page.locator('#read-latency details tbody tr').nth(100).waitFor();
  }));

  await context.test('charts with the same axis zoom together', () => opened(file, {}, async (page) => {
    const wholes = () => page.locator('button.whole:visible').evaluateAll((all) => all.map((it) => it.closest('figure').id));
    const zoomed = (holds, about) => until(wholes, holds, about);
    const last = () => page.locator('#throughput .plot svg text').evaluateAll((all) => Math.max(...all
      .filter((it) => it.getBoundingClientRect().top > it.closest('svg').getBoundingClientRect().bottom - 46)
      .map((it) => Number(it.textContent)).filter((it) => it > 0)));
    const before = await last();
    const plot = page.locator('#die-utilisation .plot');
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 80, { steps: 4 });
    await page.mouse.up();
    await zoomed((ids) => ids.length === 11 && ids.includes('throughput') && !ids.includes('wear-map'), 'charts over time');
    await until(last, (its) => its < before, `ticks up to ${before}`);
    await page.click('#throughput button.whole');
    await zoomed((ids) => ids.length === 0, 'all of the axis');
    await page.locator('#read-latency .plot').focus();
    await page.keyboard.press('+');
    await zoomed((ids) => String(ids) === 'read-latency,write-latency', 'latencies');
    await page.keyboard.press('0');
    await zoomed((ids) => ids.length === 0, 'all latencies');
    // Curves that cover each other are named.
    assert.match(await page.locator('#suspensions-over-time .remark').innerText(), /^fifo and rps coincide/);
  }));

  await context.test('views, themes and print', () => opened(file, {}, async (page) => {
    const view = page.locator('#read-blame .views button', { hasText: 'time' });
    await view.click();
    await until(() => view.getAttribute('aria-pressed'), (its) => its === 'true', 'the view is not pressed');
    await until(() => page.locator('#read-blame .plot svg').innerHTML(), (its) => its.includes('mean time (us)'), 'the view');
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    // Lines are drawn in the colors of the style sheet, whose contrast another test measures.
    const drawnIn = () => page.evaluate(() => ['blue', 'vermilion', 'green'].map((hue) => {
      const said = getComputedStyle(document.documentElement).getPropertyValue(`--hue-${hue}`).trim();
      const strokes = [...document.querySelectorAll('#read-latency svg path')].map((it) => it.getAttribute('stroke'));
      return strokes.includes(said) ? said : `${said} is not in ${[...new Set(strokes)]}`;
    }));
    const [first] = await until(drawnIn, (its) => its.every((colour) => /^#[0-9a-f]{6}$/.test(colour)), 'colours');
    await page.click('#theme');
    await until(paper, (its) => its !== light, 'the background is unchanged');
    await until(drawnIn, (its) => its[0] !== first && its.every((colour) => /^#[0-9a-f]{6}$/.test(colour)), 'dark colours');
  }));

  // Slow: the report is printed, and a PDF reader draws its pages.
  await context.test('on paper every chart is drawn and whole', () => opened(file, { colorScheme: 'dark' }, async (page) => {
    const pages = await raster(browser, page);
    pages.forEach((it, at) => writeFileSync(path.join(out, `compare-page-${at + 1}.png`), Buffer.from(it.png, 'base64')));
    assert.ok(pages.length <= PAGES, `${pages.length} pages`);
    const figures = pages.flatMap((it) => it.figures);
    assert.deepEqual(figures.map((it) => it.id).toSorted(), CHARTS.toSorted(), 'each chart is on one page');
    for (const { id, some, colored } of figures) {
      // A chart that is cut off or was not drawn leaves a part of its place to the paper.
      assert.ok(Math.min(...some) > 0.01, `${id} is blank: ${some}`);
      const least = HEATS.includes(id) ? 0.05 : 0.001;
      assert.ok(Math.max(...colored) > least, `${id} has no data: ${colored}`);
    }
  }));

  // The library paints what takes longer than a frame in the next ones, also after the chart has been printed.
  await context.test('a slow machine prints without errors', () => opened(file, {}, async (page) => {
    for (let time = 0; time < 2; time += 1) {
      await page.evaluate(() => ['beforeprint', 'afterprint'].forEach((name) => dispatchEvent(new Event(name))));
      await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
    }
  }, () => {
    const now = Date.now.bind(Date);
    let late = 0;
    Date.now = () => now() + (late += 20);
  }));

  // Slow: it opens the table behind every chart, and the browser lists more than 100 controls twice.
  await context.test('every control has a name and can be reached by keyboard', () => opened(file, {}, async (page) => {
    // Open everything that can be opened, because there are controls inside.
    for (const summary of await page.locator('summary').all()) await summary.click();
    const tables = await page.locator('main figure details').count();
    assert.equal(tables, CHARTS.length);
    await until(() => page.locator('main figure details table').count(), (its) => its === tables, 'tables of numbers');
    const said = await acting(page);
    assert.ok(said.length > 100, `only ${said.length} controls`);
    assert.deepEqual(await nameless(page), []);
    const grouped = said.filter(([role]) => role === 'region' || role === 'group').map(([, name]) => name);
    assert.equal(new Set(grouped).size, grouped.length, 'no two regions have the same name');
    const scopeless = await page.locator('th:not([scope])').count();
    assert.equal(scopeless, 0, 'every head has a scope');
    const headings = await page.locator('h1, h2, h3').evaluateAll((all) => all.map((it) => Number(it.tagName[1])));
    headings.reduce((above, level) => { assert.ok(level <= above + 1); return level; }, 0);
  }));
});

test('several seeds: percentiles have bands, and tiles have intervals', async () => {
  const file = run('seeds', 'compare', '--device', 'pes-mlc', '--workload', 'demo', '--limit', '3000', '--seeds', '3',
    '--set', 'geometry.blocks_per_plane=128', '--set', 'gc.background_below=24', '--schemes', 'fifo,rps');
  await opened(file, {}, async (page) => {
    assert.match(await page.locator('.tiles').innerText(), /fifo\s+[\d.,]+ ± [\d.,]+/);
    assert.equal(await page.locator('.tiles li').count(), 6);
    const { text } = await saved(page, () => page.click('#read-percentiles [data-file=CSV]'));
    assert.match(text, /\r\nrps,0.5,[\d.]+,"?latency of reads \(us\), to"?\r\n/);
    // A line and two bounds for each scheme.
    const dashed = await page.locator('#read-percentiles .plot svg path[stroke-dasharray]').count();
    assert.ok(dashed >= 4, `${dashed} bounds`);
    await page.locator('#read-percentiles .plot').focus();
    await page.keyboard.press('ArrowRight');
    await says(page, 'read-percentiles', /fifo [\d.,]+ \([\d.,]+ to [\d.,]+\), rps/);
  });
});

test('a life: every control has a name, and no figure is enlarged', async () => {
  const load = path.join(out, 'load.toml');
  mkdirSync(out, { recursive: true });
  writeFileSync(load, "duration = '1h'\narrivals = { kind = 'poisson', rate = 5 }\nmix.reads = 0.2\nspace.share = 0.8\n");
  const small = ['channels', 'chips_per_channel', 'dies_per_chip'].flatMap((it) => ['--set', `geometry.${it}=1`]);
  const file = run('lifetime', 'lifetime', '--device', 'ready-32', ...small, '--set', 'geometry.blocks_per_plane=64',
    '--set', 'lifetime.cycles=400', '--years', '0.0547945', '--workload', load);
  for (const [name, width, colorScheme] of WIDTHS) {
    await opened(file, { viewport: { width, height: 900 }, colorScheme }, async (page) => {
      assert.match(await page.locator('h1').innerText(), /, 20 days with/);
      assert.deepEqual(await nameless(page), []);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `the page is ${over} px too wide`);
      const larger = await page.locator('figure svg').evaluateAll((all) => all
        .map((it) => it.getBoundingClientRect().width / Number(it.getAttribute('width'))).filter((it) => it > 1.001));
      assert.deepEqual(larger, [], 'figures are enlarged');
      await page.screenshot({ path: path.join(out, `lifetime-${name}.png`), fullPage: true });
    });
  }
});

test('tables do not need scripts', async () => {
  const file = run('single', 'run', '--device', 'pes-mlc', '--workload', 'demo', '--limit', '5000', '--scheme', 'rps');
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  assert.ok(await page.locator('table[data-name="latency"] tbody tr').count() === 2);
  assert.match(await page.locator('noscript').innerText(), /need JavaScript/);
  await context.close();
});
