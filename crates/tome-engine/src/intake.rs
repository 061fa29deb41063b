//! The way in: a draft is sealed, placed in its project and appended to that project's ledger.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use tome_ledger::{Appended, LedgerError, NewEvent};
use tome_model::{Clock, Draft, ModelError};

use crate::{EngineError, Sealer, Store, Stores};

/// The way in.
pub struct Intake {
    sealer: Sealer,
    stores: Arc<Stores>,
    clock: Arc<dyn Clock>,
}

/// What became of one draft. An error is shared by all drafts that it kept out.
pub type Ingested = Result<Appended, Arc<EngineError>>;

impl Intake {
    /// The way into some stores.
    pub fn new(sealer: Sealer, stores: Arc<Stores>, clock: Arc<dyn Clock>) -> Self {
        Self { sealer, stores, clock }
    }

    /// Stores drafts, whatever projects they belong to, and answers for each, in order, once it is
    /// synced. One that cannot be stored does not keep the others out.
    pub fn ingest(&self, drafts: Vec<Draft>) -> Vec<Ingested> {
        let mut answers: Vec<Ingested> =
            drafts.iter().map(|_| Err(Arc::new(EngineError::Closed))).collect();
        let shares = self.share_out(drafts, &mut answers);
        // Every ledger gets its share before the first is waited for.
        let pending: Vec<Pending> =
            shares.into_iter().map(|(root, share)| self.append(&root, share)).collect();
        for one in pending {
            one.settle(&mut answers);
        }
        answers
    }

    /// Seals and encodes drafts and sorts them by project. One that cannot be stored is answered
    /// here and goes no further.
    fn share_out(&self, drafts: Vec<Draft>, answers: &mut [Ingested]) -> HashMap<String, Share> {
        let arrived = self.clock.now();
        let mut shares: HashMap<String, Share> = HashMap::new();
        // Most of what comes together comes from one place, and finding its project asks the disk.
        let mut roots: HashMap<(String, Option<String>), String> = HashMap::new();
        for ((place, mut draft), answer) in drafts.into_iter().enumerate().zip(answers) {
            draft.flatten_deep();
            let draft = self.sealer.seal(draft);
            let cwd = draft.cwd.clone();
            let root = roots
                .entry((cwd.clone(), draft.project.clone()))
                .or_insert_with(|| self.root_of(&draft))
                .clone();
            let event = NewEvent::encode(draft, root.clone(), arrived);
            if let Some(problem) = event.problem() {
                *answer = Err(Arc::new(ModelError::invalid("event", problem).into()));
                continue;
            }
            let share = shares.entry(root).or_default();
            share.places.push(place);
            share.cwds.insert(cwd);
            share.events.push(event);
        }
        shares
    }

    fn root_of(&self, draft: &Draft) -> String {
        self.stores.projects().root_of(&draft.cwd, draft.project.as_deref())
    }

    fn append(&self, root: &str, share: Share) -> Pending {
        let (done, answer) = mpsc::channel();
        let store = self.stores.of_project(root).and_then(|store| {
            for cwd in &share.cwds {
                self.stores.projects().note_worktree(root, cwd)?;
            }
            store.append_then(share.events, move |result| {
                // Nobody listens only when the caller is gone; the events are stored all the same.
                let _ = done.send(result);
            });
            Ok(store)
        });
        Pending { places: share.places, store, answer }
    }
}

/// The events of one project, with their places among all that came in together.
#[derive(Default)]
struct Share {
    places: Vec<usize>,
    cwds: BTreeSet<String>,
    events: Vec<NewEvent>,
}

/// A share that is on its way to the disk.
struct Pending {
    places: Vec<usize>,
    /// Held until the answer is there, so that the store is not closed as unused meanwhile.
    store: Result<Store, EngineError>,
    answer: Receiver<Result<Vec<Appended>, LedgerError>>,
}

impl Pending {
    fn settle(self, answers: &mut [Ingested]) {
        let result = match self.store {
            Ok(store) => {
                let answer = self.answer.recv().map_err(|_| EngineError::Closed);
                drop(store);
                answer.and_then(|appended| Ok(appended?))
            }
            Err(error) => Err(error),
        };
        let mut settle = |place: usize, answer: Ingested| {
            if let Some(slot) = answers.get_mut(place) {
                *slot = answer;
            }
        };
        match result {
            Ok(appended) => {
                for (place, one) in self.places.into_iter().zip(appended) {
                    settle(place, Ok(one));
                }
            }
            Err(error) => {
                let error = Arc::new(error);
                for place in self.places {
                    settle(place, Err(Arc::clone(&error)));
                }
            }
        }
    }
}
