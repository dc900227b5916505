//! Exports a figure as data for the script of a page, whose panels are views with one shape and one
//! x axis. Published numbers, strokes, references and the arrangement of panels are omitted,
//! because the script does not draw them.

use crate::{Axis, Figure, Panel, Scale, Shape};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
pub struct Data {
    id: String,
    title: String,
    about: String,
    shape: Shape,
    x: Axis,
    panels: Vec<Panel>,
}

impl From<Figure> for Data {
    fn from(figure: Figure) -> Self {
        let Figure { id, title, caption: about, panels, .. } = figure;
        let (shape, x) = panels.first().map(|it| (it.shape, it.x.clone())).unwrap_or_default();
        Self { id, title, about, shape, x, panels }
    }
}

impl From<Data> for Figure {
    fn from(data: Data) -> Self {
        let Data { id, title, about, shape, x, panels } = data;
        let panels = panels.into_iter().map(|panel| Panel { shape, x: x.clone(), ..panel });
        Self::new(id, title, panels).caption(about)
    }
}

impl From<bool> for Scale {
    fn from(log: bool) -> Self {
        if log { Self::Log10 } else { Self::Linear }
    }
}

impl From<Scale> for bool {
    fn from(scale: Scale) -> Self {
        scale != Scale::Linear
    }
}
