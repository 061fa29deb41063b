//! How well groups match pieces of work: `cargo bench -p tome-topics --bench pairs`.
//!
//! Two segments of the same issue, pull request or branch should be in the same group: the F1 of all
//! pairs, for generated repositories, against simpler ways to group. Branches and issues are hidden from
//! the grouping. With `TOME_BENCH_SEGMENTS` (the file `segments.jsonl` of a store's topics) the same
//! for recorded work; with `TOME_BENCH_TUNE=1` the weights are compared on one half of the repositories.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    reason = "a bench is a program for its developers"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tome_model::{Agent, FileAction, Millis, NodeId, SessionId};
use tome_topics::{
    FileRecord, GraphWeights, GroupIds, SegmentRecord, TopicMap, TurnRecord, quantize,
};

/// A stream of numbers without a pattern, the same in every run.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    fn vector(&mut self, length: f32) -> Vec<f32> {
        let raw: Vec<f32> = (0..256)
            .map(|_| {
                // The sum of some uniform numbers is close to normal.
                (0..4).map(|_| self.below(2_001) as f32 / 1_000.0 - 1.0).sum::<f32>()
            })
            .collect();
        let norm = raw.iter().map(|one| one * one).sum::<f32>().sqrt();
        raw.iter().map(|one| one / norm * length).collect()
    }
}

/// A kind of repository.
#[derive(Debug, Clone, Copy)]
struct Shape {
    name: &'static str,
    works: u64,
    /// Segments of a piece of work, at most; most have few.
    segments_max: u64,
    modules: u64,
    /// Percent of segments that also touch a file that all work touches.
    hub: u64,
    /// Percent of segments without a changed file.
    talk: u64,
    /// Percent of segments that also touch a file of another piece of work.
    mixed: u64,
}

const SHAPES: [Shape; 5] = [
    Shape { name: "small", works: 8, segments_max: 12, modules: 4, hub: 20, talk: 15, mixed: 10 },
    Shape { name: "usual", works: 40, segments_max: 30, modules: 12, hub: 25, talk: 20, mixed: 15 },
    Shape {
        name: "one file",
        works: 25,
        segments_max: 25,
        modules: 3,
        hub: 100,
        talk: 5,
        mixed: 30,
    },
    Shape {
        name: "long work",
        works: 12,
        segments_max: 120,
        modules: 8,
        hub: 25,
        talk: 20,
        mixed: 15,
    },
    Shape {
        name: "large",
        works: 150,
        segments_max: 60,
        modules: 25,
        hub: 15,
        talk: 20,
        mixed: 15,
    },
];

struct Repository {
    name: &'static str,
    segments: Vec<SegmentRecord>,
    /// The piece of work of each segment, by id.
    work: HashMap<String, u64>,
}

fn sum(parts: &[&[f32]]) -> Vec<f32> {
    (0..256).map(|i| parts.iter().map(|part| part[i]).sum()).collect()
}

fn generate(shape: Shape, seed: u64) -> Repository {
    let mut stream = Stream(seed.wrapping_mul(7_919) + 17);
    let project = stream.vector(0.55);
    let modules: Vec<Vec<f32>> = (0..shape.modules).map(|_| stream.vector(0.4)).collect();
    let mut segments = Vec::new();
    let mut work_of = HashMap::new();
    let mut number = 0;
    for work in 0..shape.works {
        let module = stream.below(shape.modules);
        let own = stream.vector(0.38);
        // Many small pieces of work, few large ones.
        let share = stream.below(1_000) * stream.below(1_000) / 1_000;
        let count = 2 + share * shape.segments_max / 1_000;
        let files = 2 + stream.below(6);
        let begin = stream.below(300);
        for step in 0..count {
            number += 1;
            let noise_length = 0.6 + stream.below(30) as f32 / 100.0;
            let noise = stream.vector(noise_length);
            let vector = sum(&[&project, &modules[usize::try_from(module).unwrap()], &own, &noise]);
            let mut paths = BTreeSet::new();
            if !stream.percent(shape.talk) {
                for _ in 0..1 + stream.below(3) {
                    paths.insert(format!("src/m{module}/w{work}_{}.rs", stream.below(files)));
                }
                if stream.percent(30) {
                    paths.insert(format!("src/m{module}/mod.rs"));
                }
            }
            if stream.percent(shape.hub) {
                paths.insert("src/app.rs".to_owned());
            }
            if stream.percent(shape.mixed) {
                let (other, file) = (stream.below(shape.works), stream.below(3));
                paths.insert(format!("src/m{}/w{other}_{file}.rs", other % shape.modules));
            }
            let day = begin + step / 3;
            let id = format!(
                "toc:segment:2026-{:02}-{:02}:{:026}",
                day / 28 % 12 + 1,
                day % 28 + 1,
                number
            );
            work_of.insert(id.clone(), work);
            segments.push(record(&id, number, &vector, &paths, (seed, work, step)));
        }
    }
    Repository { name: shape.name, segments, work: work_of }
}

