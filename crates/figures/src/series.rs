//! A data series of a panel: a line, columns, one part of every stacked bar, or a row of cells.

use crate::palette::{self, Ink};
use serde::{Deserialize, Serialize};

/// One data series of a panel, with its name in the legend: a line, columns, one part of every
/// stacked bar, or a row of heat map cells.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Series {
    /// Name of the series in the legend.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The x values of the series' points; empty for columns and bars. In the data of a report page
    /// they are also empty if they equal those of the panel's first series.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<f64>,
    /// The y values of the points, the heights of the columns, or the fractions of a distribution
    /// function, 0 to 1; `None` where nothing was measured. A missing column is drawn as a small
    /// cross at zero.
    pub y: Vec<Option<f64>>,
    /// Lower and upper end of the interval of each value, drawn as whiskers or as thin lines; empty
    /// for none.
    #[serde(rename = "band", default, skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<Option<(f64, f64)>>,
    /// Names of the hue and of the fill pattern of the series on a report page; `None` for rows of
    /// heat maps. In picture files, the position in the legend decides both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ink: Option<String>,
    /// The x values at which the numbers that a paper published are drawn, in picture files only;
    /// empty for columns.
    #[serde(skip)]
    pub published_x: Vec<f64>,
    /// Numbers that a paper published for this series, drawn as diamonds, in picture files only;
    /// empty for none.
    #[serde(skip)]
    pub published: Vec<Option<f64>>,
    /// Stroke with which a picture file draws the series: solid if measured, dashed if
    /// theoretical, or points without a line.
    #[serde(skip)]
    pub stroke: Stroke,
}

/// The stroke of a line. With more than 24 points on a line, only some have markers and whiskers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// Measured values: a solid line with markers.
    #[default]
    Measured,
    /// Theoretical values: a dashed line without markers.
    Theory,
    /// Measured values without an order: markers without a line, one for every point.
    Points,
}

impl Series {
    /// Returns a series that is a line through points, in their order.
    #[must_use]
    pub fn line<Y: Into<Option<f64>>>(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, Y)>,
    ) -> Self {
        let (x, y) = points.into_iter().map(|(x, y)| (x, y.into())).unzip();
        Self { name: name.into(), x, y, ..Self::default() }
    }

    /// Returns a series of values without x values: those of bars or columns, whose groups the
    /// panel names, or a row of a heat map.
    #[must_use]
    pub fn values<Y: Into<Option<f64>>>(
        name: impl Into<String>,
        y: impl IntoIterator<Item = Y>,
    ) -> Self {
        Self { name: name.into(), y: y.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Returns the empirical distribution function of values in any order.
    #[must_use]
    pub fn distribution(name: impl Into<String>, values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let all = sorted.len() as f64;
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (before, value) in sorted.into_iter().enumerate() {
            let share = (before + 1) as f64 / all;
            match points.last_mut() {
                Some(last) if last.0 == value => last.1 = share,
                _ => points.push((value, share)),
            }
        }
        Self::line(name, points)
    }

    /// Returns the series drawn as the curve of a theory.
    #[must_use]
    pub fn theory(self) -> Self {
        Self { stroke: Stroke::Theory, ..self }
    }

    /// Returns the series drawn as points without a line between them.
    #[must_use]
    pub fn scattered(self) -> Self {
        Self { stroke: Stroke::Points, ..self }
    }

    /// Returns the series with the values that a paper published for each row of the panel; `None`
    /// where it published none.
    #[must_use]
    pub fn published(self, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self { published: values.into_iter().collect(), ..self }
    }

    /// Returns the series with the points that a paper published, drawn as outlines in the color of
    /// the series' line.
    #[must_use]
    pub fn published_at(self, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (published_x, published) = points.into_iter().map(|(x, y)| (x, Some(y))).unzip();
        Self { published_x, published, ..self }
    }

    /// Returns the series with the color and the pattern of the scheme at a place of the
    /// comparison, from 0.
    #[must_use]
    pub fn of_scheme(self, place: usize) -> Self {
        self.with(palette::scheme(place))
    }

    /// Returns the series with the color and the pattern of a cause of latency; gray for an unknown
    /// one.
    #[must_use]
    pub fn of_cause(self, name: &str) -> Self {
        self.with(palette::cause(name).unwrap_or(palette::OTHER))
    }

    /// Returns the series in gray, the color of a sum of several causes of latency.
    #[must_use]
    pub fn of_others(self) -> Self {
        self.with(palette::OTHER)
    }

    fn with(self, ink: Ink) -> Self {
        Self { ink: Some(format!("{} {}", ink.hue().name, ink.pattern.name())), ..self }
    }

    /// Returns the points of the series that have a value, with their indices.
    pub(crate) fn points(&self) -> impl Iterator<Item = (usize, (f64, f64))> {
        let all = self.x.iter().zip(&self.y).enumerate();
        all.filter_map(|(index, (x, y))| Some((index, (*x, (*y)?))))
    }

    /// Returns the points that a paper published for this series, as x and y; points without a y
    /// are left out.
    pub(crate) fn published_points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.published_x.iter().zip(&self.published).filter_map(|(x, y)| Some((*x, (*y)?)))
    }
}
