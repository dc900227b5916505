//! The macro that declares a slot. One list gives the modules, the enum of policies, their names
//! for configuration, help and tests, and the dispatch: adding a policy is one file and one line.

/// Declares one policy slot. Every policy is made by `Policy::new(&Params, seed)`. A slot that
/// whoever builds the drive may fill says so: `or Custom(ItsTrait)`, see [`crate::policy::custom`].
macro_rules! slot {
    (
        $d:tt
        $(#[$doc:meta])*
        pub enum $Any:ident, named $Kind:ident, match by $each:ident
        $(, or $(#[$attribute:meta])* $Custom:ident($Trait:ident))? {
            $($name:literal => $module:ident::$Policy:ident, $about:literal;)+
        }
    ) => {
        $(mod $module;)+

        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub enum $Any {
            $(#[doc = $about] $Policy($module::$Policy),)+
            $(
                /// A custom policy.
                $(#[$attribute])*
                $Custom(Box<dyn crate::policy::custom::$Trait>),
            )?
        }

        /// Which policy of this slot: what a configuration names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $Kind {
            $(#[doc = $about] $Policy),+
        }

        impl $Kind {
            /// Every policy of this slot, in order; the parser, the help and the tests read it.
            pub const ALL: &'static [$Kind] = &[$($Kind::$Policy),+];

            /// The policy's name in configurations.
            pub fn name(self) -> &'static str {
                match self { $($Kind::$Policy => $name),+ }
            }

            /// What the policy does, in one line.
            pub fn about(self) -> &'static str {
                match self { $($Kind::$Policy => $about),+ }
            }
        }

        impl $Any {
            /// The policy that `params` names, with its parameters and its own random stream.
            pub fn new(params: &Params, seed: u64) -> Self {
                match params.name {
                    $($Kind::$Policy => $Any::$Policy($module::$Policy::new(params, seed))),+
                }
            }

            $(
                /// The custom policy, if there is one, or the one that `params` names.
                pub fn custom_or_new(
                    custom: Option<&crate::policy::custom::Maker<dyn crate::policy::custom::$Trait>>,
                    params: &Params,
                    seed: u64,
                ) -> Self {
                    match custom {
                        Some(maker) => $Any::$Custom(maker.make()),
                        None => Self::new(params, seed),
                    }
                }
            )?
        }

        macro_rules! $each {
            ($d any:expr, $d policy:ident => $d call:expr) => {
                match $d any {
                    $($Any::$Policy($d policy) => $d call,)+
                    $($Any::$Custom($d policy) => $d call,)?
                }
            };
        }
    };
}
pub(crate) use slot;