fn record(
    id: &str,
    number: u64,
    vector: &[f32],
    paths: &BTreeSet<String>,
    (seed, work, step): (u64, u64, u64),
) -> SegmentRecord {
    let at = Millis(1_700_000_000_000 + number * 1_800_000);
    let files = paths.iter().map(|path| FileRecord {
        path: path.clone(),
        action: FileAction::Changed,
        times: 1,
        number,
    });
    SegmentRecord {
        id: NodeId::parse(id).unwrap(),
        session: SessionId::parse(&format!("s{seed}-{work}-{}", step / 2)).unwrap(),
        agent: Agent::parse("codex").unwrap(),
        first_at: at,
        last_at: at,
        number,
        title: format!("Work {work}"),
        branch: None,
        continues: None,
        turns: vec![TurnRecord { number, at, files: files.collect(), ..TurnRecord::default() }],
        facts: Vec::new(),
        terms: Vec::new(),
        vector: quantize(vector),
    }
}

/// True, found and common pairs.
#[derive(Debug, Clone, Copy, Default)]
struct Pairs {
    wanted: u64,
    found: u64,
    right: u64,
}

impl Pairs {
    fn count(work: &[Option<u64>], groups: &[usize]) -> Self {
        let mut pairs = Self::default();
        for a in 0..work.len() {
            for b in a + 1..work.len() {
                let (Some(own), Some(other)) = (work[a], work[b]) else { continue };
                let (is_wanted, is_found) = (own == other, groups[a] == groups[b]);
                pairs.wanted += u64::from(is_wanted);
                pairs.found += u64::from(is_found);
                pairs.right += u64::from(is_wanted && is_found);
            }
        }
        pairs
    }

    fn scores(self) -> (f64, f64, f64) {
        let precision = self.right as f64 / (self.found as f64).max(1.0);
        let recall = self.right as f64 / (self.wanted as f64).max(1.0);
        let f1 = 2.0 * precision * recall / (precision + recall).max(1e-9);
        (precision, recall, f1)
    }
}

/// A way to group segments: a group per segment, in their order.
type Method = dyn Fn(&[SegmentRecord], usize) -> Vec<usize>;

fn topic_groups(segments: &[SegmentRecord], weights: &GraphWeights) -> Vec<usize> {
    let map = TopicMap::build_with(segments.to_vec(), &GroupIds::default(), weights);
    let mut group_of: HashMap<String, usize> = HashMap::new();
    for (index, members) in map.group_ids().groups.clone().into_values().enumerate() {
        group_of.extend(members.into_iter().map(|id| (id, index)));
    }
    let alone = group_of.len();
    segments
        .iter()
        .enumerate()
        .map(|(index, one)| group_of.get(one.id.as_str()).copied().unwrap_or(alone + index))
        .collect()
}

