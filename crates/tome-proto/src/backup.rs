//! Client calls of the Backup service.

use tonic::Streaming;

use crate::client::{AuthorizedChannel, Client};
use crate::v1::backup_client::BackupClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Opens the stream of a backup's blocks.
    pub async fn write_backup(
        &self,
        request: v1::WriteBackupRequest,
    ) -> Result<Streaming<v1::BackupBlock>, ClientError> {
        Ok(self.backup_client().write_backup(request).await?.into_inner())
    }

    /// Opens a restore: blocks go in, the outcome so far comes out after each, in order.
    pub async fn restore_backup(
        &self,
        blocks: impl tonic::IntoStreamingRequest<Message = v1::BackupBlock>,
    ) -> Result<Streaming<v1::RestoreProgress>, ClientError> {
        Ok(self.backup_client().restore_backup(blocks).await?.into_inner())
    }

    fn backup_client(&self) -> BackupClient<AuthorizedChannel> {
        BackupClient::new(self.wire.clone())
            .max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
            .max_encoding_message_size(limits::MESSAGE_BYTES_MAX)
    }
}
