//! The typed view of the tree.
//!
//! Every accessor returns an `Option` or an iterator, since any part of a program that is being typed can be missing. The types cost
//! nothing: each is a tree node of a known kind.

mod definitions;
mod expressions;
mod literals;
mod statements;

pub use definitions::*;
pub use expressions::*;
pub use literals::*;
pub use statements::*;

use crate::{SyntaxKind, SyntaxNode, SyntaxToken};

/// A node of a known kind, or of one of several.
pub trait AstNode: Sized {
    /// Whether a node of this kind can be viewed as `Self`.
    fn can_cast(kind: SyntaxKind) -> bool;
    /// The view, if the node is of the right kind.
    fn cast(syntax: SyntaxNode) -> Option<Self>;
    /// The node itself.
    fn syntax(&self) -> &SyntaxNode;
}

/// Declares a struct for each node kind.
macro_rules! nodes {
    ($($(#[$meta:meta])* $name:ident = $kind:ident)*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(crate::SyntaxNode);

        impl crate::ast::AstNode for $name {
            fn can_cast(kind: crate::SyntaxKind) -> bool {
                kind == crate::SyntaxKind::$kind
            }

            fn cast(syntax: crate::SyntaxNode) -> Option<Self> {
                Self::can_cast(syntax.kind()).then_some(Self(syntax))
            }

            fn syntax(&self) -> &crate::SyntaxNode {
                &self.0
            }
        }
    )*};
}

/// Declares an enum over node structs.
macro_rules! node_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* #[allow(missing_docs)] $variant(crate::ast::$variant),)*
        }

        impl crate::ast::AstNode for $name {
            fn can_cast(kind: crate::SyntaxKind) -> bool {
                $(crate::ast::$variant::can_cast(kind))||*
            }

            fn cast(syntax: crate::SyntaxNode) -> Option<Self> {
                $(if crate::ast::$variant::can_cast(syntax.kind()) {
                    return crate::ast::$variant::cast(syntax).map(Self::$variant);
                })*
                None
            }

            fn syntax(&self) -> &crate::SyntaxNode {
                match self {
                    $(Self::$variant(node) => node.syntax(),)*
                }
            }
        }
    };
}

/// Declares accessors of a node: `name: Kind` for the first child of a kind, `name: (Kind 2)` for the one after two others, `name: [Kind]` for
/// all of them, and `name: [Kind in List]` for those in the children of another kind.
macro_rules! accessors {
    ($node:ident $($(#[$meta:meta])* $name:ident: $kind:tt,)*) => {
        impl $node {
            $(accessors! { @ $(#[$meta])* $name: $kind })*
        }
    };
    (@ $(#[$meta:meta])* $name:ident: [$kind:ident]) => {
        $(#[$meta])*
        pub fn $name(&self) -> impl Iterator<Item = $kind> + use<> {
            crate::ast::children(self)
        }
    };
    (@ $(#[$meta:meta])* $name:ident: [$kind:ident in $list:ident]) => {
        $(#[$meta])*
        pub fn $name(&self) -> impl Iterator<Item = $kind> + use<> {
            crate::ast::children::<$list, _>(self).flat_map(|list| crate::ast::children(&list))
        }
    };
    (@ $(#[$meta:meta])* $name:ident: ($kind:ident $nth:literal)) => {
        $(#[$meta])*
        pub fn $name(&self) -> Option<$kind> {
            crate::ast::children(self).nth($nth)
        }
    };
    (@ $(#[$meta:meta])* $name:ident: $kind:ident) => {
        $(#[$meta])*
        pub fn $name(&self) -> Option<$kind> {
            crate::ast::child(self)
        }
    };
}

use {accessors, node_enum, nodes};

/// The first child of the node that can be viewed as `N`.
fn child<N: AstNode>(parent: &impl AstNode) -> Option<N> {
    parent.syntax().children().find_map(N::cast)
}

/// All children of the node that can be viewed as `N`.
fn children<N: AstNode, P: AstNode>(parent: &P) -> impl Iterator<Item = N> + use<N, P> {
    parent.syntax().children().filter_map(N::cast)
}

/// The first token of that kind among the node's own.
fn token(parent: &impl AstNode, kind: SyntaxKind) -> Option<SyntaxToken> {
    parent
        .syntax()
        .children_with_tokens()
        .filter_map(|child| child.into_token())
        .find(|token| token.kind() == kind)
}

nodes! {
    /// The whole file.
    SourceFile = SOURCE_FILE
    /// Statements that are indented together.
    Block = BLOCK
    /// A name where it is defined.
    Name = NAME
    /// A name where it is used.
    NameRef = NAME_REF
}

/// What comes after `=`: a statement that has a value, or an expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// A session, a parallel block, a loop …
    Statement(Statement),
    /// A value without statements in it.
    Expression(Expression),
}

impl AstNode for Value {
    fn can_cast(kind: SyntaxKind) -> bool {
        Statement::can_cast(kind) || Expression::can_cast(kind)
    }

    fn cast(syntax: SyntaxNode) -> Option<Self> {
        if Statement::can_cast(syntax.kind()) {
            Statement::cast(syntax).map(Value::Statement)
        } else {
            Expression::cast(syntax).map(Value::Expression)
        }
    }

    fn syntax(&self) -> &SyntaxNode {
        match self {
            Value::Statement(statement) => statement.syntax(),
            Value::Expression(expression) => expression.syntax(),
        }
    }
}

accessors! { SourceFile
    /// The top-level statements, without lines that were not understood.
    statements: [Statement],
}

accessors! { Block
    /// The statements of the block, without lines that were not understood.
    statements: [Statement],
}

macro_rules! names {
    ($($node:ident)*) => {$(
        impl $node {
            /// The name itself.
            pub fn token(&self) -> Option<SyntaxToken> {
                token(self, SyntaxKind::IDENT)
            }

            /// The name as text.
            pub fn text(&self) -> String {
                self.0.text().to_string()
            }
        }
    )*};
}

names! { Name NameRef }