fn same_top_file(segments: &[SegmentRecord]) -> Vec<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let paths = |one: &'_ SegmentRecord| -> Vec<String> {
        one.changed_files().map(|file| file.path.clone()).collect()
    };
    let all: Vec<Vec<String>> = segments.iter().map(paths).collect();
    for path in all.iter().flatten() {
        *counts.entry(path).or_insert(0) += 1;
    }
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    let alone = segments.len();
    all.iter()
        .enumerate()
        .map(|(index, paths)| {
            let top = paths.iter().max_by_key(|path| (counts[path.as_str()], path.as_str()));
            let Some(top) = top else { return alone + index };
            let next = groups.len();
            *groups.entry(top.as_str()).or_insert(next)
        })
        .collect()
}

fn similarity(a: &[i8], b: &[i8]) -> f64 {
    let dot = |a: &[i8], b: &[i8]| -> i64 {
        a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b)).sum()
    };
    let norm = (dot(a, a) as f64 * dot(b, b) as f64).sqrt();
    if norm <= 0.0 { 0.0 } else { dot(a, b) as f64 / norm }
}

/// k-means over the vectors, given the true number of pieces of work.
fn k_means(segments: &[SegmentRecord], count: usize) -> Vec<usize> {
    let points: Vec<Vec<f64>> = segments
        .iter()
        .map(|one| {
            let raw: Vec<f64> = one.vector.iter().map(|value| f64::from(*value)).collect();
            let norm = raw.iter().map(|value| value * value).sum::<f64>().sqrt().max(1e-9);
            raw.iter().map(|value| value / norm).collect()
        })
        .collect();
    let width = points.iter().map(Vec::len).max().unwrap_or(0);
    let step = (points.len() / count.max(1)).max(1);
    let mut centers: Vec<Vec<f64>> = points.iter().step_by(step).take(count).cloned().collect();
    let mut groups = vec![0; points.len()];
    for _ in 0..15 {
        for (group, point) in groups.iter_mut().zip(&points) {
            let similarity = |center: &Vec<f64>| -> f64 {
                point.iter().zip(center).map(|(a, b)| a * b).sum::<f64>()
            };
            let best = centers
                .iter()
                .enumerate()
                .max_by(|a, b| similarity(a.1).total_cmp(&similarity(b.1)));
            *group = best.map_or(0, |(at, _)| at);
        }
        for (at, center) in centers.iter_mut().enumerate() {
            let mut next = vec![0.0; width];
            for (_, point) in groups.iter().zip(&points).filter(|(group, _)| **group == at) {
                next.iter_mut().zip(point).for_each(|(sum, value)| *sum += value);
            }
            let norm = next.iter().map(|value| value * value).sum::<f64>().sqrt();
            if norm > 0.0 {
                *center = next.iter().map(|value| value / norm).collect();
            }
        }
    }
    groups
}

/// Connected components: alike by more than two deviations above the mean, or a file in common.
fn components(segments: &[SegmentRecord]) -> Vec<usize> {
    let count = segments.len();
    let mut all = Vec::new();
    for a in 0..count {
        for b in a + 1..count {
            all.push(similarity(&segments[a].vector, &segments[b].vector));
        }
    }
    let mean = all.iter().sum::<f64>() / (all.len() as f64).max(1.0);
    let variance =
        all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (all.len() as f64).max(1.0);
    let least = mean + 2.0 * variance.sqrt();
    let paths: Vec<BTreeSet<&str>> = segments
        .iter()
        .map(|one| one.changed_files().map(|file| file.path.as_str()).collect())
        .collect();
    let mut parent: Vec<usize> = (0..count).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    let mut pair = 0;
    for a in 0..count {
        for b in a + 1..count {
            if all[pair] >= least || !paths[a].is_disjoint(&paths[b]) {
                let (a, b) = (root(&mut parent, a), root(&mut parent, b));
                parent[a] = b;
            }
            pair += 1;
        }
    }
    (0..count).map(|at| root(&mut parent, at)).collect()
}

