//! The results as one page that needs nothing else.

use std::fmt::Write;

use super::chart::{Chart, escape};
use super::output::Machine;
use super::table::Table;

const STYLE: &str = include_str!("page.css");

/// The page of a command.
pub(super) fn page(command: &str, charts: &[Chart], tables: &[Table]) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>cloak-bench {command}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>cloak-bench {command}</h1><p>Version {}, on {}.</p></header>\n<main>\n",
        env!("CARGO_PKG_VERSION"),
        escape(&Machine::this().describe())
    );
    for chart in charts {
        page += &chart.html();
    }
    for one in tables {
        page += &table(one);
    }
    page + "</main>\n</body>\n</html>\n"
}

fn table(table: &Table) -> String {
    let mut html = format!(
        "<section><h2>{}</h2><div class=\"wide\"><table>\n<thead><tr>",
        escape(&table.title)
    );
    for (index, column) in table.columns.iter().enumerate() {
        let _ = write!(html, "<th{}>{}</th>", class(index, table), escape(column));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (number, row) in table.rows.iter().enumerate() {
        html += if table.begins_group(number) {
            "<tr class=\"group\">"
        } else {
            "<tr>"
        };
        for (index, cell) in row.iter().enumerate() {
            let _ = write!(html, "<td{}>{}</td>", class(index, table), escape(cell));
        }
        html += "</tr>\n";
    }
    html += "</tbody></table></div>";
    if let Some(note) = &table.note {
        let _ = write!(html, "<p class=\"note\">{}</p>", escape(note));
    }
    html + "</section>\n"
}

fn class(column: usize, table: &Table) -> &'static str {
    if column < table.names {
        ""
    } else {
        " class=\"number\""
    }
}
