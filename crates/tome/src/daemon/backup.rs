//! The gRPC service for backups.

use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tome_engine::backup::{BackupError, BlockReader, RestoreCounts, Restorer};
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

type ResponseStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Backup for BackupService {
    type WriteBackupStream = ResponseStream<v1::BackupBlock>;
    type RestoreBackupStream = ResponseStream<v1::RestoreProgress>;

    async fn write_backup(
        &self,
        request: Request<v1::WriteBackupRequest>,
    ) -> Result<Response<Self::WriteBackupStream>, Status> {
        let config = Some(request.into_inner().config).filter(|text| !text.is_empty());
        let (to_client, blocks) = mpsc::channel(BLOCKS_WAITING_MAX);
        let daemon = Arc::clone(&self.0);
        tokio::spawn(async move {
            let (busy, blocks) = (daemon.activity.begin(), to_client.clone());
            let written = daemon.run_blocking(CallKind::Ledger, move |daemon| {
                drain(daemon);
                let mut send = |block: Vec<u8>| {
                    let sent = blocks.blocking_send(Ok(v1::BackupBlock { block }));
                    sent.map_err(|_| BackupError::Interrupted)
                };
                let version = env!("CARGO_PKG_VERSION");
                daemon.engine.write_backup(version, config.as_deref(), &mut send)
            });
            let failed = match written.await {
                Ok(Ok(_)) => None,
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
        let (_, records) = reader.next_block()?.ok_or(BackupError::NotABackup)?;
        let (counts, roots) = restorer.apply(&daemon.engine, records)?;
        daemon.scheduler.events_stored(roots.into_iter().collect());
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
