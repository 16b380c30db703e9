use std::fmt::Display;

/// Receives what a user should know about the traces of a grid: how they were cleaned, which jobs are left out, and
/// which machine was chosen.
#[derive(Clone, Copy)]
pub struct Notices<'a>(Option<&'a (dyn Fn(&str) + Sync)>);

impl<'a> Notices<'a> {
    /// No notices are wanted.
    pub const OFF: Notices<'static> = Notices(None);

    /// Calls `print` with each line.
    pub fn to(print: &'a (dyn Fn(&str) + Sync)) -> Self {
        Self(Some(print))
    }

    pub(super) fn line(self, line: impl Display) {
        if let Some(print) = self.0 {
            print(&line.to_string());
        }
    }
}

impl std::fmt::Debug for Notices<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Notices({})", if self.0.is_some() { "on" } else { "off" })
    }
}
