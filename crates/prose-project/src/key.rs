//! The key of a user, which identifies the runs that `prose` has started for this user.
//!
//! A journal is in the project, where anyone with write access can forge one. Its record of the start of a run is trusted only with a seal made with
//! this key, which is stored outside of all projects.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{FileError, UserFiles};

/// The file of the key.
const FILE: &str = "run.key";

/// The prefix of every sealed text, so that a seal for another purpose is not valid for the start of a run.
const PURPOSE: &[u8] = b"prose run 1\n";

const LENGTH: usize = 32;

/// The key of a user.
#[derive(Clone)]
pub struct RunKey([u8; LENGTH]);

impl RunKey {
    /// The key, if the user has one.
    pub fn find(files: &UserFiles) -> Result<Option<Self>, FileError> {
        match files.read(FILE)? {
            None => Ok(None),
            Some(bytes) => match bytes.try_into() {
                Ok(key) => Ok(Some(Self(key))),
                Err(_) => {
                    Err(files.error(FILE, "does not contain a valid key; remove it to create a new one"))
                }
            },
        }
    }

    /// The key, which is created if the user has none.
    pub fn find_or_create(files: &UserFiles) -> Result<Self, FileError> {
        if let Some(key) = Self::find(files)? {
            return Ok(key);
        }
        let locked = files.lock()?;
        // Another process may have created it in the meantime.
        if let Some(key) = Self::find(files)? {
            return Ok(key);
        }
        let mut key = [0; LENGTH];
        getrandom::fill(&mut key)
            .map_err(|error| files.error(FILE, format!("cannot be created: {error}")))?;
        locked.write(FILE, &key)?;
        Ok(Self(key))
    }

    /// The seal of a text: HMAC-SHA256 in hexadecimal digits.
    pub fn seal(&self, text: &[u8]) -> String {
        self.mac(text).finalize().into_bytes().iter().fold(String::new(), |mut digits, byte| {
            // Writing to a text cannot fail.
            let _ = write!(digits, "{byte:02x}");
            digits
        })
    }

    /// Whether a seal was made from this text with this key.
    pub fn confirms(&self, text: &[u8], seal: &str) -> bool {
        let digits = |at: usize| u8::from_str_radix(seal.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..seal.len()).step_by(2).map(digits).collect();
        bytes.is_some_and(|bytes| self.mac(text).verify_slice(&bytes).is_ok())
    }

    fn mac(&self, text: &[u8]) -> Hmac<Sha256> {
        // HMAC pads a key with zeros to the block size of the hash.
        let mut block = [0; 64];
        block[..LENGTH].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(PURPOSE);
        mac.update(text);
        mac
    }
}

impl std::fmt::Debug for RunKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Keys are never logged.
        f.write_str("RunKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_confirms_its_text_and_no_other() {
        let temporary = tempfile::tempdir().unwrap();
        let files = UserFiles::at(temporary.path().join("prose"));
        assert!(RunKey::find(&files).unwrap().is_none());
        let key = RunKey::find_or_create(&files).unwrap();
        let seal = key.seal(b"head");
        assert_eq!(seal.len(), 64);
        let again = RunKey::find_or_create(&files).unwrap();
        assert!(again.confirms(b"head", &seal));
        assert!(!again.confirms(b"heap", &seal));
        for odd in ["", "zz", "é", &seal[..62], &format!("{seal}00")] {
            assert!(!again.confirms(b"head", odd), "{odd}");
        }
        let other = RunKey::find_or_create(&UserFiles::at(temporary.path().join("other"))).unwrap();
        assert!(!other.confirms(b"head", &seal));
        assert_eq!(format!("{key:?}"), "RunKey(…)");
    }

    #[test]
    fn processes_that_make_it_at_once_have_the_same() {
        let temporary = tempfile::tempdir().unwrap();
        let files = UserFiles::at(temporary.path());
        let seals: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| RunKey::find_or_create(&files).unwrap().seal(b"head")))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(seals.iter().all(|seal| *seal == seals[0]), "{seals:?}");
    }
}
