//! Ids of groups that stay when the groups grow, split or merge.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tome_model::hash_parts;

/// Characters of an id: no vowels, so no words; no letters that look like digits.
const LETTERS: &[u8; 26] = b"bcdfghjkmnpqrstvwxz2345678";
const ID_CHARS: usize = 6;
/// Ids that forward; those of earlier clusterings are forgotten first.
const FORWARDS_MAX: usize = 2_000;

/// The ids of groups with their members, and where former ids lead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupIds {
    /// The segments of each group by its id.
    pub groups: BTreeMap<String, BTreeSet<String>>,
    /// Former ids and the groups that have most of their segments now.
    pub forwards: BTreeMap<String, String>,
}

impl GroupIds {
    /// The current id for a current or former one.
    pub fn resolve(&self, id: &str) -> Option<&str> {
        if let Some((id, _)) = self.groups.get_key_value(id) {
            return Some(id);
        }
        if let Some(id) = self.forwards.get(id) {
            return Some(id);
        }
        // An id is made from its group's first segment: wherever that is now.
        let found = self
            .groups
            .iter()
            .find(|(_, segments)| segments.iter().any(|segment| make_id(segment, ID_CHARS) == id));
        found.map(|(id, _)| id.as_str())
    }

    /// Gives ids to groups: those of the last time where most of the segments are the same, else
    /// new ones. Returns the ids in order of the groups.
    pub(crate) fn assign(groups: &[BTreeSet<String>], last: &Self) -> (Vec<String>, Self) {
        let mut shared: BTreeMap<(&str, usize), usize> = BTreeMap::new();
        let mut id_of: BTreeMap<&str, &str> = BTreeMap::new();
        for (id, segments) in &last.groups {
            id_of.extend(segments.iter().map(|segment| (segment.as_str(), id.as_str())));
        }
        for (index, segments) in groups.iter().enumerate() {
            for id in segments.iter().filter_map(|segment| id_of.get(segment.as_str())) {
                *shared.entry((id, index)).or_insert(0) += 1;
            }
        }
        let mut matches: Vec<(usize, &str, usize)> =
            shared.iter().map(|((id, index), count)| (*count, *id, *index)).collect();
        matches.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)).then(a.2.cmp(&b.2)));
        let mut ids: Vec<Option<String>> = vec![None; groups.len()];
        let mut heirs: BTreeMap<&str, usize> = BTreeMap::new();
        let mut used: BTreeSet<String> = BTreeSet::new();
        for (_, id, index) in &matches {
            // The group with most of its segments: it keeps the id, or the id forwards to it.
            heirs.entry(id).or_insert(*index);
            let slot = ids.get_mut(*index);
            if let Some(slot) = slot.filter(|slot| slot.is_none())
                && heirs.get(id) == Some(index)
            {
                *slot = Some((*id).to_owned());
                used.insert((*id).to_owned());
            }
        }
        let former: BTreeSet<&str> = last.groups.keys().map(String::as_str).collect();
        let mut assigned = Vec::with_capacity(groups.len());
        for (id, segments) in ids.into_iter().zip(groups) {
            let id = id.unwrap_or_else(|| {
                let first = segments.first().map_or("", String::as_str);
                let is_free = |id: &String| !used.contains(id) && !former.contains(id.as_str());
                let candidates = (ID_CHARS..ID_CHARS + 20).map(|chars| make_id(first, chars));
                candidates.into_iter().find(is_free).unwrap_or_default()
            });
            used.insert(id.clone());
            assigned.push(id);
        }
        let mut next = Self::default();
        for (id, segments) in assigned.iter().zip(groups) {
            next.groups.insert(id.clone(), segments.clone());
        }
        for (id, index) in heirs {
            if let Some(heir) = assigned.get(index).filter(|heir| *heir != id) {
                next.forwards.insert(id.to_owned(), heir.clone());
            }
        }
        for (id, to) in &last.forwards {
            let to = next.forwards.get(to).unwrap_or(to).clone();
            let is_known = next.groups.contains_key(&to) && !next.groups.contains_key(id);
            if is_known && next.forwards.len() < FORWARDS_MAX {
                next.forwards.entry(id.clone()).or_insert(to);
            }
        }
        (assigned, next)
    }
}

/// The id of a group whose first segment this is.
pub(crate) fn make_id(segment: &str, chars: usize) -> String {
    let mut hash = hash_parts("tome topics 2026 group", &[segment]);
    let mut id = "t-".to_owned();
    for _ in 0..chars {
        let letter = usize::try_from(hash % 26).unwrap_or_default();
        id.push(LETTERS.get(letter).copied().map_or('x', char::from));
        hash /= 26;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[&str]) -> BTreeSet<String> {
        members.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn ids_stay_while_groups_grow() {
        let (ids, group_ids) =
            GroupIds::assign(&[group(&["a", "b"]), group(&["c", "d"])], &GroupIds::default());
        assert!(ids.iter().all(|id| id.len() == 8 && id.starts_with("t-")), "{ids:?}");
        let grown = [group(&["c", "d", "e"]), group(&["0", "a", "b", "f"])];
        let (later, _) = GroupIds::assign(&grown, &group_ids);
        assert_eq!(later, [ids[1].clone(), ids[0].clone()]);
        assert_eq!(GroupIds::assign(&grown, &GroupIds::assign(&grown, &group_ids).1).0, later);
    }

    #[test]
    fn a_former_id_leads_to_the_larger_part() {
        let (ids, group_ids) = GroupIds::assign(
            &[group(&["a", "b", "c", "d", "e"]), group(&["x", "y"])],
            &GroupIds::default(),
        );
        // A split: the greater part keeps the id, the other gets a new one.
        let (split, then) =
            GroupIds::assign(&[group(&["a", "b"]), group(&["c", "d", "e"])], &group_ids);
        assert_eq!(split[1], ids[0]);
        assert_ne!(split[0], ids[0]);
        assert_eq!(then.resolve(&ids[1]), None, "its segments are gone");
        // A merge: the id of the smaller one forwards, also over several steps.
        let all = group(&["a", "b", "c", "d", "e", "x", "y"]);
        let (merged, after) = GroupIds::assign(std::slice::from_ref(&all), &then);
        assert_eq!(merged[0], ids[0]);
        assert_eq!(after.resolve(&split[0]), Some(ids[0].as_str()));
        let (_, last) = GroupIds::assign(&[all], &after);
        assert_eq!(last.resolve(&split[0]), Some(ids[0].as_str()));
        assert_eq!(last.resolve("t-unknwn"), None);
        // Without the former ids, an id is found by the segment that it was made from.
        assert_eq!(last.resolve(&make_id("y", ID_CHARS)), Some(ids[0].as_str()));
    }
}
