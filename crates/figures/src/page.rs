//! The whole picture: title, panels in a grid, legends, caption.

use plotters::prelude::*;

use crate::canvas::{Drawn, Lettering, Pen};
use crate::check::{FigureError, Finding, Wrong, check};
use crate::legend::Legend;
use crate::panel::{Plan, natural_width, range_of_y};
use crate::style::{AXIS, LABEL, PAPER, TITLE, printable, px, wrap};
use crate::{Figure, Panel};

impl Figure {
    /// Returns the picture as SVG text that ends in a newline.
    ///
    /// # Errors
    ///
    /// Everything that prevents the figure from being drawn, all at once: see [`Wrong`]. Nothing is
    /// left out silently.
    pub fn svg(&self) -> Result<String, FigureError> {
        check(self)?;
        draw(self)
    }
}

/// Margin on all sides of a picture, in pixels.
const EDGE: f64 = 14.0;
/// Gap between the panels of a picture, in pixels.
const GAP: f64 = 18.0;
/// Two panels go side by side if their total width is at most this, in pixels.
const PAGE: f64 = 1100.0;
const TITLE_LINE: f64 = 24.0;
const CAPTION_LINE: f64 = 17.0;

/// Draws a figure that passed validation.
pub fn draw(figure: &Figure) -> Result<String, FigureError> {
    let page = Page::new(figure);
    let mut body = String::new();
    let size = (px(page.width) as u32, px(page.height) as u32);
    page.draw(&mut body, size).map_err(|error| {
        let wrong = Wrong::Drawing(error.to_string());
        let finding = Finding { panel: String::new(), series: String::new(), wrong };
        FigureError { figure: figure.title.clone(), findings: vec![finding] }
    })?;
    // The library's own header describes nothing and takes units for pixels.
    let body = body.split_once('\n').map_or("", |(_, body)| body);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" \
         role=\"img\">\n<title>{}</title>\n",
        page.width.round(),
        page.height.round(),
        size.0,
        size.1,
        escaped(&figure.title),
    );
    if !figure.caption.is_empty() {
        svg += &format!("<desc>{}</desc>\n", escaped(&figure.caption));
    }
    svg += body.trim_end();
    svg.push('\n');
    Ok(svg)
}

fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Layout of a picture: sizes and positions of panels and legends, in pixels.
struct Page<'f> {
    plans: Vec<Plan<'f>>,
    title: Vec<String>,
    caption: Vec<String>,
    columns: usize,
    /// Width of the plot area of each panel, in pixels.
    wide: f64,
    /// Width of the titles and labels to the left of each plot area, in pixels.
    left: f64,
    /// Height of each row of panels, including legends of their own, in pixels.
    heights: Vec<f64>,
    /// One legend for all panels, or one for each panel.
    legends: Vec<Legend>,
    width: f64,
    height: f64,
}

impl<'f> Page<'f> {
    fn new(figure: &'f Figure) -> Self {
        let panels = &figure.panels;
        let all: Vec<Legend> = panels.iter().map(Legend::of).collect();
        let wide = panels.iter().map(natural_width).fold(0.0, f64::max);
        let wide = all.iter().map(Legend::least).fold(wide, f64::max);
        let plans: Vec<Plan<'f>> =
            panels.iter().map(|panel| Plan::new(panel, wide, range(figure, panel))).collect();
        let left = plans.iter().map(Plan::left).fold(0.0, f64::max);
        let cell = Plan::width(left, wide);
        let fit = if 2.0 * cell + GAP <= PAGE { 2 } else { 1 };
        let columns = figure.columns.unwrap_or(fit).min(panels.len());
        let inside = columns as f64 * (cell + GAP) - GAP;
        let (legends, below) = match Legend::shared(&all) {
            Some(shared) => {
                let height = shared.height(inside);
                (vec![shared], height)
            }
            None => (all, 0.0),
        };
        let own = |index: usize| {
            if legends.len() == 1 { 0.0 } else { legends[index].height(wide) }
        };
        let tall: Vec<f64> =
            plans.iter().enumerate().map(|(index, plan)| plan.height() + own(index)).collect();
        let heights: Vec<f64> =
            tall.chunks(columns).map(|row| row.iter().copied().fold(0.0, f64::max)).collect();
        let title = wrap(&figure.title, TITLE, inside);
        let caption = wrap(&figure.caption, AXIS, inside);
        let lines = title.len() as f64 * TITLE_LINE + caption.len() as f64 * CAPTION_LINE;
        let gaps = (heights.len() - 1) as f64 * GAP + if caption.is_empty() { 0.0 } else { 10.0 };
        let height = 2.0 * EDGE + lines + gaps + heights.iter().sum::<f64>() + below;
        let width = 2.0 * EDGE + inside;
        Self { plans, title, caption, columns, wide, left, heights, legends, width, height }
    }

    fn draw(&self, body: &mut String, size: (u32, u32)) -> Drawn {
        let canvas = SVGBackend::with_string(body, size).into_drawing_area();
        canvas.fill(&PAPER)?;
        let pen = Pen(&canvas);
        let mut y = EDGE;
        for line in &self.title {
            pen.text(line, Lettering::new(TITLE).bold(), (px(EDGE), px(y + TITLE_LINE / 2.0)))?;
            y += TITLE_LINE;
        }
        let cell = Plan::width(self.left, self.wide);
        for (row, height) in self.heights.iter().enumerate() {
            for column in 0..self.columns {
                let index = row * self.columns + column;
                let Some(plan) = self.plans.get(index) else { break };
                let x = EDGE + column as f64 * (cell + GAP);
                plan.draw(&canvas, (x, y), self.left, self.wide)?;
                if self.legends.len() > 1 {
                    let below = (x + self.left, y + plan.height());
                    self.legends[index].draw(pen, below, self.wide)?;
                }
            }
            y += height + GAP;
        }
        y -= GAP;
        if let [legend] = &self.legends[..] {
            let room = self.width - 2.0 * EDGE;
            legend.draw(pen, (EDGE, y), room)?;
            y += legend.height(room);
        }
        y += 10.0;
        for line in &self.caption {
            pen.text(line, Lettering::new(LABEL), (px(EDGE), px(y + CAPTION_LINE / 2.0)))?;
            y += CAPTION_LINE;
        }
        canvas.present()
    }
}

/// Returns the y range of a panel: its own, or the one that similar panels share.
fn range(figure: &Figure, panel: &Panel) -> (f64, f64) {
    let Some((bars, scale, own)) = range_of_y(panel) else { return (0.0, 1.0) };
    if !figure.same_y {
        return own;
    }
    let alike = figure.panels.iter().filter_map(range_of_y);
    alike
        .filter(|other| (other.0, other.1) == (bars, scale))
        .fold(own, |(low, high), (_, _, other)| (other.0.min(low), other.1.max(high)))
}
