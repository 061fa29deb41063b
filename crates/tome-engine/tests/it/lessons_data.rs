//! Lessons as agents write them, and questions about them.

/// A lesson, a question in its own words, and one in other words.
pub struct KnownLesson {
    pub kind: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub content: &'static str,
    pub tags: &'static [&'static str],
    pub same_words: &'static str,
    pub other_words: &'static str,
}

const fn lesson(
    kind: &'static str,
    [title, description, content]: [&'static str; 3],
    tags: &'static [&'static str],
    [same_words, other_words]: [&'static str; 2],
) -> KnownLesson {
    KnownLesson { kind, title, description, content, tags, same_words, other_words }
}

pub const LESSONS: &[KnownLesson] = &[
    lesson(
        "semantic",
        [
            "Hold no mutex across an await",
            "A guard that lives across a suspension point stalls the whole runtime.",
            "The worker thread parks while the guard is still held. Every other task that needs the mutex then waits for a task that cannot run. Drop the guard before the await, or use the lock of the runtime.",
        ],
        &["rust", "async", "failure"],
        [
            "Why must no mutex guard be held across an await?",
            "async program freezes because a lock is kept while suspended",
        ],
    ),
    lesson(
        "procedural",
        [
            "Bisect a flaky test by its seed",
            "Fix the random seed first and only then change code.",
            "Print the seed at every run and rerun with the one that failed. Keep the seed fixed until the failure is understood. Only then change the code and try many seeds again.",
        ],
        &["testing", "success"],
        [
            "How do I bisect a flaky test with a seed?",
            "a unit check passes sometimes and breaks at random, how do I reproduce it?",
        ],
    ),
    lesson(
        "episodic",
        [
            "Deploy failed because old logs filled the disk",
            "The image could not be unpacked on a full disk.",
            "The rollout stopped half way with a message about layers. Old logs without rotation had taken the whole volume. Rotating them daily and an alert at eighty percent ended it.",
        ],
        &["deploy", "ops", "failure"],
        [
            "What happened when the deploy failed on a full disk?",
            "the release to production broke since the server ran out of space",
        ],
    ),
    lesson(
        "semantic",
        [
            "Escape output rather than input",
            "The right escaping depends on where a text ends up.",
            "Escaping at the input corrupts the stored value. The same value goes into HTML, a shell and a query, each with other rules. Escape at the moment of output, for that output.",
        ],
        &["security", "web", "success"],
        [
            "Should I escape at the output or the input?",
            "where to sanitize user supplied strings against cross-site scripting",
        ],
    ),
    lesson(
        "procedural",
        [
            "Add a column to a large table without downtime",
            "Add it nullable, backfill in batches, then set the constraint.",
            "Add the column as nullable without a default. Fill the old rows in batches of a few thousand with a pause between them. Set the constraint as not valid first and validate it afterwards.",
        ],
        &["postgres", "migration", "success"],
        [
            "How do I add a column to a large postgres table without downtime?",
            "schema change on a huge relation while users keep working",
        ],
    ),
    lesson(
        "episodic",
        [
            "Retries turned a short outage into a long one",
            "Clients without backoff kept the service down.",
            "The service was back after two minutes but every client retried at once. The load of the retries kept it down for an hour. Exponential backoff with jitter and a retry budget solved it.",
        ],
        &["reliability", "failure"],
        [
            "Did retries without backoff make an outage longer before?",
            "what went wrong when everybody reconnected simultaneously after the crash",
        ],
    ),
    lesson(
        "semantic",
        [
            "Take the clock as an argument",
            "Code that reads the wall clock cannot be tested at midnight.",
            "A function that asks for the current time behaves differently on every run. Hand the time in as a value. Tests then choose the hour that they need.",
        ],
        &["testing", "design", "success"],
        [
            "Why should the clock be an argument?",
            "making date dependent functions deterministic for unit tests",
        ],
    ),
    lesson(
        "procedural",
        [
            "Find a memory leak with two heap snapshots",
            "Compare what grew between two snapshots under the same load.",
            "Warm the process up and take a snapshot of the heap. Run the same load ten more times and take another one. Look only at the types whose count grew by a multiple of ten.",
        ],
        &["performance", "node", "success"],
        [
            "How do I find a memory leak with heap snapshots?",
            "RSS of the server keeps rising, which steps show who allocates?",
        ],
    ),
    lesson(
        "semantic",
        [
            "Cache invalidation needs an owner",
            "Whoever writes the data invalidates its cache.",
            "Readers that invalidate by time show stale data for a while. Two writers that both invalidate race with each other. One module owns the data and the key, and nobody else touches either.",
        ],
        &["caching", "design", "success"],
        ["Who is the owner of cache invalidation?", "stale values are displayed after an update"],
    ),
    lesson(
        "episodic",
        [
            "An index was missing on the foreign key",
            "Deleting a customer took minutes.",
            "Every delete scanned the orders table because the foreign key had no index. The plan showed a sequential scan. Creating the index concurrently brought it to milliseconds.",
        ],
        &["postgres", "performance", "failure"],
        [
            "Have we seen a slow delete from a missing index on a foreign key?",
            "removing one account in the database takes forever",
        ],
    ),
    lesson(
        "procedural",
        [
            "Rotate a credential without an outage",
            "Accept both, switch the clients, then revoke the old one.",
            "Issue the new credential and let the server accept both. Move the clients one by one and watch which of the two is used. Revoke the old one after a day without use.",
        ],
        &["security", "ops", "success"],
        [
            "What are the steps to rotate a credential without an outage?",
            "replace an API key safely while services are live",
        ],
    ),
    lesson(
        "semantic",
        [
            "Prefer many small pull requests",
            "Review quality falls with the size of a change.",
            "Reviewers read the first two hundred lines and skim the rest. A large change hides its one risky line. Split by behaviour and put the refactoring first.",
        ],
        &["review", "process", "success"],
        [
            "Why prefer small pull requests?",
            "how big should a change be so that colleagues notice mistakes in it?",
        ],
    ),
    lesson(
        "episodic",
        [
            "The daylight saving switch ran the job twice",
            "A nightly job at half past two ran twice in October.",
            "The scheduler used local time. The hour between two and three came twice and invoices were sent twice. Schedules are in UTC since then and jobs are idempotent.",
        ],
        &["time", "jobs", "failure"],
        [
            "What happened at the daylight saving switch to the nightly job?",
            "customers were billed two times when the hour changed in autumn",
        ],
    ),
    lesson(
        "procedural",
        [
            "Profile before optimizing a parser",
            "Measure allocations first, since they usually dominate.",
            "Record a profile with real files and sort by allocation. Borrow slices from the input where they live long enough. Measure again after each single change.",
        ],
        &["performance", "parser", "success"],
        [
            "How should I profile a parser before optimizing?",
            "speeding up code that reads text files into a syntax tree",
        ],
    ),
    lesson(
        "semantic",
        [
            "Bound every queue",
            "An unbounded queue turns slowness into a crash.",
            "A reader that is slower than its writer fills any queue. Without a bound the process dies of memory later and elsewhere. With a bound the writer slows down, which is visible and safe.",
        ],
        &["reliability", "design", "success"],
        [
            "Why must every queue have a bound?",
            "backpressure between a fast producer and a slow consumer",
        ],
    ),
    lesson(
        "procedural",
        [
            "Undo a bad git rebase with the reflog",
            "The commits are still there; reset to the entry before the rebase.",
            "Run git reflog and find the entry before the rebase began. Create a branch there before anything else. Reset the original branch to it once the content is checked.",
        ],
        &["git", "success"],
        [
            "How do I undo a bad git rebase with the reflog?",
            "I lost commits after rewriting history, can I restore them?",
        ],
    ),
    lesson(
        "episodic",
        [
            "A floating base image broke the build",
            "The tag latest moved to another libc over night.",
            "The build failed in the morning without any change of ours. The base image behind the tag had a newer libc. Pinning the digest and updating it by a bot fixed it for good.",
        ],
        &["docker", "ci", "failure"],
        [
            "Has a floating base image tag broken the build?",
            "CI is red today although nobody committed anything to the Dockerfile",
        ],
    ),
    lesson(
        "semantic",
        [
            "Feature flags need an expiry date",
            "A flag that stays doubles the states that must be tested.",
            "Every flag that is never removed doubles the number of combinations. After a year nobody knows which are live. Give each flag an owner and a date on which the build fails.",
        ],
        &["process", "design", "success"],
        [
            "Should feature flags have an expiry date?",
            "cleaning up toggles that nobody dares to delete",
        ],
    ),
    lesson(
        "procedural",
        [
            "Debug a CORS error from the preflight",
            "Look at the OPTIONS response before touching the client.",
            "Repeat the preflight with curl and print the response headers. Check that the origin is echoed and that the method is allowed. Credentials forbid the wildcard origin.",
        ],
        &["web", "http", "success"],
        [
            "How do I debug a CORS preflight error?",
            "browser refuses the request to our backend on another domain",
        ],
    ),
    lesson(
        "episodic",
        [
            "The money was rounded in floating point",
            "Cents were lost in sums of many invoices.",
            "Totals differed by a cent between the report and the bank. Prices had been kept as floating point numbers. Integers of the smallest unit removed the difference.",
        ],
        &["finance", "failure"],
        [
            "What went wrong when money was kept in floating point?",
            "sums of prices are off by one penny",
        ],
    ),
    lesson(
        "semantic",
        [
            "Make handlers idempotent before adding retries",
            "A message is delivered at least once, so handle it twice without harm.",
            "Queues deliver at least once and networks lose the answer, not the request. Store the id of a handled message in the same transaction. Then a second delivery changes nothing.",
        ],
        &["messaging", "design", "success"],
        [
            "Why should handlers be idempotent?",
            "duplicate deliveries from the broker create the same order again",
        ],
    ),
    lesson(
        "procedural",
        [
            "Shrink a container image in three steps",
            "Build in one stage, copy the binary, drop the package cache.",
            "Compile in a first stage and copy only the artifact into the second. Delete the package cache in the same layer that filled it. Check the layers with a tool before pushing.",
        ],
        &["docker", "success"],
        [
            "What are the steps to shrink a container image?",
            "our Docker artifacts are too heavy to download",
        ],
    ),
    lesson(
        "episodic",
        [
            "A regex with nested quantifiers hung the server",
            "One long line took a core for minutes.",
            "A user pasted a long line of equal characters into the search. The pattern with a nested quantifier backtracked exponentially. An engine with linear time replaced it.",
        ],
        &["security", "performance", "failure"],
        [
            "Have we had a regex with nested quantifiers that hung?",
            "pattern matching used all CPU on a malicious input",
        ],
    ),
    lesson(
        "semantic",
        [
            "Log the decision, not the progress",
            "A log line should say why something was chosen.",
            "Lines that say that a function began help nobody a week later. Write the input and the branch that was taken. One line per decision is enough to follow a request.",
        ],
        &["logging", "observability", "success"],
        [
            "What should a log line say about a decision?",
            "our traces are noisy and useless when investigating an incident",
        ],
    ),
    lesson(
        "procedural",
        [
            "Upgrade a framework one major version at a time",
            "Fix all deprecation warnings before each step.",
            "Upgrade to the last minor version and fix its deprecation warnings. Take exactly one major version and run everything. Commit before the next one.",
        ],
        &["dependencies", "success"],
        [
            "How do I upgrade a framework across major versions?",
            "moving an old Rails application to the newest release",
        ],
    ),
    lesson(
        "semantic",
        [
            "Sort keys before hashing JSON",
            "Equal documents must have equal bytes before they are hashed.",
            "Maps have no order and serializers differ in spaces and in numbers. Sort the keys and fix the number format first. Better still, hash the fields that matter in a fixed order.",
        ],
        &["hashing", "success"],
        [
            "Why sort the keys before hashing JSON?",
            "checksums of the same object differ between two machines",
        ],
    ),
    lesson(
        "episodic",
        [
            "The connection pool was exhausted by slow transactions",
            "Requests waited for a connection, not for the database.",
            "Latency rose although the database was idle. Transactions stayed open during calls to another service. Moving those calls out of the transaction freed the pool.",
        ],
        &["database", "performance", "failure"],
        [
            "What happened when the connection pool was exhausted?",
            "timeouts while acquiring a database handle although the DB does nothing",
        ],
    ),
    lesson(
        "procedural",
        [
            "避免数据库死锁",
            "按固定顺序加锁，事务要短。",
            "两个事务互相等待对方的锁。所有代码都按同样的顺序加锁。事务里不要调用外部服务。",
        ],
        &["数据库", "success"],
        ["如何避免数据库死锁?", "两个事务互相阻塞怎么办?"],
    ),
];

/// Questions that no lesson answers: near ones on software, and far ones.
pub const UNRELATED: &[&str] = &[
    "Which kubernetes ingress terminates websocket connections?",
    "How do I center a div with flexbox?",
    "What is the best way to name a git branch?",
    "How do I set up two factor authentication for npm?",
    "Why does the TypeScript compiler complain about implicit any?",
    "best recipe for pancakes with maple syrup",
    "The quarterly marketing newsletter campaign",
    "What about elephants?",
    "How do I draw a bar chart in matplotlib?",
    "Have we tried GraphQL subscriptions?",
    "What is it?",
    "translate the user interface to Portuguese",
    "How do I configure vim for Python?",
    "rename the package and publish it to PyPI",
    "Why is the sky blue?",
    "steps to configure DKIM for outgoing mail",
    "What happened at the board meeting?",
    "How do I parse command line flags in Go?",
    "choose between Svelte and Vue for the dashboard",
    "add dark mode to the settings page",
    "кубернетес настройка",
    "日本の首都",
    "Which license fits a small open source library?",
    "How do I record a screencast on Linux?",
    "resize images in the browser before upload",
    "write a changelog for the new version",
    "Why does my laptop fan spin so loudly?",
    "How do I train a neural network on two GPUs?",
];

/// Plans of agents, with the title of the lesson that applies, if one does.
pub const PLANS: &[(&str, Option<&str>)] = &[
    (
        "Read the schema of the orders table\nWrite a migration that adds the column status\nBackfill the existing rows\nUpdate the model\nAdd tests\nRun the suite",
        Some("Add a column to a large table without downtime"),
    ),
    (
        "Reproduce the flaky test locally\nFind the random seed that fails\nFix the race\nRun the test a hundred times\nRemove the skip annotation\nOpen a pull request",
        Some("Bisect a flaky test by its seed"),
    ),
    (
        "Write a multi stage Dockerfile\nCopy the binary into a slim image\nRemove the package cache\nMeasure the image size\nPush to the registry\nUpdate the deployment",
        Some("Shrink a container image in three steps"),
    ),
    (
        "Create a new API key for the payment provider\nAccept the old and the new credential\nSwitch the workers\nSwitch the web servers\nRevoke the old credential\nUpdate the runbook",
        Some("Rotate a credential without an outage"),
    ),
    (
        "Add a sidebar component\nWire the router\nWrite styles for mobile\nTranslate the labels\nAdd a story\nAsk the designer for feedback",
        None,
    ),
    (
        "Collect the user interviews\nSummarize the themes\nDraft the survey\nSend it to the mailing list\nEvaluate the answers\nPresent the results",
        None,
    ),
];
