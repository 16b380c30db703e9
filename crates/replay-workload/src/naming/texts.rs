//! Enums whose variants have a text.

/// Declares an enum whose variants each have a text, which `Display` prints. `ALL` lists the variants in the order of
/// declaration.
#[macro_export]
macro_rules! texts {
    ($(#[$attribute:meta])* $visibility:vis enum $name:ident {
        $($(#[$about:meta])* $variant:ident $(= $number:literal)? => $text:literal,)*
    }) => {
        $(#[$attribute])*
        $visibility enum $name {
            $($(#[$about])* $variant $(= $number)?,)*
        }

        impl $name {
            /// All variants, in the order of declaration.
            #[allow(dead_code)]
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(match self {
                    $(Self::$variant => $text,)*
                })
            }
        }
    };
}
