use zed_extension_api as zed;
struct Prose;
impl zed::Extension for Prose { fn new() -> Self { Prose } }
zed::register_extension!(Prose);