/// Mean F1 over repositories, with mean precision and recall.
fn mean_scores(repositories: &[Repository], method: &Method) -> (f64, f64, f64) {
    let mut sums = (0.0, 0.0, 0.0);
    for one in repositories {
        let work: Vec<Option<u64>> =
            one.segments.iter().map(|segment| one.work.get(segment.id.as_str()).copied()).collect();
        let works: BTreeSet<u64> = work.iter().flatten().copied().collect();
        let (p, r, f) = Pairs::count(&work, &method(&one.segments, works.len())).scores();
        sums = (sums.0 + p, sums.1 + r, sums.2 + f);
    }
    let count = (repositories.len() as f64).max(1.0);
    (sums.0 / count, sums.1 / count, sums.2 / count)
}

fn compare(title: &str, repositories: &[Repository]) {
    let topics = |segments: &[SegmentRecord], _| topic_groups(segments, &GraphWeights::default());
    let file = |segments: &[SegmentRecord], _| same_top_file(segments);
    let linked = |segments: &[SegmentRecord], _| components(segments);
    let methods: [(&str, &Method); 4] = [
        ("topics", &topics),
        ("same top file", &file),
        ("k-means", &k_means),
        ("connected components", &linked),
    ];
    let segments: usize = repositories.iter().map(|one| one.segments.len()).sum();
    println!("{title}: {} repositories, {segments} segments", repositories.len());
    for (name, method) in methods {
        let (precision, recall, f1) = mean_scores(repositories, method);
        println!("  {name:<22} precision {precision:.2}  recall {recall:.2}  F1 {f1:.2}");
    }
}

/// Compares weights on the repositories that the report does not use.
fn tune() {
    let repositories: Vec<Repository> = SHAPES
        .iter()
        .flat_map(|shape| (0..6).step_by(2).map(|seed| generate(*shape, seed)))
        .collect();
    let mut results = Vec::new();
    for resolution in [15, 25, 40, 60, 90, 150] {
        for neighbors in [8, 12, 20] {
            for file in [150, 350, 600] {
                let weights =
                    GraphWeights { resolution, neighbors, file, ..GraphWeights::default() };
                let method = move |segments: &[SegmentRecord], _| topic_groups(segments, &weights);
                let (precision, recall, f1) = mean_scores(&repositories, &method);
                results.push((f1, precision, recall, weights));
            }
        }
    }
    results.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (f1, precision, recall, weights) in results.iter().take(14) {
        println!("F1 {f1:.3}  precision {precision:.3}  recall {recall:.3}  {weights:?}");
    }
}

/// Recorded segments with a branch, which is hidden from the grouping.
fn read_recorded(path: &str) -> Vec<Repository> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut projects: BTreeMap<String, BTreeMap<String, SegmentRecord>> = BTreeMap::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(put) = line.get("put") else { continue };
        let record: SegmentRecord = serde_json::from_value(put["record"].clone()).unwrap();
        let project = put["project"].as_str().unwrap().to_owned();
        projects.entry(project).or_default().insert(record.id.as_str().to_owned(), record);
    }
    let hide = |records: BTreeMap<String, SegmentRecord>| {
        let mut names: BTreeMap<String, u64> = BTreeMap::new();
        let mut repository =
            Repository { name: "recorded", segments: Vec::new(), work: HashMap::new() };
        for (id, mut record) in records {
            let issue = record.turns.iter().flat_map(|turn| turn.issues.clone()).next();
            let issue = issue.map(|number| format!("#{number}"));
            if let Some(name) = record.branch.take().or(issue) {
                let next = names.len() as u64;
                repository.work.insert(id, *names.entry(name).or_insert(next));
            }
            record.turns.iter_mut().for_each(|turn| turn.issues.clear());
            repository.segments.push(record);
        }
        repository
    };
    projects.into_values().map(hide).filter(|one| one.work.len() > 1).collect()
}

fn main() {
    if let Ok(path) = std::env::var("TOME_BENCH_SEGMENTS") {
        compare("recorded work", &read_recorded(&path));
        return;
    }
    if std::env::var("TOME_BENCH_TUNE").is_ok() {
        return tune();
    }
    for shape in SHAPES {
        let repositories: Vec<Repository> =
            (1..6).step_by(2).map(|seed| generate(shape, seed)).collect();
        compare(repositories.first().map_or("", |one| one.name), &repositories);
    }
}
