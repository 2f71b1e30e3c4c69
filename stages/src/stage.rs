//! What wraps a link.

/// Wraps a link in another. To [`Link`](crate::Link) what a tower layer is to a service.
pub trait Stage<L> {
    /// The wrapped link.
    type Link;

    /// Puts this stage around `link`.
    fn attach(self, link: L) -> Self::Link;
}

/// Two stages as one, the first innermost.
impl<L, A: Stage<L>, B: Stage<A::Link>> Stage<L> for (A, B) {
    type Link = B::Link;

    fn attach(self, link: L) -> Self::Link {
        self.1.attach(self.0.attach(link))
    }
}

/// Three stages as one, the first innermost.
impl<L, A: Stage<L>, B: Stage<A::Link>, C: Stage<B::Link>> Stage<L> for (A, B, C) {
    type Link = C::Link;

    fn attach(self, link: L) -> Self::Link {
        self.2.attach(self.1.attach(self.0.attach(link)))
    }
}

/// Four stages as one, the first innermost.
impl<L, A, B, C, D> Stage<L> for (A, B, C, D)
where
    A: Stage<L>,
    B: Stage<A::Link>,
    C: Stage<B::Link>,
    D: Stage<C::Link>,
{
    type Link = D::Link;

    fn attach(self, link: L) -> Self::Link {
        self.3
            .attach(self.2.attach(self.1.attach(self.0.attach(link))))
    }
}
