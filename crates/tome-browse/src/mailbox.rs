//! A thread that answers requests. Only the newest waiting request of a mailbox is kept: while the
//! source is busy, a later request replaces an earlier one.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::source::{BrowseAnswer, BrowseSource, Request};

/// Place for the newest request.
#[derive(Clone, Default)]
pub(crate) struct Mailbox(Arc<(Mutex<Option<Request>>, Condvar)>);

impl Mailbox {
    /// Puts a request in place of one that still waits.
    pub(crate) fn post(&self, request: Request) {
        let (slot, is_filled) = &*self.0;
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
        is_filled.notify_one();
    }

    fn take(&self) -> Request {
        let (slot, is_filled) = &*self.0;
        let mut waiting = slot.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match waiting.take() {
                Some(request) => return request,
                None => {
                    waiting = is_filled.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Starts the thread that answers. It ends when `send` returns false.
    pub(crate) fn serve(
        &self,
        name: &str,
        source: Arc<dyn BrowseSource>,
        send: impl Fn(Request, Result<BrowseAnswer, String>) -> bool + Send + 'static,
    ) -> std::io::Result<()> {
        let mailbox = self.clone();
        let work = move || loop {
            let request = mailbox.take();
            let answer = source.answer(&request.kind);
            if !send(request, answer) {
                return;
            }
        };
        std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::source::RequestKind;

    /// Tells when it begins to answer, and waits until it may go on.
    struct SlowSource {
        begun: mpsc::Sender<()>,
        gate: Mutex<mpsc::Receiver<()>>,
    }

    impl BrowseSource for SlowSource {
        fn answer(&self, _: &RequestKind) -> Result<BrowseAnswer, String> {
            self.begun.send(()).unwrap();
            self.gate.lock().unwrap().recv().unwrap();
            Ok(BrowseAnswer::Preview(String::new()))
        }
    }

    #[test]
    fn a_busy_source_gets_only_the_newest_request() {
        let (go, gate) = mpsc::channel();
        let (begun, begins) = mpsc::channel();
        let (answers, answered) = mpsc::channel();
        let mailbox = Mailbox::default();
        let source = Arc::new(SlowSource { begun, gate: Mutex::new(gate) });
        let send = move |request: Request, _| answers.send(request.number).is_ok();
        mailbox.serve("test", source, send).unwrap();
        let kind = RequestKind::Contents { filters: Default::default(), node: String::new() };
        let post = |number| mailbox.post(Request { number, kind: kind.clone() });
        post(1);
        begins.recv().unwrap();
        post(2);
        post(3);
        go.send(()).unwrap();
        assert_eq!(answered.recv().unwrap(), 1);
        begins.recv().unwrap();
        go.send(()).unwrap();
        assert_eq!(answered.recv().unwrap(), 3);
    }
}
