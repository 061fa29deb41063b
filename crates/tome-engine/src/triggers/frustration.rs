//! Detects a frustrated user: swearing, insults, "I told you", "how many times". A small set that
//! prefers to miss: a blunt bug report does not count, nor do technical terms (garbage collection,
//! 垃圾回收).
//!
//! Quoted lines, code and anything after the first kilobytes are not the user's own words.

use std::sync::LazyLock;

use regex::Regex;
use tome_model::truncate_to;

use super::limits::FRUSTRATION_BYTES_MAX;

/// One pattern per language. An opinion must end there: "this is garbage!" matches, "this is
/// garbage data" is a bug report.
const PATTERNS: [&str; 6] = [
    // English
    r"(?xi) \b(?: wtf | what\ the\ (?:hell|fuck) | fuck(?:ing|ed)? | bullshit | shit(?:ty)?
        | god\ ?damn(?:ed|it)? | damn\ it | damnit | for\ (?:god|fuck|christ)['’]?s?\ sake
        | (?:you['’]re|you\ are)\ not\ listening | you\ (?:don['’]t|do\ not|never)\ listen
        | why\ (?:don['’]t|won['’]t)\ you\ listen | stop\ (?:ignoring\ me|lying|guessing)
        | (?:i|i['’]ve|i\ have)\ (?:already\ )?told\ you | i\ already\ (?:told|said)
        | how\ (?:many|often)\ (?:more\ )?times\ (?:do|must|have|should)\ i
        | (?:sick|tired)\ (?:and\ tired\ )?of\ (?:this|your|you)
        | (?:a\ waste\ of|wasting)\ my\ time ) \b",
    r"(?xim) \b(?:you['’]re|you\ are|are\ you|this\ is|that['’]s|that\ is|it['’]s)\ (?:\w+\ )?
        (?:stupid|idiotic|garbage|trash|useless|hopeless|an?\ idiot|ridiculous|infuriating)
        \s*(?:[.!?,;]|$)",
    // German
    r"(?xi) \b(?: verdammt\w* | schei(?:ß|ss)\w* | so\ ein\ (?:mist|müll|quatsch|schwachsinn)
        | zum\ teufel | was\ soll\ der\ (?:mist|quatsch|müll) | du\ hörst\ (?:\w+\ )?nicht\ zu
        | wie\ oft\ (?:noch|denn\ noch|(?:soll|muss)\ ich)
        | hab(?:e|['’])?\ (?:ich\ )?(?:es\ )?dir\ (?:das\ )?(?:doch|schon|bereits)
        | zum\ (?:hundertsten|tausendsten|x-ten)\ mal | bist\ du\ (?:dumm|blöd|bescheuert)
        | du\ nervst | das\ nervt | hör\ (?:endlich\ )?auf\ (?:zu\ raten|damit) ) \b",
    // Chinese. Without \b: there are no spaces between words.
    r"(?x) 他妈 | 他媽 | 妈的 | 媽的 | 卧槽 | 傻逼 | 蠢货 | 废物 | 什么鬼 | 在搞什么 | 搞什么鬼
        | 你到底 | 说过?了?(?:多少|好几)[遍次] | 說過?了?(?:多少|好幾)[遍次]
        | 跟你说过 | 跟你說過 | 告诉过你 | 告訴過你 | 你听不懂 | 你聽不懂 | 又错了 | 又錯了
        | 气死 | 氣死 | 烦死 | 煩死 | 浪费我的?时间
        | (?:真是?|太|都是|简直是?)垃圾(?:[了啊！。，？!.,?\s]|$)",
    // French
    r"(?xi) \b(?: putain | merde | c['’]est\ n['’]importe\ quoi | tu\ (?:ne\ )?m['’]écoutes\ pas
        | combien\ de\ fois\ (?:dois|faut|vais) | je\ t['’]ai\ déjà\ dit | ras[\ -]le[\ -]bol ) \b",
    // Spanish
    r"(?xi) \b(?: mierda | joder | maldita\ sea | cuántas\ veces\ (?:te|tengo) | no\ me\ escuchas
        | ya\ te\ (?:lo\ )?(?:he\ dicho|dije) | estoy\ hart[oa] ) \b",
];

static SIGNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

/// Whether the user's own words show frustration.
pub(super) fn is_frustrated(prompt: &str) -> bool {
    let own_words = strip_quotes_and_code(truncate_to(prompt, FRUSTRATION_BYTES_MAX));
    SIGNS.iter().any(|sign| sign.is_match(&own_words))
}

/// A prompt without quoted lines and code.
fn strip_quotes_and_code(prompt: &str) -> String {
    let mut out = String::with_capacity(prompt.len());
    let mut in_block = false;
    for line in prompt.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_block = !in_block;
        } else if !in_block && !line.starts_with('>') {
            // Every second part is between backticks and therefore code.
            out.extend(line.split('`').step_by(2).flat_map(|part| [part, " "]));
            out.push('\n');
        }
    }
    out
}
