//! How processes of one user reach each other: Unix sockets in a folder of the user alone, and elsewhere the loopback interface.

#[cfg(unix)]
pub(super) use self::unix::{AsyncListener, AsyncStream, Listener, Stream, connect, is_of_user, remove};

#[cfg(not(unix))]
pub(super) use self::loopback::{AsyncListener, AsyncStream, Listener, Stream, connect, is_of_user, remove};

#[cfg(unix)]
mod unix {
    use std::env;
    use std::fs::{self, DirBuilder, DirEntry};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
    use std::os::unix::net::UnixListener;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    pub(in super::super) use std::os::unix::net::UnixStream as Stream;
    pub(in super::super) use tokio::net::{UnixListener as AsyncListener, UnixStream as AsyncStream};

    /// The longest path of a socket that all systems take.
    const MAX_PATH: usize = 100;

    /// How old a socket is at least that is looked at: one that is just being made does not listen yet.
    const LISTENING_TIME: Duration = Duration::from_secs(60);

    /// A socket that listens.
    pub(in super::super) struct Listener {
        listener: UnixListener,
        path: PathBuf,
    }

    impl Listener {
        /// Listens at a new address with that name.
        pub(in super::super) fn bind(name: &str) -> io::Result<Self> {
            let folder = folder(name.len() + ".sock/".len())?;
            remove_dead(&folder, LISTENING_TIME);
            let path = folder.join(format!("{name}.sock"));
            // The folder belongs to the user alone, so no other user connects before the socket has its own permissions.
            let listener = UnixListener::bind(&path)?;
            listener.set_nonblocking(true)?;
            Ok(Self { listener, path })
        }

        pub(in super::super) fn address(&self) -> io::Result<String> {
            self.path
                .to_str()
                .map(str::to_owned)
                .ok_or_else(|| io::Error::other("the path of the socket is not valid UTF-8"))
        }

        /// The same on the runtime of the caller.
        pub(in super::super) fn listen(self) -> io::Result<AsyncListener> {
            AsyncListener::from_std(self.listener)
        }
    }

