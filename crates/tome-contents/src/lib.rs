//! The table of contents: years, months, weeks, days and segments, built from events, each bullet
//! backed by verbatim excerpts (grips).

mod build_periods;
mod catch_up;
mod contents;
mod event_text;
mod evidence;
mod expand;
mod extract;
mod instruction_replacement;
mod instructions;
mod later_change;
mod limits;
mod model_summary;
mod pending_changes;
mod rebuild;
mod rejection;
mod resegment;
mod rewrite;
mod segment;
mod segment_activity;
mod service_error;
mod session_list;
mod session_page;
mod settings;
mod summarizer;
mod time_phrase;
mod verify;

pub use catch_up::{ContentsCatchUpReport, catch_up_contents, rebuild_contents};
pub use contents::{
    BulletEvidence, Contents, ContentsEntry, ContentsListing, ContentsQuery, Depth, LocatedNode,
    PageRequest, ProjectShare, StoreRebuildResult, StoreReport, StoreVerifyResult, list_span,
};
pub use event_text::{event_texts, tool_input_texts};
pub use evidence::EXTRACTIVE;
pub use expand::ExpandedGrip;
pub use extract::{
    ClaimDistance, CommitMessage, Contradiction, Correction, Extractive, FileChange, FileTool,
    PATH_FIELDS, PromptReply, StatedClaims, ToolCallSummary, ToolOutcome, cut_turns,
    describe_prompt, ends_with_announcement, find_answer, find_correction, find_work_outcome,
    find_work_title, is_narration, is_order, is_prompt, is_task_list_tool, list_commits,
    list_edited_files, looks_pasted, names_whole_work, prompt_text, read_tool_call, shorten_path,
    skip_acknowledgment, stands_alone, states_cause, strip_own_request, strip_request,
    tool_base_name,
};
pub use instructions::{
    INSTRUCTIONS_PROJECTION, Instruction, Instructions, ListedInstruction, find_concerned,
    rank_instructions,
};
pub use later_change::LaterChange;
pub use model_summary::ModelSummarizer;
pub use pending_changes::CONTENTS_PROJECTION;
pub use rebuild::ContentsRebuildReport;
pub use rejection::{authored_kind, find_rejection_words};
pub use rewrite::{
    NodeSource, ProjectNode, RewriteOutcome, RewritePage, list_nodes_to_rewrite, load_source,
    rewrite_summary,
};
pub use segment::{EventSegment, EventWeight, cut_segments, weigh_event};
pub use segment_activity::{
    ActivityFact, CommandActivity, DeletionActivity, FileActivity, MoveActivity, SegmentActivity,
    TurnActivity, load_activity,
};
pub use service_error::{is_service_error, is_service_error_text};
pub use session_list::{SessionFact, SessionList, SessionListing, SessionQuery};
pub use session_page::{SessionPage, SessionTurn};
pub use settings::ContentsSettings;
pub use summarizer::{
    Evidence, RollupInput, SegmentInput, Summarizer, Summary, SummaryBullet, SummaryError,
    SummaryFact, SummaryWork, Support,
};
pub use time_phrase::{TimeSpan, find_time_phrase, parse_time_phrase, parse_time_start};
pub use verify::{ContentsVerifyReport, verify_contents};
