//! A panel: its size, its axes, and its data.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::Shape::{Areas, Bars, Boxes, Columns, Distributions, Heat, Lines, Steps, Towers};
use crate::bars::{self, Labels};
use crate::canvas::{Canvas, Drawn, Lettering, Pen, Plane};
use crate::curves;
use crate::ruler::{Room, Ruler};
use crate::style::{AXIS, HEADING, INK, LABEL, MESH, px, width};
use crate::towers;
use crate::{Panel, Scale};

/// Height of a panel's plot area, in pixels.
pub const PLOT_HEIGHT: f64 = 240.0;
const CURVE_WIDTH: f64 = 400.0;
/// Margin to the right of a panel's axes, in pixels, for half a label.
const RIGHT: f64 = 16.0;
const TOP: f64 = 8.0;
const HEAD: f64 = 24.0;
/// Values of `reach` in [`Ruler::new`], which decides when a linear axis extends to zero: if the
/// value closest to zero is below `reach` times the farthest one. Bars always begin at zero; other
/// y axes extend further than x axes, as heights are compared with each other.
const ALWAYS: f64 = f64::INFINITY;
const FAR: f64 = 0.6;
const NEAR: f64 = 0.2;

/// Returns the width of the plot area that a panel needs, in pixels.
pub fn natural_width(panel: &Panel) -> f64 {
    match panel.shape {
        Columns => bars::natural_width(panel),
        Towers => towers::natural_width(panel),
        Lines | Distributions | Steps | Areas | Bars | Heat | Boxes => CURVE_WIDTH,
    }
}

/// Returns (true if bars are drawn, scale, range) of the vertical axis that fits a panel's data.
/// Panels can share a range if the first two are equal. `None` for distribution functions, which
/// always range from 0 to 1.
pub fn range_of_y(panel: &Panel) -> Option<(bool, Scale, (f64, f64))> {
    match panel.shape {
        Columns | Towers => Some((true, Scale::Linear, bars::range(panel))),
        Distributions => None,
        Lines | Steps | Areas | Bars | Heat | Boxes => {
            Some((false, panel.y.scale, curves::ranges(panel)[1]))
        }
    }
}

/// A panel with its axes chosen, ready to be drawn.
pub struct Plan<'f> {
    panel: &'f Panel,
    x: Ruler,
    y: Ruler,
    labels: Labels,
}

impl<'f> Plan<'f> {
    /// Returns a panel with its axes chosen, for a plot area of `wide` pixels and the range `y` of
    /// the y axis, which several panels may share.
    pub fn new(panel: &'f Panel, wide: f64, y: (f64, f64)) -> Self {
        let (across, up) = (Room::Across(wide), Room::Up(PLOT_HEIGHT));
        let none = || Labels::new(&[], wide);
        let tall = || Ruler::new(Scale::Linear, y, ALWAYS, up);
        let along = || Ruler::new(panel.x.scale, curves::ranges(panel)[0], NEAR, across);
        let (x, y, labels) = match panel.shape {
            Columns => (
                Ruler::plain(-0.5, panel.rows.len() as f64 - 0.5),
                tall(),
                Labels::new(&panel.rows, wide),
            ),
            Towers => (Ruler::plain(0.0, 1.0), tall(), none()),
            Distributions => (along(), Ruler::shares(), none()),
            Lines | Steps | Areas | Bars | Heat | Boxes => {
                (along(), Ruler::new(panel.y.scale, y, FAR, up), none())
            }
        };
        Self { panel, x, y, labels }
    }

    /// Returns the width that the title and the labels of the y axis need, in pixels.
    pub fn left(&self) -> f64 {
        let labels = self.y.ticks.iter().map(|(_, label)| width(label, LABEL));
        let title = if self.panel.y.title.is_empty() { 0.0 } else { AXIS + 12.0 };
        labels.fold(0.0, f64::max) + title + 12.0
    }

    /// Returns the height that the title and the labels of the x axis need, in pixels.
    fn bottom(&self) -> f64 {
        match self.panel.shape {
            Columns => self.labels.height,
            Towers => 26.0,
            Lines | Distributions | Steps | Areas | Bars | Heat | Boxes => {
                if self.panel.x.title.is_empty() { 26.0 } else { 44.0 }
            }
        }
    }

    /// Returns the height of the panel without its legend, in pixels.
    pub fn height(&self) -> f64 {
        TOP + self.head() + self.plot_height() + self.bottom()
    }

    /// Returns the width of a panel with these widths of its left side and its plot area, in
    /// pixels.
    pub fn width(left: f64, wide: f64) -> f64 {
        left + wide + RIGHT
    }