    /// The folder of the sockets: in the folder that the system gives the user for such things, else in that for temporary files.
    fn folder(name: usize) -> io::Result<PathBuf> {
        let user = rustix::process::geteuid().as_raw();
        let given = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let given =
            given.filter(|folder| folder.is_absolute() && folder.is_dir()).map(|folder| folder.join("prose"));
        let temporary = env::temp_dir().join(format!("prose-{user}"));
        let mut problem = io::Error::other("no folder for sockets has a short enough path");
        for folder in given.into_iter().chain([temporary]) {
            if folder.as_os_str().len() + name > MAX_PATH {
                continue;
            }
            match owned(&folder, user) {
                Ok(()) => return Ok(folder),
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    /// Removes the sockets of processes that were killed.
    fn remove_dead(folder: &Path, age: Duration) {
        let is_old = |entry: &DirEntry| {
            let modified = entry.metadata().and_then(|found| found.modified()).ok();
            modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|elapsed| elapsed >= age)
        };
        // What cannot be looked at stays.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_old) {
            let path = entry.path();
            if Stream::connect(&path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
                && let Some(path) = path.to_str()
            {
                remove(path);
            }
        }
    }

    /// Makes a folder for the user alone, or checks that an existing one is.
    fn owned(folder: &Path, user: u32) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let found = fs::symlink_metadata(folder)?;
        let problem = if !found.is_dir() {
            "is not a folder"
        } else if found.uid() != user {
            "belongs to another user"
        } else if found.mode() & 0o077 != 0 {
            "can be used by other users; run `chmod 700` on it"
        } else {
            return Ok(());
        };
        Err(io::Error::other(format!("`{}` {problem}", folder.display())))
    }

    /// Connects to an address. A socket of another user is refused: only this user executes the runs of this user.
    pub(in super::super) fn connect(address: &str) -> io::Result<Stream> {
        let found = fs::symlink_metadata(address)?;
        if !found.file_type().is_socket() || found.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "its socket belongs to another user",
            ));
        }
        Stream::connect(address)
    }

    /// Whether the process at the other end belongs to the user.
    pub(in super::super) fn is_of_user(stream: &AsyncStream) -> bool {
        stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
    }

    /// Removes an address at which no process listens any more.
    pub(in super::super) fn remove(address: &str) {
        if let Ok(found) = fs::symlink_metadata(address)
            && found.file_type().is_socket()
            && found.uid() == rustix::process::geteuid().as_raw()
        {
            // What cannot be removed is recognised again by the next process.
            let _ = fs::remove_file(address);
        }
    }

    #[cfg(test)]
    mod tests {
        use std::fs::Permissions;
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        #[test]
        fn sockets_of_killed_processes_are_removed() {
            let root = prose_fixture::tempdir().unwrap();
            let dead = root.path().join("dead.sock");
            drop(UnixListener::bind(&dead).unwrap());
            let live = root.path().join("live.sock");
            let _listener = UnixListener::bind(&live).unwrap();
            remove_dead(root.path(), LISTENING_TIME);
            assert!(dead.exists() && live.exists(), "they are new");
            remove_dead(root.path(), Duration::ZERO);
            assert!(!dead.exists() && live.exists());
        }

        #[test]
        fn the_folder_of_sockets_is_of_the_user_alone() {
            let root = prose_fixture::tempdir().unwrap();
            let user = rustix::process::geteuid().as_raw();
            let folder = root.path().join("sockets");
            owned(&folder, user).unwrap();
            assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
            owned(&folder, user).unwrap();
            let refused = |folder: &Path, user: u32| {
                let message = owned(folder, user).unwrap_err().to_string();
                message.replace(&folder.display().to_string(), "FOLDER")
            };
            assert_eq!(refused(&folder, user + 1), "`FOLDER` belongs to another user");
            fs::set_permissions(&folder, Permissions::from_mode(0o750)).unwrap();
            assert_eq!(refused(&folder, user), "`FOLDER` can be used by other users; run `chmod 700` on it");
            let link = root.path().join("link");
            symlink(root.path(), &link).unwrap();
            assert_eq!(refused(&link, user), "`FOLDER` is not a folder");
        }
    }
}

/// Named pipes would need unsafe code; the token of the run keeps other users out.
#[cfg(not(unix))]
mod loopback {
    use std::io;
    use std::net::{Ipv4Addr, SocketAddr, TcpListener};

    pub(in super::super) use std::net::TcpStream as Stream;
    pub(in super::super) use tokio::net::{TcpListener as AsyncListener, TcpStream as AsyncStream};

    /// A socket that listens.
    pub(in super::super) struct Listener(TcpListener);

    impl Listener {
        /// Listens at a new address.
        pub(in super::super) fn bind(_: &str) -> io::Result<Self> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            listener.set_nonblocking(true)?;
            Ok(Self(listener))
        }

        pub(in super::super) fn address(&self) -> io::Result<String> {
            Ok(self.0.local_addr()?.to_string())
        }

        /// The same on the runtime of the caller.
        pub(in super::super) fn listen(self) -> io::Result<AsyncListener> {
            AsyncListener::from_std(self.0)
        }
    }

    /// Connects to an address, which is on this machine.
    pub(in super::super) fn connect(address: &str) -> io::Result<Stream> {
        let address: SocketAddr = address
            .parse()
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "its address is damaged"))?;
        if !address.ip().is_loopback() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "its address is not on this machine",
            ));
        }
        Stream::connect(address)
    }

    /// Whether the process at the other end is on this machine. That it is of the user follows from the token.
    pub(in super::super) fn is_of_user(stream: &AsyncStream) -> bool {
        stream.peer_addr().is_ok_and(|peer| peer.ip().is_loopback())
    }

    /// Nothing remains of such an address.
    pub(in super::super) fn remove(_: &str) {}
}
