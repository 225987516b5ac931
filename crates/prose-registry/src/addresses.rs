//! The addresses that a program from the network may request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::{fmt, io};

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves the names of hosts.
pub trait Resolver: Send + Sync + 'static {
    /// The addresses of a host. A port of 0 stands for that of the requested address.
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;
}

/// The resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
    }
}

/// Why an address is not a public one. What is public is all that `iana.org` lists as globally reachable, and not for many at once.
pub(crate) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let why = match address.octets() {
        [127, ..] => "a loopback address",
        [0, ..] => "unspecified",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [169, 254, ..] => "link-local",
        [100, 64..=127, ..] => "a shared address",
        [224..=239, ..] => "a multicast address",
        [192, 0, 0, _] | [192, 0, 2, _] | [198, 18..=19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => {
            "reserved"
        }
        [192, 88, 99, _] | [240..=255, ..] => "reserved",
        _ => return None,
    };
    Some(why)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        not_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some("unspecified"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        // IPv4 addresses in another form: mapped, translated (NAT64), tunnelled (6to4).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        [0xfc00..=0xfdff, ..] => Some("private"),
        [0xfe80..=0xfebf, ..] => Some("link-local"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        // Protocols, tunnels and documentation within what is otherwise public.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some("reserved"),
        [0x2000..=0x3fff, ..] => None,
        _ => Some("reserved"),
    }
}

/// A host without a public address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotPublic {
    pub(crate) host: String,
    pub(crate) address: IpAddr,
    pub(crate) why: &'static str,
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has the address {}, which is {}", self.host, self.address, self.why)
    }
}

impl std::error::Error for NotPublic {}

/// The public ones among the addresses of a host.
pub(crate) fn public(host: &str, addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, NotPublic> {
    let mut refused = None;
    let mut public = Vec::new();
    for address in addresses {
        match not_public(address.ip()) {
            None => public.push(address),
            Some(why) => refused = Some(NotPublic { host: host.to_owned(), address: address.ip(), why }),
        }
    }
    match refused {
        Some(refused) if public.is_empty() => Err(refused),
        _ => Ok(public),
    }
}

/// Gives reqwest the addresses to connect to. Since it connects to none but these, no second look at the name can lead elsewhere.
pub(crate) struct DnsResolver {
    pub(crate) names: Arc<dyn Resolver>,
    pub(crate) only_public: bool,
}

impl Resolve for DnsResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let lookup = self.names.lookup(name.as_str());
        let only_public = self.only_public;
        Box::pin(async move {
            let addresses = lookup.await?;
            let addresses = if only_public { public(name.as_str(), addresses)? } else { addresses };
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn addresses_that_are_not_public_are_known_in_every_form() {
        let refused = [
            "127.0.0.1",
            "127.255.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "224.0.0.1",
            "239.1.1.1",
            "255.255.255.255",
            "240.0.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.7",
            "192.88.99.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "4000::1",
        ];
        for address in refused {
            assert!(not_public(address.parse().unwrap()).is_some(), "{address}");
        }
    }

    #[test]
    fn public_addresses_are_public() {
        let public = [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "169.253.0.1",
            "192.167.1.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "2002:101:101::1",
        ];
        for address in public {
            assert_eq!(not_public(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn only_the_public_addresses_of_a_host_are_connected_to() {
        let addresses =
            |list: &[&str]| list.iter().map(|address| address.parse().unwrap()).collect::<Vec<SocketAddr>>();
        assert_eq!(
            public("both.example", addresses(&["10.0.0.1:0", "1.1.1.1:0", "[::1]:0"])),
            Ok(addresses(&["1.1.1.1:0"]))
        );
        let refused = public("inner.example", addresses(&["10.0.0.1:0"])).unwrap_err();
        assert_eq!(refused.to_string(), "inner.example has the address 10.0.0.1, which is private");
    }

    /// Public at the first look, this machine at all others.
    struct Rebinding(AtomicUsize);

    impl Resolver for Rebinding {
        fn lookup(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
            let is_first = self.0.fetch_add(1, Ordering::SeqCst) == 0;
            let found = if is_first { "1.1.1.1:0" } else { "127.0.0.1:0" };
            Box::pin(async move { Ok(vec![found.parse().unwrap()]) })
        }
    }

    #[tokio::test]
    async fn the_address_that_is_connected_to_is_the_one_that_was_checked() {
        let names = Arc::new(Rebinding(AtomicUsize::new(0)));
        let resolver = DnsResolver { names: names.clone(), only_public: true };
        let look = || resolver.resolve("rebinding.example".parse().unwrap());
        // One look serves both the check and the connection, so a second answer of the name never counts unchecked.
        let first: Vec<SocketAddr> = look().await.unwrap().collect();
        assert_eq!(first, ["1.1.1.1:0".parse().unwrap()]);
        assert_eq!(names.0.load(Ordering::SeqCst), 1);
        assert!(look().await.err().unwrap().is::<NotPublic>());
    }
}
