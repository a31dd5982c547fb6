//! A scrolling list with the model's cursor: the body of every screen.
#![forbid(unsafe_code)]

use egui::{Frame, Id, Margin, ScrollArea, Ui};

use crate::model::{Message, Model};

/// Shows `count` items. The one under the cursor is marked, and scrolled to when the cursor moves; a
/// click moves the cursor.
pub(super) fn list(
    ui: &mut Ui,
    model: &Model,
    count: usize,
    mut item: impl FnMut(&mut Ui, usize),
) -> Option<Message> {
    let cursor = model.cursor();
    let seen = Id::unique(("cursor", model.screen));
    let before: Option<usize> = ui.data(|data| data.get_temp(seen));
    ui.data_mut(|data| data.insert_temp(seen, cursor));
    let mut clicked = None;
    ScrollArea::vertical()
        .id_salt(model.screen)
        .auto_shrink(false)
        .show(ui, |ui| {
            for index in 0..count {
                let mark = if index == cursor {
                    ui.visuals().faint_bg_color
                } else {
                    egui::Color32::TRANSPARENT
                };
                let frame = Frame::new()
                    .fill(mark)
                    .inner_margin(Margin::symmetric(6, 2));
                let shown = frame.show(ui, |ui| {
                    ui.set_width(ui.available_width());
                    item(ui, index);
                });
                if index == cursor && before.is_some_and(|it| it != cursor) {
                    shown.response.scroll_to_me(None);
                }
                let pressed = ui.input(|input| input.pointer.primary_clicked());
                if pressed && shown.response.contains_pointer() && index != cursor {
                    clicked = Some(Message::Select(index));
                }
            }
        });
    clicked
}
