//! An embeddings endpoint on loopback with predictable vectors: one dimension per meaning, some for
//! texts without any of them, and one that all texts share. Unrelated texts have a cosine
//! similarity of 0.5.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

/// Synonyms, one dimension per group.
const MEANINGS: [&[&str]; 4] =
    [&["car", "automobile"], &["heron", "wading bird"], &["broth", "soup"], &["build"]];
/// Dimensions for other texts.
const OTHERS: usize = 499;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Well,
    /// Vectors of the wrong length.
    Longer,
    Refusing(u16),
    /// Never responds; keeps the connection open.
    Silent,
}

#[derive(Debug, Clone)]
pub struct EmbeddingRequest {
    pub head: String,
    pub texts: Vec<String>,
}

pub struct Embeddings {
    pub base: String,
    requests: Arc<Mutex<Vec<EmbeddingRequest>>>,
    mood: Arc<Mutex<Mood>>,
}

impl Embeddings {
    /// Length of its vectors.
    pub const DIMENSIONS: usize = MEANINGS.len() + OTHERS + 1;
    /// Additional length of the wrong vectors.
    pub const LONGER: usize = 3;

    pub fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<EmbeddingRequest>>> = Arc::default();
        let mood = Arc::new(Mutex::new(mood));
        let (heard, moody) = (Arc::clone(&requests), Arc::clone(&mood));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, moody) = (Arc::clone(&heard), Arc::clone(&moody));
                std::thread::spawn(move || answer(stream, &heard, &moody));
            }
        });
        Self { base, requests, mood }
    }

    pub fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// All requests, in order.
    pub fn requests(&self) -> Vec<EmbeddingRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// All texts sent to it.
    pub fn texts(&self) -> Vec<String> {
        self.requests().into_iter().flat_map(|requests| requests.texts).collect()
    }

    /// Settings for this endpoint.
    pub fn settings(&self) -> String {
        let (base, dimensions) = (&self.base, Self::DIMENSIONS);
        format!(
            "[embed]\nprovider = \"openai\"\nmodel = \"meanings\"\ndimensions = {dimensions}\nbase_url = \"{base}\"\nkey_env = \"MY_KEY\"\nquestion_timeout = \"20s\"\n"
        )
    }
}

fn answer(mut stream: TcpStream, heard: &Mutex<Vec<EmbeddingRequest>>, mood: &Mutex<Mood>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
    });
    let mut body = vec![0; length.unwrap_or(0)];
    let _ = reader.read_exact(&mut body);
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let texts: Vec<String> = serde_json::from_value(body["input"].clone()).unwrap_or_default();
    let mood = *mood.lock().unwrap_or_else(PoisonError::into_inner);
    heard.lock().unwrap().push(EmbeddingRequest { head, texts: texts.clone() });
    let (code, response) = match mood {
        Mood::Well => (200, vectors(&texts, Embeddings::DIMENSIONS)),
        Mood::Longer => (200, vectors(&texts, Embeddings::DIMENSIONS + Embeddings::LONGER)),
        Mood::Refusing(code) => (code, json!({"error": {"message": "not today"}}).to_string()),
        Mood::Silent => {
            // Until the client disconnects.
            let _ = reader.read(&mut [0]);
            return;
        }
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {code} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{response}",
        response.len()
    );
}

fn vectors(texts: &[String], dimensions: usize) -> String {
    let vector = |text: &String| {
        let text = text.to_lowercase();
        let says = |words: &&[&str]| words.iter().any(|word| text.contains(word));
        let other = text.bytes().map(usize::from).sum::<usize>() % OTHERS;
        let dimension = MEANINGS.iter().position(says).unwrap_or(MEANINGS.len() + other);
        let mut vector = vec![0.0; dimensions];
        vector[dimension] = 1.0;
        vector[MEANINGS.len() + OTHERS] = 1.0;
        vector
    };
    let each = texts.iter().enumerate();
    let data: Vec<Value> =
        each.map(|(index, text)| json!({"index": index, "embedding": vector(text)})).collect();
    json!({"object": "list", "data": data}).to_string()
}
