//! Charts as inline SVG: no script, no font, no picture from elsewhere.

use std::fmt::Write;

/// What a chart shows.
#[derive(Clone, Debug)]
pub(super) enum Chart {
    Lines(Lines),
    Bars(Bars),
}

/// Lines on two logarithmic axes.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) title: String,
    pub(super) across: Axis,
    pub(super) up: Axis,
    pub(super) lines: Vec<(String, Vec<(f64, f64)>)>,
    /// Whether a dashed line shows how what is linear would go on from the last line's end.
    pub(super) reference: bool,
}

/// An axis: what it measures, and how a number on it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) name: &'static str,
    pub(super) show: fn(f64) -> String,
}

/// Bars below each other, each made of parts.
#[derive(Clone, Debug)]
pub(super) struct Bars {
    pub(super) title: String,
    /// The names of the parts, in order.
    pub(super) parts: Vec<String>,
    pub(super) bars: Vec<(String, Vec<f64>)>,
    pub(super) show: fn(f64) -> String,
}

/// The width of all charts, in the units of their view boxes.
const WIDTH: f64 = 720.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 34.0;

impl Chart {
    /// The chart as an element, with its title and its legend.
    pub(super) fn html(&self) -> String {
        let (title, kind, names, svg) = match self {
            Self::Lines(lines) => {
                let names: Vec<_> = lines.lines.iter().map(|(name, _)| &**name).collect();
                (&lines.title, "lines", names, lines.svg())
            }
            Self::Bars(bars) => {
                let names = bars.parts.iter().map(String::as_str).collect();
                (&bars.title, "bars", names, bars.svg())
            }
        };
        let mut legend = String::new();
        for (index, name) in names.iter().enumerate() {
            let _ = write!(
                legend,
                "<li><span class=\"key c{}\"></span>{}</li>",
                index % COLOURS,
                escape(name)
            );
        }
        format!(
            "<figure class=\"chart {kind}\"><figcaption>{}</figcaption>\
             <ul class=\"legend\">{legend}</ul>{svg}</figure>\n",
            escape(title)
        )
    }
}

/// How many colours the page has, as classes `c0` to `c7`.
const COLOURS: usize = 8;

impl Lines {
    fn svg(&self) -> String {
        const HEIGHT: f64 = 380.0;
        const TOP: f64 = 12.0;
        const BOTTOM: f64 = 48.0;
        let points = || self.lines.iter().flat_map(|(_, line)| line);
        let Some(across) = Decades::of(points().map(|p| p.0)) else {
            return String::new();
        };
        let Some(up) = Decades::of(points().map(|p| p.1)) else {
            return String::new();
        };
        let x = |value: f64| LEFT + across.share(value) * (WIDTH - LEFT - RIGHT);
        let y = |value: f64| HEIGHT - BOTTOM - up.share(value) * (HEIGHT - TOP - BOTTOM);
        let mut svg = open(HEIGHT, &self.title);
        for value in across.ticks() {
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{0:.1} {TOP}V{1}\"/>\
                 <text class=\"tick\" x=\"{0:.1}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>",
                x(value),
                HEIGHT - BOTTOM,
                HEIGHT - BOTTOM + 18.0,
                escape(&(self.across.show)(value))
            );
        }
        for value in up.ticks() {
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {0:.1}H{1}\"/>\
                 <text class=\"tick\" x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>",
                y(value),
                WIDTH - RIGHT,
                LEFT - 8.0,
                y(value) + 4.0,
                escape(&(self.up.show)(value))
            );
        }
        let _ = write!(
            svg,
            "<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"axis\" transform=\"translate(14 {}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, WIDTH - RIGHT),
            HEIGHT - 10.0,
            escape(self.across.name),
            f64::midpoint(TOP, HEIGHT - BOTTOM),
            escape(self.up.name)
        );
        if let (true, Some(&(to_x, to_y))) = (
            self.reference,
            self.lines.last().and_then(|(_, line)| line.last()),
        ) {
            // From the end back to where it leaves the picture, in proportion.
            let from_x = across.low().max(to_x * up.low() / to_y);
            let _ = write!(
                svg,
                "<path class=\"reference\" d=\"M{:.1} {:.1}L{:.1} {:.1}\">\
                 <title>what is linear</title></path>",
                x(from_x),
                y(to_y * from_x / to_x),
                x(to_x),
                y(to_y)
            );
        }
        for (index, (name, line)) in self.lines.iter().enumerate() {
            let colour = index % COLOURS;
            let mut path = String::new();
            for (step, point) in line.iter().enumerate() {
                let letter = if step == 0 { 'M' } else { 'L' };
                let _ = write!(path, "{letter}{:.1} {:.1}", x(point.0), y(point.1));
            }
            let _ = write!(svg, "<path class=\"line c{colour}\" d=\"{path}\"/>");
            for point in line {
                let _ = write!(
                    svg,
                    "<circle class=\"dot c{colour}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\">\
                     <title>{}: {}, {}</title></circle>",
                    x(point.0),
                    y(point.1),
                    escape(name),
                    escape(&(self.across.show)(point.0)),
                    escape(&(self.up.show)(point.1))
                );
            }
        }
        svg + "</svg>"
    }
}

impl Bars {
    fn svg(&self) -> String {
        const ROW: f64 = 26.0;
        const NAMES: f64 = 170.0;
        const NUMBERS: f64 = 80.0;
        let height = ROW * self.bars.len() as f64 + 8.0;
        let whole = |parts: &[f64]| parts.iter().map(|part| part.max(0.0)).sum::<f64>();
        let longest = self
            .bars
            .iter()
            .map(|(_, parts)| whole(parts))
            .fold(0.0, f64::max);
        let mut svg = open(height, &self.title);
        for (row, (name, parts)) in self.bars.iter().enumerate() {
            let top = ROW * row as f64 + 4.0;
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                NAMES - 8.0,
                top + 15.0,
                escape(name)
            );
            let mut left = NAMES;
            for (index, (part, what)) in parts.iter().zip(&self.parts).enumerate() {
                let width = part.max(0.0) / longest.max(1e-12) * (WIDTH - NAMES - NUMBERS);
                let _ = write!(
                    svg,
                    "<rect class=\"bar c{}\" x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" \
                     height=\"{}\"><title>{}: {}</title></rect>",
                    index % COLOURS,
                    ROW - 6.0,
                    escape(what),
                    escape(&(self.show)(*part))
                );
                left += width;
            }
            let _ = write!(
                svg,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{}\">{}</text>",
                left + 6.0,
                top + 15.0,
                escape(&(self.show)(whole(parts)))
            );
        }
        svg + "</svg>"
    }
}

fn open(height: f64, title: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        escape(title)
    )
}

/// A logarithmic axis from one power of ten to another.
struct Decades {
    from: i32,
    to: i32,
}

impl Decades {
    /// One that holds all these numbers, which must be above 0. `None` without any.
    fn of(numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers.filter(|number| *number > 0.0 && number.is_finite()) {
            low = low.min(number.log10());
            high = high.max(number.log10());
        }
        (low <= high).then(|| {
            let from = low.floor() as i32;
            Self {
                from,
                to: (high.ceil() as i32).max(from + 1),
            }
        })
    }

    fn low(&self) -> f64 {
        10f64.powi(self.from)
    }

    /// Where a number stands: 0 at the beginning, 1 at the end.
    fn share(&self, number: f64) -> f64 {
        let place = number.max(self.low()).log10();
        (place - f64::from(self.from)) / f64::from(self.to - self.from)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        (self.from..=self.to).map(|power| 10f64.powi(power))
    }
}

/// Text inside of HTML, in quotes or not.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
