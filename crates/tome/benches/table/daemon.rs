//! Runs the shipped daemon in a test world, and connects clients to it.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::net::UnixStream;
use tome_proto::Client;
use tome_testkit::World;

/// A daemon that has not answered by then has failed.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A running daemon; killed on drop.
pub struct BenchDaemon {
    child: Child,
    /// From its start to its first response.
    pub started_in: Duration,
}

impl BenchDaemon {
    /// Starts the daemon and waits for its first response.
    pub async fn start(world: &World) -> Result<(Self, Client)> {
        Self::start_with(world, &[]).await
    }

    pub async fn start_with(world: &World, settings: &[(&str, &str)]) -> Result<(Self, Client)> {
        let errors = world.path().join("daemon.err");
        let mut command = world.command(&["daemon"]);
        command.envs(settings.iter().copied()).env("TOME_DAEMON_IDLE_EXIT", "10m");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(std::fs::File::create(&errors)?);
        let start = Instant::now();
        let child = command.spawn().context("cannot run tome daemon")?;
        let mut daemon = Self { child, started_in: Duration::ZERO };
        let client = loop {
            if let Ok(client) = connect(world).await
                && client.get_status(false).await.is_ok()
            {
                break client;
            }
            if start.elapsed() > START_TIMEOUT || daemon.child.try_wait()?.is_some() {
                let message = std::fs::read_to_string(errors).unwrap_or_default();
                bail!("the daemon did not start: {}", message.trim());
            }
            tokio::time::sleep(Duration::from_micros(500)).await;
        };
        daemon.started_in = start.elapsed();
        Ok((daemon, client))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Shuts the daemon down and waits for its exit.
    pub async fn stop(mut self, client: Client) -> Result<()> {
        client.shutdown().await?;
        drop(client);
        let status = wait_for_exit(&mut self.child).await?;
        if !status.success() {
            bail!("the daemon ended with {status}");
        }
        Ok(())
    }

    /// Kills the daemon, as in a crash.
    pub fn kill(self) {
        drop(self);
    }
}

impl Drop for BenchDaemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn wait_for_exit(child: &mut Child) -> Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Opens a separate connection to the daemon.
pub async fn connect(world: &World) -> Result<Client> {
    let path = world.home().join("run/tome.sock");
    Ok(Client::connect(move || UnixStream::connect(path.clone()), None).await?)
}

/// Waits until the daemon's projections have processed everything that was stored.
pub async fn wait_until_settled(client: &Client) -> Result<()> {
    let start = Instant::now();
    while client.get_status(false).await?.stores.iter().any(|store| store.behind > 0) {
        if start.elapsed() > START_TIMEOUT {
            bail!("the daemon's workers do not keep up");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// Runs a command with input; returns its total run time and exit status. The command need not read
/// its input.
pub fn time_command(command: &mut Command, input: &[u8]) -> Result<(Duration, ExitStatus)> {
    use std::io::Write;
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(input);
    }
    let status = child.wait()?;
    Ok((start.elapsed(), status))
}

/// The smallest possible program, started like the program under test.
pub fn true_command(world: &World) -> Command {
    let path =
        ["/bin/true", "/usr/bin/true"].into_iter().find(|path| std::path::Path::new(path).exists());
    let mut command = Command::new(path.unwrap_or("true"));
    command.env_clear().current_dir(world.folder("elsewhere"));
    command
}
