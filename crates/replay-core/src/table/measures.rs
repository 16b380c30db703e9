/// Declares a struct of measures: each with its type, unit, meaning and what it is computed
/// from, all in one place. The struct gets a constructor `of` and, as the parts of a table,
/// `columns`.
///
/// ```text
/// measures! {
///     /// What a queue comes to.
///     #[derive(Clone)]
///     pub struct QueueMeasures, from queue: &Queue {
///         max_wait: i64 ["s"] "longest wait" = queue.longest();
///         served_percent: f64 ["%", rising] "jobs served" = queue.served();
///     }
/// }
/// ```
///
/// `rising` says that larger values are better. Fields behind `with` are no columns.
#[macro_export]
macro_rules! measures {
    (
        $(#[$attribute:meta])*
        pub struct $Name:ident, from $source:ident: $Source:ty {
            $($field:ident: $type:ty [$unit:literal $(, $rising:ident)?] $meaning:literal = $value:expr;)*
        }
        $(with {
            $($(#[$doc:meta])* $plain:ident: $plain_type:ty = $plain_value:expr;)*
        })?
    ) => {
        $(#[$attribute])*
        pub struct $Name {
            $(#[doc = $meaning] pub $field: $type,)*
            $($($(#[$doc])* pub $plain: $plain_type,)*)?
        }

        impl $Name {
            fn of($source: $Source) -> Self {
                Self { $($field: $value,)* $($($plain: $plain_value,)*)? }
            }

            /// Each measure as a column.
            pub fn columns() -> Vec<$crate::table::Column<Self>> {
                vec![$($crate::table::Column::new(
                    $crate::table::name::$field, $unit, $meaning, |measures: &Self| measures.$field,
                )$(.$rising())?,)*]
            }
        }
    };
}