    fn plot_height(&self) -> f64 {
        if self.panel.shape == Towers { towers::HEIGHT } else { PLOT_HEIGHT }
    }

    fn head(&self) -> f64 {
        if self.panel.title.is_empty() { 0.0 } else { HEAD }
    }

    /// Draws the panel with its upper left corner at a position in pixels.
    pub fn draw(&self, canvas: &Canvas<'_>, corner: (f64, f64), left: f64, wide: f64) -> Drawn {
        let pen = Pen(canvas);
        let (x, top) = (corner.0, corner.1 + TOP + self.head());
        if !self.panel.title.is_empty() {
            let lettering =
                fitted(&self.panel.title, HEADING, wide).bold().at(HPos::Center, VPos::Center);
            let at = (px(x + left + wide / 2.0), px(corner.1 + TOP + HEAD / 2.0 - 3.0));
            pen.text(&self.panel.title, lettering, at)?;
        }
        if self.panel.shape == Towers {
            let at = (px(x + 10.0), px(top + towers::HEIGHT * 0.66));
            let lettering = fitted(&self.panel.y.title, AXIS, PLOT_HEIGHT);
            if self.panel.is_empty() {
                let middle = (px(x + left + wide / 2.0), px(top + towers::HEIGHT / 2.0));
                let lettering = Lettering::new(AXIS).at(HPos::Center, VPos::Center);
                return pen.text("no data", lettering, middle);
            }
            pen.text(&self.panel.y.title, lettering.at(HPos::Center, VPos::Center).turned(), at)?;
            return towers::draw(pen, self.panel, &self.y, (x + left, top), wide);
        }
        let size = (px(left + wide), px(PLOT_HEIGHT + self.bottom()));
        let area = canvas.clone().shrink((px(x), px(top)), size);
        let mut chart = ChartBuilder::on(&area)
            .x_label_area_size(px(self.bottom()))
            .y_label_area_size(px(left))
            .build_cartesian_2d(self.x.clone(), self.y.clone())?;
        self.mesh(&mut chart)?;
        let plane = Plane { pen, chart, x: &self.x, y: &self.y };
        self.titles_of_axes(&plane, corner.0)?;
        if self.panel.is_empty() {
            let middle =
                plane.at_place((self.x.low + self.x.high) / 2.0, (self.y.low + self.y.high) / 2.0);
            let lettering = Lettering::new(AXIS).at(HPos::Center, VPos::Center);
            return plane.pen.text("no data", lettering, middle);
        }
        match self.panel.shape {
            Columns => bars::draw(&plane, self.panel, &self.labels),
            Distributions => curves::draw_distributions(&plane, self.panel),
            // Towers are drawn above, without a plane.
            Towers => Ok(()),
            Lines | Steps | Areas | Bars | Heat | Boxes => curves::draw_lines(&plane, self.panel),
        }
    }

    fn mesh(&self, chart: &mut crate::canvas::Chart<'_, '_>) -> Drawn {
        let mut mesh = chart.configure_mesh();
        mesh.x_labels(self.x.ticks.len())
            .y_labels(self.y.ticks.len())
            .max_light_lines(0)
            .bold_line_style(MESH.stroke_width(px(0.8) as u32))
            .axis_style(INK.stroke_width(px(1.0) as u32))
            .label_style(Lettering::new(LABEL).style())
            .set_all_tick_mark_size(px(4.0));
        mesh.draw()
    }

    /// Draws the titles of the axes itself, because the drawing library (plotters) only estimates
    /// their positions.
    fn titles_of_axes(&self, plane: &Plane<'_, '_>, left: f64) -> Drawn {
        let (title_x, title_y) = (&self.panel.x.title, &self.panel.y.title);
        let middle_x = plane.at_place((self.x.low + self.x.high) / 2.0, self.y.low);
        let middle_y = plane.at_place(self.x.low, (self.y.low + self.y.high) / 2.0);
        if !title_x.is_empty() {
            let at = (middle_x.0, middle_x.1 + px(34.0));
            plane.pen.text(
                title_x,
                fitted(title_x, AXIS, CURVE_WIDTH).at(HPos::Center, VPos::Center),
                at,
            )?;
        }
        if !title_y.is_empty() {
            let at = (px(left + 10.0), middle_y.1);
            plane.pen.text(
                title_y,
                fitted(title_y, AXIS, PLOT_HEIGHT).at(HPos::Center, VPos::Center).turned(),
                at,
            )?;
        }
        Ok(())
    }
}

/// Returns the lettering of an axis title at its normal size, or smaller if it is too long, down to
/// a legible size.
fn fitted(title: &str, height: f64, room: f64) -> Lettering {
    Lettering::new((height * room / width(title, height)).clamp(10.0, height))
}
