//! The latest segment of a project: where somebody stopped.

use tome_ledger::{Head, Ledger};
use tome_model::{Level, Node, SessionId};

use super::Calendar;
use super::walk::{YEARS, heads_below};
use crate::{CONTENTS, EngineError};

/// Segments that are looked at before giving up: a session that goes on for weeks is no reason to
/// read all of it.
const LOOKED_AT_MAX: usize = 100;

/// Events that contents are made of while somebody waits, at most.
const CATCH_UP_MAX: u64 = 50;

impl Calendar {
    /// The latest segment of a project that has something to say; of any session but this one. What
    /// the contents are far behind with is not waited for.
    pub fn latest_segment(
        &self,
        project: &str,
        except: Option<&SessionId>,
    ) -> Result<Option<Node>, EngineError> {
        let Some(path) = self.stores.existing(project) else { return Ok(None) };
        let store = self.stores.open(&path)?;
        let behind = store.last_seq().saturating_sub(store.cursor(CONTENTS)?);
        if (1..=CATCH_UP_MAX).contains(&behind) {
            self.catch_up(&store)?;
        }
        let years = store.heads(project, YEARS, None).collect::<Result<_, _>>()?;
        let mut looked_at = 0;
        latest(&store, project, years, except, &mut looked_at)
    }
}

/// Goes down into the latest of these nodes first.
fn latest(
    store: &Ledger,
    project: &str,
    mut heads: Vec<Head>,
    except: Option<&SessionId>,
    looked_at: &mut usize,
) -> Result<Option<Node>, EngineError> {
    heads.retain(|head| !head.removed);
    heads.sort_by_key(|head| std::cmp::Reverse(head.last_at));
    for head in heads {
        if *looked_at >= LOOKED_AT_MAX {
            return Ok(None);
        }
        let found = if head.id.level() == Level::Segment {
            *looked_at += 1;
            let node = store.node(project, &head.id, None)?;
            node.filter(|node| {
                let is_other = except.is_none_or(|own| !node.sessions.contains(own));
                is_other && !node.bullets.is_empty()
            })
        } else {
            let below = heads_below(store, project, &head.id)?;
            latest(store, project, below, except, looked_at)?
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
