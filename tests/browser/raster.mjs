// Draws the pages of a PDF with PDF.js in the browser that the tests already have, and measures the ink on them.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const library = path.join(import.meta.dirname, 'node_modules/pdfjs-dist/build');
const HOST = 'http://raster.invalid';
const MARK = 'http://mark.invalid/';
/// Pixels per point: 144 dpi.
const SCALE = 2;
/// Milliseconds that a page may take to load beside everything else that the tests do.
const PATIENCE = 120_000;
const ATTEMPTS = 3;

/// Answers the requests of a page from the library's files: modules cannot be loaded from `file:`.
const served = async (page) => {
  await page.route(`${HOST}/**`, (route) => {
    const name = path.basename(new URL(route.request().url()).pathname);
    if (name === '') route.fulfill({ contentType: 'text/html', body: '<!DOCTYPE html><body></body>' });
    else route.fulfill({ contentType: 'text/javascript', body: readFileSync(path.join(library, name)) });
  });
  await page.goto(`${HOST}/`, { timeout: PATIENCE });
};

/// Prints on A4. Chromium prints in a process of its own, which may fail to start on a machine that is at its limits;
/// its refusal says nothing of the page.
const sheets = async (page) => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await page.pdf({ format: 'A4' });
    } catch (error) {
      if (attempt === ATTEMPTS || !/Printing failed/.test(error)) throw error;
    }
  }
};

/// Prints a page. Every figure gets a link over all of it, which tells where it is in the PDF, and the heights of the
/// pictures are those at the time of printing.
const printed = async (page) => {
  await page.evaluate((mark) => {
    for (const figure of document.querySelectorAll('main figure:not(.drawing)')) {
      const link = document.createElement('a');
      link.href = mark + figure.id;
      Object.assign(link.style, { position: 'absolute', inset: '0' });
      figure.style.position = 'relative';
      figure.prepend(link);
    }
    window.heights = {};
    addEventListener('beforeprint', () => {
      for (const plot of document.querySelectorAll('.plot')) window.heights[plot.closest('figure').id] = parseFloat(plot.style.height);
    });
  }, MARK);
  const pdf = await sheets(page);
  return { pdf, heights: await page.evaluate(() => window.heights) };
};

/// Runs in the browser: draws the pages, and looks at the picture of each figure, which is at its foot.
const look = async ({ data, heights, scale, host, mark }) => {
  const lib = await import(`${host}/pdf.min.mjs`);
  lib.GlobalWorkerOptions.workerSrc = `${host}/pdf.worker.min.mjs`;
  const file = await lib.getDocument({ data: Uint8Array.from(atob(data), (it) => it.charCodeAt(0)) }).promise;
  const pages = [];
  for (let at = 1; at <= file.numPages; at += 1) {
    const sheet = await file.getPage(at);
    const viewport = sheet.getViewport({ scale });
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width: Math.round(viewport.width), height: Math.round(viewport.height) });
    const context = canvas.getContext('2d', { willReadFrequently: true });
    await sheet.render({ canvas, canvasContext: context, viewport, annotationMode: 0 }).promise;
    /// The shares of a part of the page that are not paper, and that have a color.
    const ink = (left, top, width, height) => {
      const { data: pixels } = context.getImageData(left, top, Math.max(width, 1), Math.max(height, 1));
      let [some, colored] = [0, 0];
      for (let it = 0; it < pixels.length; it += 4) {
        const rgb = [pixels[it], pixels[it + 1], pixels[it + 2]];
        if (Math.min(...rgb) < 250) some += 1;
        if (Math.max(...rgb) - Math.min(...rgb) > 40) colored += 1;
      }
      return { some: some / (pixels.length / 4), colored: colored / (pixels.length / 4) };
    };
    const figures = (await sheet.getAnnotations()).filter((it) => it.unsafeUrl?.startsWith(mark) || it.url?.startsWith(mark)).map((it) => {
      const [x0, y0] = viewport.convertToViewportPoint(it.rect[0], it.rect[1]);
      const [x1, y1] = viewport.convertToViewportPoint(it.rect[2], it.rect[3]);
      const id = (it.unsafeUrl ?? it.url).slice(mark.length);
      const [left, right, bottom] = [Math.min(x0, x1), Math.max(x0, x1), Math.max(y0, y1)];
      const height = heights[id] * 0.75 * scale;
      const third = (right - left) / 3;
      const parts = [0, 1, 2].map((part) => ink(left + part * third, bottom - height, third, height));
      return {
        id, top: Math.min(y0, y1), height, some: parts.map((part) => part.some), colored: parts.map((part) => part.colored),
      };
    });
    pages.push({ figures, png: canvas.toDataURL('image/png').split(',')[1] });
  }
  return pages;
};

/// Prints a page and returns the pages of the PDF: the PNG, and for every figure on it how much ink each third of its
/// picture has.
export const raster = async (browser, page) => {
  const { pdf, heights } = await printed(page);
  const desk = await browser.newPage();
  try {
    await served(desk);
    return await desk.evaluate(look, { data: pdf.toString('base64'), heights, scale: SCALE, host: HOST, mark: MARK });
  } finally {
    await desk.close();
  }
};
