//! The command line of `tome doctor`.

use clap::Args;

/// `tome doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Also compare the agents' transcripts with the stores and list missing events
    #[arg(long)]
    pub deep: bool,
}
