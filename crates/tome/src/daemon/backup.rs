//! The gRPC service for backups.

use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tome_engine::backup::{
    BackupError, BlockReader, LedgerMark, PartialBackup, RestoreCounts, Restorer,
};
use tome_proto::v1;
use tome_proto::v1::backup_server::Backup;
use tonic::{Request, Response, Status, Streaming};

use super::calls::CallKind;
use super::drain::drain;
use super::grpc_status::status_of;
use super::state::Daemon;

/// Blocks that wait for the client.
const BLOCKS_WAITING_MAX: usize = 4;

pub struct BackupService(pub Arc<Daemon>);

type GrpcStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Backup for BackupService {
    type WriteBackupStream = GrpcStream<v1::BackupBlock>;
    type RestoreBackupStream = GrpcStream<v1::RestoreProgress>;

    async fn write_backup(
        &self,
        request: Request<v1::WriteBackupRequest>,
    ) -> Result<Response<Self::WriteBackupStream>, Status> {
        let request = request.into_inner();
        let (to_client, blocks) = mpsc::channel(BLOCKS_WAITING_MAX);
        let daemon = Arc::clone(&self.0);
        tokio::spawn(async move {
            let (busy, blocks) = (daemon.activity.begin(), to_client.clone());
            let written = daemon.run_blocking(CallKind::Ledger, move |daemon| {
                drain(daemon);
                write_blocks(daemon, request, &blocks)
            });
            let failed = match written.await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(backup_status(&error)),
                Err(status) => Some(status),
            };
            drop(busy);
            if let Some(status) = failed {
                // The receiver is gone if the client has given up.
                let _ = to_client.send(Err(status)).await;
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(blocks))))
    }

    async fn restore_backup(
        &self,
        request: Request<Streaming<v1::BackupBlock>>,
    ) -> Result<Response<Self::RestoreBackupStream>, Status> {
        let daemon = Arc::clone(&self.0);
        let begun = daemon.run_blocking(CallKind::Ledger, |daemon| {
            drain(daemon);
            Restorer::begin(&daemon.engine)
        });
        let restorer = begun.await?.map_err(|error| backup_status(&error))?;
        let (to_client, progress) = mpsc::channel(BLOCKS_WAITING_MAX);
        tokio::spawn(async move {
            let _busy = daemon.activity.begin();
            let mut blocks = request.into_inner();
            let mut state = (restorer, BlockReader::new(Cursor::new(Vec::new())));
            while let Some(block) = blocks.next().await {
                let applied = match block {
                    Ok(block) => apply_block(&daemon, state, block.block).await,
                    Err(status) => Err(status),
                };
                let progress = match applied {
                    Ok((next, counts)) => {
                        state = next;
                        Ok(progress_to_wire(counts))
                    }
                    Err(status) => {
                        let _ = to_client.send(Err(status)).await;
                        return;
                    }
                };
                if to_client.send(progress).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(progress))))
    }
}

type BlockSender = mpsc::Sender<Result<v1::BackupBlock, Status>>;

/// Sends the blocks that follow the client's partial backup; all blocks if it has none or it cannot be
/// continued.
fn write_blocks(
    daemon: &Daemon,
    request: v1::WriteBackupRequest,
    blocks: &BlockSender,
) -> Result<(), BackupError> {
    let version = env!("CARGO_PKG_VERSION");
    let config = Some(request.config.as_str()).filter(|text| !text.is_empty());
    let send = |block: Vec<u8>, started_over: String| {
        let sent = blocks.blocking_send(Ok(v1::BackupBlock { block, started_over }));
        sent.map_err(|_| BackupError::Interrupted)
    };
    let mut started_over = String::new();
    if let Some(partial) = request.partial.map(partial_from_wire) {
        let mut out = |block| send(block, String::new());
        match daemon.engine.continue_backup(version, config, &partial, &mut out) {
            Err(BackupError::CannotContinue(reason)) => reason.clone_into(&mut started_over),
            written => return written.map(drop),
        }
    }
    let mut out = |block| send(block, std::mem::take(&mut started_over));
    daemon.engine.write_backup(version, config, &mut out).map(drop)
}

fn partial_from_wire(partial: v1::PartialBackup) -> PartialBackup {
    let mark = |it: v1::LedgerMark| LedgerMark { ledger: it.ledger, seq: it.seq, sum: it.sum };
    let projects =
        partial.projects.iter().map(|text| serde_json::from_str(text).unwrap_or_default());
    PartialBackup {
        blocks: partial.blocks,
        last_sum: partial.last_sum,
        version: partial.version,
        config: partial.config,
        projects: projects.collect(),
        events: partial.events,
        ledgers: partial.ledgers.into_iter().map(mark).collect(),
        ..PartialBackup::default()
    }
}

/// A restore, and the reader that checks that its blocks follow each other.
type RestoreState = (Restorer, BlockReader<Cursor<Vec<u8>>>);

fn progress_to_wire(counts: RestoreCounts) -> v1::RestoreProgress {
    v1::RestoreProgress {
        events: counts.events,
        duplicates: counts.duplicates,
        projects: counts.projects,
        notes: counts.notes,
        notes_beside: counts.notes_beside,
        files: counts.files,
        spooled: counts.spooled,
        notes_known: counts.notes_known,
        files_known: counts.files_known,
        versions: counts.versions,
    }
}

async fn apply_block(
    daemon: &Arc<Daemon>,
    state: RestoreState,
    block: Vec<u8>,
) -> Result<(RestoreState, RestoreCounts), Status> {
    let applied = daemon.run_blocking(CallKind::Ledger, move |daemon| {
        let (mut restorer, mut reader) = state;
        reader.feed(block);
        let block = reader.next_block()?.ok_or(BackupError::NotABackup)?;
        let (counts, roots) = restorer.apply(&daemon.engine, block.records)?;
        daemon.scheduler.schedule_projects(roots.into_iter().collect());
        Ok::<_, BackupError>(((restorer, reader), counts))
    });
    applied.await?.map_err(|error| backup_status(&error))
}

fn backup_status(error: &BackupError) -> Status {
    match error {
        BackupError::Home(error) => status_of(error),
        BackupError::Busy => Status::failed_precondition(error.to_string()),
        error if error.is_bad_file() => Status::invalid_argument(error.to_string()),
        error => Status::internal(error.to_string()),
    }
}
