//! The macro that declares a slot. From one list, the macro generates the modules, the enum of
//! policies, their names for configuration, help and tests, and the dispatch. Adding a policy takes
//! one file and one line.

/// Declares the policies for one decision of the controller (for example, which block GC empties).
/// Every policy is created by `Policy::new(&Params, seed)`, and states the property it needs from a
/// drive ([`crate::policy::needs::Needs`]). A decision that custom policies may take declares `or
/// Custom(ItsTrait)`; see [`crate::policy::custom`].
macro_rules! slot {
    (
        $d:tt
        $(#[$doc:meta])*
        pub enum $Any:ident, named $Kind:ident, match by $each:ident
        $(, or $(#[$attribute:meta])* $Custom:ident($Trait:ident))? {
            $($name:literal => $module:ident::$Policy:ident needs $needs:ident, $about:literal;)+
        }
    ) => {
        $(mod $module;)+

        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub enum $Any {
            $(#[doc = $about] $Policy($module::$Policy),)+
            $(
                /// A custom policy, supplied by the code that builds the drive.
                $(#[$attribute])*
                $Custom(Box<dyn crate::policy::custom::$Trait>),
            )?
        }

        /// A policy for one kind of decision, as named in a configuration.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $Kind {
            $(#[doc = $about] $Policy),+
        }

        impl $Kind {
            /// All built-in policies for one decision of the controller (for example, which block
            /// GC empties), in the order in which help texts list them.
            pub const ALL: &'static [$Kind] = &[$($Kind::$Policy),+];

            /// Returns the policy's name in configuration files.
            pub fn name(self) -> &'static str {
                match self { $($Kind::$Policy => $name),+ }
            }

            /// Returns a one-line description of the policy, for help.
            pub fn about(self) -> &'static str {
                match self { $($Kind::$Policy => $about),+ }
            }

            /// Returns the property of a drive that the policy needs.
            pub fn needs(self) -> crate::policy::needs::Needs {
                match self { $($Kind::$Policy => crate::policy::needs::Needs::$needs),+ }
            }
        }

        impl $Any {
            /// Creates the policy that `params` names for one decision of the controller, with its
            /// parameters and its own random stream.
            pub fn new(params: &Params, seed: u64) -> Self {
                match params.name {
                    $($Kind::$Policy => $Any::$Policy($module::$Policy::new(params, seed))),+
                }
            }

            $(
                /// Returns the caller's own (custom) policy for one decision of the controller, if
                /// there is one, or else the built-in policy named by `params`.
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
