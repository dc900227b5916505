//! Primitives of every drawing: texts, lines, marks, and the plane between two rulers.

use plotters::coord::CoordTranslate;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::ruler::Ruler;
use crate::style::{INK, PAPER, UNIT, printable, px};

/// Drawing area of a picture, in units of a tenth of a pixel.
pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A position on the canvas.
pub type Place = (i32, i32);
/// Result of a drawing operation.
pub type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// Chart of the drawing library on which the area between the x and y axes of a panel is drawn.
pub type Chart<'c, 'a> = ChartContext<'c, SVGBackend<'a>, Cartesian2d<Ruler, Ruler>>;

/// Alignment, size and direction of a text in a picture.
#[derive(Clone, Copy)]
pub struct Lettering {
    pub height: f64,
    pub bold: bool,
    pub turned: bool,
    pub across: HPos,
    pub up: VPos,
}

impl Lettering {
    /// Returns plain text of a height in pixels that begins at its position, centered vertically.
    pub const fn new(height: f64) -> Self {
        Self { height, bold: false, turned: false, across: HPos::Left, up: VPos::Center }
    }

    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Returns the lettering turned by 90 degrees, to be read upwards.
    pub const fn turned(self) -> Self {
        Self { turned: true, ..self }
    }

    pub const fn at(self, across: HPos, up: VPos) -> Self {
        Self { across, up, ..self }
    }

    /// Converts to the text style of `plotters`, the drawing library, which adds line spacing to
    /// font heights; the conversion removes it.
    pub fn style(self) -> TextStyle<'static> {
        let style = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        let transform = if self.turned { FontTransform::Rotate270 } else { FontTransform::None };
        FontDesc::new(FontFamily::SansSerif, self.height * UNIT * 1.24, style)
            .transform(transform)
            .color(&INK)
            .pos(Pos::new(self.across, self.up))
    }
}

/// Shape of the mark at a point of a line; shapes can be told apart without color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Circle,
    Square,
    Up,
    Down,
    Pentagon,
    Hexagon,
    Diamond,
}

/// Shapes of marks in the order of series; the diamond is reserved for published numbers.
pub const MARKS: [Mark; 6] =
    [Mark::Circle, Mark::Square, Mark::Up, Mark::Down, Mark::Pentagon, Mark::Hexagon];

impl Mark {
    /// Returns the corners of the mark around the origin for a radius in pixels; all shapes have
    /// similar areas.
    fn corners(self, radius: f64) -> Vec<(f64, f64)> {
        let regular = |corners: u32, radius: f64, from: f64| -> Vec<(f64, f64)> {
            (0..corners)
                .map(|corner| {
                    let turn = from + f64::from(corner) / f64::from(corners);
                    let angle = turn * std::f64::consts::TAU;
                    (radius * libm::cos(angle), radius * libm::sin(angle))
                })
                .collect()
        };
        match self {
            Self::Circle => Vec::new(),
            Self::Square => regular(4, radius * 1.2, 0.125),
            Self::Up => regular(3, radius * 1.3, -0.25),
            Self::Down => regular(3, radius * 1.3, 0.25),
            Self::Pentagon => regular(5, radius * 1.1, -0.25),
            Self::Hexagon => regular(6, radius * 1.05, 0.0),
            Self::Diamond => regular(4, radius * 1.15, 0.0),
        }
    }
}

/// A pen that draws lines, marks and texts on a canvas.
#[derive(Clone, Copy)]
pub struct Pen<'c, 'a>(pub &'c Canvas<'a>);

impl Pen<'_, '_> {
    pub fn text(&self, text: &str, lettering: Lettering, at: Place) -> Drawn {
        self.0.draw_text(&printable(text), &lettering.style(), at)
    }

    /// Draws connected lines of a width in pixels.
    pub fn line(&self, points: Vec<Place>, colour: RGBColor, width: f64) -> Drawn {
        self.0.draw(&PathElement::new(points, colour.stroke_width(px(width) as u32)))
    }

    /// Draws connected dashed lines; `dash` is the drawn and the omitted length, in pixels.
    pub fn dashed(
        &self,
        points: Vec<Place>,
        colour: RGBColor,
        width: f64,
        dash: Option<(f64, f64)>,
    ) -> Drawn {
        let Some((on, off)) = dash else { return self.line(points, colour, width) };
        let style = colour.stroke_width(px(width) as u32);
        self.0.draw(&DashedPathElement::new(points, px(on), px(off), style))
    }

