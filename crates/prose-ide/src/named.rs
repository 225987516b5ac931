//! Enums whose values have names for clients.

/// An enum, with the name of each value in the row that declares it.
macro_rules! named {
    ($(#[$about:meta])* $type:ident; $($(#[$meta:meta])* $value:ident = $name:literal)*) => {
        $(#[$about])*
        pub enum $type {
            $($(#[$meta])* $value,)*
        }

        impl $type {
            /// Every value, in the order of their numbers.
            pub const ALL: &[$type] = &[$($type::$value),*];

            /// Its name for clients.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)*
                }
            }
        }
    };
}

pub(crate) use named;
