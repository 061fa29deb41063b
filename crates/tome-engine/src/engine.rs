//! The engine: opens a home and connects its parts.
//!
//! The daemon and the agent library both run one, so that the parts are wired in one place and can be
//! tested in process.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use tome_contents::{Contents, ContentsSettings, Extractive};
use tome_finder::{Embedder, StaticEmbedder};
use tome_home::{
    Home, HomeError, Notebooks, Projection, ProjectionReport, SessionStatsProjection, Store,
    StoreMode, Stores,
};
use tome_ledger::RepairReport;
use tome_model::{Clock, Zone, limits};
use tome_notebook::NotebookRules;
use tome_recall::{Recall, Transcripts};
use tome_redact::{CustomPattern, PatternError, Redactor};

use crate::{Injector, Intake, Sealer, Spool, Tools, Topics};

/// Rounds over the projections per catch-up: the first builds contents, the second indexes them.
const ROUNDS_MAX: usize = 2;

/// The settings of an engine.
pub struct EngineSettings {
    /// Created on the first write.
    pub home: Home,
    /// One store per project, or one for all.
    pub store_mode: StoreMode,
    /// The storage engine of new stores.
    pub store_engine: tome_ledger::StorageEngine,
    /// File descriptor limit of the process; limits the number of open stores.
    pub descriptors: Option<u64>,
    /// Event texts are cut to this size.
    pub text_bytes_max: usize,
    /// The user's own redaction patterns.
    pub redact: Vec<CustomPattern>,
    /// The rules for notebooks.
    pub notes: NotebookRules,
    /// How contents are built.
    pub contents: ContentsSettings,
    /// Computes vectors; by default the model in the binary.
    pub embedder: Arc<dyn Embedder>,
}

impl EngineSettings {
    /// The defaults for a home; days begin and end in this time zone.
    pub fn new(home: Home, zone: Zone) -> Self {
        Self {
            home,
            store_mode: StoreMode::PerProject,
            store_engine: tome_ledger::StorageEngine::DEFAULT,
            descriptors: None,
            text_bytes_max: limits::TEXT_BYTES_MAX,
            redact: Vec::new(),
            notes: NotebookRules::default(),
            contents: ContentsSettings::in_zone(zone),
            embedder: Arc::new(StaticEmbedder),
        }
    }
}

/// An open home: stores, notebooks, and the projections over them.
pub struct Engine {
    home: Home,
    clock: Arc<dyn Clock>,
    stores: Arc<Stores>,
    notebooks: Arc<Notebooks>,
    contents: Arc<Contents>,
    transcripts: Arc<Transcripts>,
    recall: Arc<Recall>,
    topics: Arc<Topics>,
    intake: Intake,
    spool: Spool,
    projections: Vec<Arc<dyn Projection>>,
    redact: Vec<CustomPattern>,
    /// Built on first use: most daemons only record, and building a redactor takes time and memory.
    redactor: OnceLock<Arc<Redactor>>,
    tools: OnceLock<Tools>,
    injector: OnceLock<Injector>,
}

impl Engine {
    /// Opens a home. Reads its project folders, restores damaged `project.toml` files and finishes
    /// rewrites of stores that were interrupted; keeps no store open yet.
    pub fn open(settings: EngineSettings, clock: Arc<dyn Clock>) -> Result<Self, PatternError> {
        let EngineSettings { home, redact, .. } = settings;
        let sealer = Sealer::new(Redactor::new(&redact)?, settings.text_bytes_max);
        let mut stores = Stores::new(
            home.clone(),
            settings.store_mode,
            settings.store_engine,
            Arc::clone(&clock),
        );
        if let Some(descriptors) = settings.descriptors {
            stores = stores.with_descriptor_limit(descriptors);
        }
        let stores = Arc::new(stores);
        let projects = stores.shared_projects();
        let notebooks = Arc::new(Notebooks::new(
            home.clone(),
            Arc::clone(&projects),
            settings.notes,
            Arc::clone(&clock),
        ));
        let contents = Arc::new(Contents::new(
            Arc::clone(&stores),
            settings.contents,
            Arc::new(Extractive),
            Arc::clone(&clock),
        ));
        let transcripts = Arc::new(Transcripts::new(projects, Arc::clone(&clock)));
        let recall = Arc::new(Recall::new(
            home.clone(),
            Arc::clone(&stores),
            Arc::clone(&notebooks),
            Arc::clone(&contents),
            Arc::clone(&transcripts),
            Arc::clone(&settings.embedder),
            Arc::clone(&clock),
        ));
        let topics = Arc::new(Topics::new(
            Arc::clone(&stores),
            Arc::clone(&contents),
            settings.embedder,
            Arc::clone(&clock),
        ));
        // The order matters: indexes refer to transcript lines, and events must be searchable before
        // their contents are built.
        let projections: Vec<Arc<dyn Projection>> = vec![
            Arc::new(SessionStatsProjection),
            Arc::clone(&transcripts) as _,
            Arc::clone(&recall) as _,
            Arc::clone(&contents) as _,
            Arc::clone(contents.instructions()) as _,
            Arc::clone(&topics) as _,
        ];
        Ok(Self {
            intake: Intake::new(sealer, Arc::clone(&stores), Arc::clone(&clock)),
            spool: Spool::new(&home),
            home,
            clock,
            stores,
            notebooks,
            contents,
            transcripts,
            recall,
            topics,
            projections,
            redact,
            redactor: OnceLock::new(),
            tools: OnceLock::new(),
            injector: OnceLock::new(),
        })
    }