    /// Draws a filled rectangle between two corners.
    pub fn rectangle(&self, corners: [Place; 2], colour: RGBColor) -> Drawn {
        self.0.draw(&Rectangle::new(corners, colour.filled()))
    }

    /// Draws the edge of a rectangle; `width` is that of the line, in pixels.
    pub fn frame(&self, [(x0, y0), (x1, y1)]: [Place; 2], colour: RGBColor, width: f64) -> Drawn {
        let corners = vec![(x0, y1), (x0, y0), (x1, y0), (x1, y1), (x0, y1)];
        self.line(corners, colour, width)
    }

    /// Draws a mark of a radius in pixels with an edge around it.
    pub fn mark(
        &self,
        mark: Mark,
        at: Place,
        radius: f64,
        (fill, edge, rim): (RGBColor, RGBColor, f64),
    ) -> Drawn {
        for (radius, colour) in [(radius + rim, edge), (radius, fill)] {
            if mark == Mark::Circle {
                self.0.draw(&Circle::new(at, px(radius), colour.filled()))?;
            } else {
                let corners = mark.corners(radius).into_iter();
                let corners: Vec<Place> =
                    corners.map(|(x, y)| (at.0 + px(x), at.1 + px(y))).collect();
                self.0.draw(&Polygon::new(corners, colour.filled()))?;
            }
        }
        Ok(())
    }

    /// Draws a diamond, the mark of a published number.
    pub fn published(&self, at: Place, radius: f64, edge: RGBColor) -> Drawn {
        self.mark(Mark::Diamond, at, radius, (crate::style::BLACK, edge, 1.6))
    }

    /// Draws the mark of the series with this index at a position.
    pub fn series(&self, index: usize, at: Place) -> Drawn {
        let mark = MARKS[index % MARKS.len()];
        self.mark(mark, at, 3.6, (crate::style::colour(index), PAPER, 0.8))
    }

    /// Draws the whisker from `low` to `high` that shows the spread of a value; `half` is half its
    /// width in pixels.
    pub fn whisker(&self, low: Place, high: Place, half: f64) -> Drawn {
        // On a paper-colored edge, so that it is visible on hatched bars, too.
        for (colour, width, spare) in [(PAPER, 3.0, px(1.0)), (INK, 1.0, 0)] {
            self.line(vec![low, high], colour, width)?;
            for (x, y) in [low, high] {
                let half = px(half) + spare;
                self.line(vec![(x - half, y), (x + half, y)], colour, width)?;
            }
        }
        Ok(())
    }

    /// Draws the small cross that stands for a missing number.
    pub fn missing(&self, (x, y): Place) -> Drawn {
        let arm = px(2.6);
        for side in [-1, 1] {
            let ends = vec![(x - arm, y - side * arm), (x + arm, y + side * arm)];
            self.line(ends, crate::style::FAINT, 1.1)?;
        }
        Ok(())
    }
}

/// The rectangle between the x axis and the y axis of a panel, on which its data is drawn.
pub struct Plane<'c, 'a> {
    pub pen: Pen<'c, 'a>,
    pub chart: Chart<'c, 'a>,
    pub x: &'c Ruler,
    pub y: &'c Ruler,
}

impl Plane<'_, '_> {
    /// Returns the canvas position of a point given by its values on both axes.
    pub fn at(&self, x: f64, y: f64) -> Place {
        self.at_place(self.x.place(x), self.y.place(y))
    }

    /// Returns the canvas position, in pixels, of a point given by its positions on the x axis and
    /// the y axis.
    pub fn at_place(&self, x: f64, y: f64) -> Place {
        self.chart.as_coord_spec().translate(&(x, y))
    }

    /// Draws a horizontal line across the data area of a panel at a y value.
    pub fn reference(&self, y: f64) -> Drawn {
        let y = self.y.place(y);
        let ends = vec![self.at_place(self.x.low, y), self.at_place(self.x.high, y)];
        self.pen.dashed(ends, INK, 1.2, Some((5.0, 3.0)))
    }
}
