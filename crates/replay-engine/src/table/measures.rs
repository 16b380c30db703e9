/// Declares a struct of metrics. Each metric is declared in one place: its type, its unit, its
/// meaning and the expression that computes it. The struct gets a constructor `of` and a function
/// `columns` that returns the columns of a table.
///
/// ```text
/// measures! {
///     /// Metrics of a queue.
///     #[derive(Clone)]
///     pub struct QueueMeasures, from queue: &Queue {
///         max_wait: i64 ["s"] "longest wait" = queue.longest();
///         served_percent: f64 ["%", rising] "share of jobs served" = queue.served();
///     }
/// }
/// ```
///
/// `rising` declares that larger values of the metric are better. Fields after `with` are not
/// columns. Each metric also becomes a constant with the name of its column, such as `QueueMeasures::max_wait`.
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

            $(
                #[doc = concat!("Name of the column `", stringify!($field), "`.")]
                #[allow(non_upper_case_globals)]
                pub const $field: $crate::table::Name =
                    $crate::table::Name::new(stringify!($field));
            )*

            /// Returns each metric as a column.
            pub fn columns() -> Vec<$crate::table::Column<Self>> {
                vec![$($crate::table::Column::new(
                    Self::$field, $unit, $meaning, |measures: &Self| measures.$field,
                )$(.$rising())?,)*]
            }
        }
    };
}
