//! Which storage engine a store uses.

/// A storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StorageEngine {
    /// fjall, an LSM store in Rust.
    Fjall,
    /// RocksDB, in builds with the cargo feature `rocksdb`.
    RocksDb,
}

impl StorageEngine {
    /// The engine of new stores, unless configured otherwise.
    pub const DEFAULT: Self = Self::Fjall;

    /// The engines in this build.
    pub const AVAILABLE: &[Self] = &[
        Self::Fjall,
        #[cfg(feature = "rocksdb")]
        Self::RocksDb,
    ];

    /// The name in `STORE` and in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::RocksDb => "rocksdb",
        }
    }

    /// Finds an engine by name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Fjall, Self::RocksDb].into_iter().find(|engine| engine.as_str() == name)
    }
}

impl std::fmt::Display for StorageEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