    /// Adds a projection that runs after the others.
    pub fn add_projection(&mut self, projection: Arc<dyn Projection>) {
        self.projections.push(projection);
    }

    /// Brings every projection of a store up to date, until `stop` returns true. A failing projection
    /// does not block the others; returns the first error.
    pub fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        let mut failed: Vec<(&'static str, HomeError)> = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let mut is_done = true;
            for projection in &self.projections {
                let name = projection.name();
                if stop() || failed.iter().any(|(failed, _)| *failed == name) {
                    continue;
                }
                let caught_up = projection.is_behind(store).and_then(|is_behind| {
                    is_done &= !is_behind;
                    if is_behind { projection.catch_up(store, stop) } else { Ok(()) }
                });
                failed.extend(caught_up.err().map(|error| (name, error)));
            }
            if is_done {
                break;
            }
        }
        failed.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Whether a projection of a store lacks events.
    pub fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        for projection in &self.projections {
            if projection.is_behind(store)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The state of every projection of a store, in the order in which they catch up.
    pub fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        let reports = self.projections.iter().map(|projection| projection.report(store));
        Ok(reports.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Brings the store of a project up to date, if it has one.
    pub fn catch_up_project(&self, root: &str) -> Result<(), HomeError> {
        match self.stores.find_store_path(root) {
            Some(path) => self.catch_up(&self.stores.open(&path)?, &|| false),
            None => Ok(()),
        }
    }

    /// Rebuilds every projection of a store from its events.
    pub fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        self.projections.iter().try_for_each(|projection| projection.rebuild(store))?;
        self.catch_up(store, &|| false)
    }

    /// Repairs a damaged store. Contents may have been built while some of its events could not be read,
    /// so they are rebuilt.
    pub fn repair(&self, path: &Path) -> Result<RepairReport, HomeError> {
        let repaired = self.stores.repair(path)?;
        if repaired.restored > 0 || repaired.lost > 0 {
            let store = self.stores.open(path)?;
            self.contents.catch_up(&store, &|| false)?;
            Projection::rebuild(&*self.contents, &store)?;
        }
        Ok(repaired)
    }

    /// Closes a store together with the indexes over it.
    pub fn close(&self, path: &Path) {
        self.stores.close(path);
        self.recall.close_indexes(path);
        self.topics.close_unused();
    }

    /// The home folder.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The clock of all parts.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The ledgers of the projects.
    pub fn stores(&self) -> &Arc<Stores> {
        &self.stores
    }

    /// The notebooks of the projects and of the coder.
    pub fn notebooks(&self) -> &Arc<Notebooks> {
        &self.notebooks
    }

    /// The contents of the stores.
    pub fn contents(&self) -> &Arc<Contents> {
        &self.contents
    }

    /// The `messages.jsonl` of the sessions.
    pub fn transcripts(&self) -> &Arc<Transcripts> {
        &self.transcripts
    }

    /// Search over events, contents and notes.
    pub fn recall(&self) -> &Arc<Recall> {
        &self.recall
    }

    /// Files, commands, errors, branches and groups of work, with their pages.
    pub fn topics(&self) -> &Arc<Topics> {
        &self.topics
    }

    /// Stores events.
    pub fn intake(&self) -> &Intake {
        &self.intake
    }

    /// Events that hooks could not deliver.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// The tools over notebooks, contents and recall.
    pub fn tools(&self) -> Result<&Tools, PatternError> {
        if let Some(tools) = self.tools.get() {
            return Ok(tools);
        }
        let redactor = self.redactor()?;
        Ok(self.tools.get_or_init(|| {
            Tools::new(Arc::clone(&self.notebooks), redactor)
                .with_contents(Arc::clone(&self.contents))
                .with_recall(Arc::clone(&self.recall))
                .with_topics(Arc::clone(&self.topics))
        }))
    }

    /// Composes the texts to inject into agents.
    pub fn injector(&self) -> Result<&Injector, PatternError> {
        if let Some(injector) = self.injector.get() {
            return Ok(injector);
        }
        let redactor = self.redactor()?;
        Ok(self.injector.get_or_init(|| {
            Injector::new(
                Arc::clone(&self.stores),
                Arc::clone(&self.notebooks),
                Arc::clone(&self.recall),
                Arc::clone(self.contents.instructions()),
                Arc::clone(&self.topics),
                Arc::clone(&self.clock),
                redactor,
            )
        }))
    }

    /// The redactor of outgoing text. (Incoming text has its own, in the intake.)
    pub(crate) fn redactor(&self) -> Result<Arc<Redactor>, PatternError> {
        if let Some(redactor) = self.redactor.get() {
            return Ok(Arc::clone(redactor));
        }
        let redactor = Arc::new(Redactor::new(&self.redact)?);
        Ok(Arc::clone(self.redactor.get_or_init(|| redactor)))
    }
}
