//! Where the parts of the screen are.

use ratatui::layout::Rect;

/// From this width on the preview is beside the list, otherwise below it.
const SIDE_BY_SIDE_COLUMNS: u16 = 100;
/// Smaller screens only say that they are too small.
const COLUMNS_MIN: u16 = 40;
const ROWS_MIN: u16 = 10;
/// Rows above the list: the search field and the filters.
const HEAD_ROWS: u16 = 2;
/// Share of the list in percent, if the preview is beside it or below it.
const LIST_PERCENT_BESIDE: u16 = 46;
const LIST_PERCENT_ABOVE: u16 = 45;

/// The parts of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Areas {
    pub(crate) search: Rect,
    pub(crate) filters: Rect,
    pub(crate) list: Rect,
    /// The line between the list and the preview.
    pub(crate) rule: Rect,
    pub(crate) preview: Rect,
    pub(crate) footer: Rect,
}

impl Areas {
    /// Divides a screen; `None` if it is too small.
    pub(crate) fn divide(width: u16, height: u16) -> Option<Self> {
        if width < COLUMNS_MIN || height < ROWS_MIN {
            return None;
        }
        let row = |y| Rect::new(0, y, width, 1);
        let rows = height - HEAD_ROWS - 1;
        let (list, rule, preview) = if width >= SIDE_BY_SIDE_COLUMNS {
            let left = width * LIST_PERCENT_BESIDE / 100;
            (
                Rect::new(0, HEAD_ROWS, left, rows),
                Rect::new(left, HEAD_ROWS, 1, rows),
                Rect::new(left + 2, HEAD_ROWS, width - left - 2, rows),
            )
        } else {
            let above = (rows * LIST_PERCENT_ABOVE / 100).max(3);
            let below = HEAD_ROWS + above;
            (
                Rect::new(0, HEAD_ROWS, width, above),
                Rect::new(0, below, width, 1),
                Rect::new(1, below + 1, width - 2, rows - above - 1),
            )
        };
        let (search, filters, footer) = (row(0), row(1), row(height - 1));
        Some(Self { search, filters, list, rule, preview, footer })
    }
}

/// The message for a screen that is too small.
pub(crate) fn too_small() -> String {
    format!("too small: {COLUMNS_MIN} × {ROWS_MIN} at least")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_filled_without_overlap() {
        for width in 40..=200 {
            for height in 10..=60 {
                let areas = Areas::divide(width, height).unwrap();
                for part in [areas.list, areas.rule, areas.preview, areas.footer] {
                    assert!(part.right() <= width && part.bottom() <= height, "{width}×{height}");
                    assert!(part.width > 0 && part.height > 0, "{width}×{height}");
                }
                assert!(!areas.list.intersects(areas.preview));
                assert!(!areas.preview.intersects(areas.footer));
            }
        }
        assert_eq!((Areas::divide(39, 24), Areas::divide(80, 9)), (None, None));
    }
}
