//! The sentence that limits a conclusion: "The catch: it works on the default branch only."

use crate::extract::answers::statement::AnswerSentence;
use crate::extract::language::prose::{MessageParts, SentenceShape};
use crate::extract::language::text::begins_with_any;

/// Characters of a conclusion with its limit.
const BOTH_CHARS_MAX: usize = 198;

/// Appends the limit that directly follows a conclusion. Without it the conclusion claims too much.
pub(crate) fn join_caveat<'a>(
    parts: &MessageParts<'a>,
    best: AnswerSentence<'a>,
) -> AnswerSentence<'a> {
    #[rustfmt::skip]
    const CAVEATS: &[&str] = &[
        "the catch", "catch:", "one catch", "caveat", "the caveat", "one caveat", "however,", "but ", "unfortunately",
        "that said", "the downside", "the problem is", "though ", "except ", "pero ", "mais ", "aber ", "leider ",
        "allerdings", "it isn't", "it wasn't", "it doesn't", "that isn't", "that's not", "that was wrong", "that's wrong", "this is wrong", "that is wrong", "但是", "不过", "但", "ただし", "しかし", "но ", "однако",
    ];
    let Some(last) = best.raws.iter().map(|raw| raw.as_ptr()).max() else { return best };
    let next = parts.sentences.iter().find(|one| one.raw.as_ptr() > last);
    let caveat = next.filter(|next| {
        next.shape == SentenceShape::Running
            && !next.is_aside
            && begins_with_any(&next.plain, CAVEATS)
            && !next.plain.ends_with(['?', '？', ':', '：'])
    });
    let Some(caveat) = caveat.filter(|_| best.items.len() <= 1 && !best.is_item) else {
        return best;
    };
    if best.text.chars().count() + caveat.plain.chars().count() > BOTH_CHARS_MAX {
        return best;
    }
    let stated = best.text.trim_end_matches([':', '：']);
    let stop = match stated {
        stated if stated.trim_end_matches(['"', '”']).ends_with(['.', '!', '。', '！', '…']) => {
            ""
        }
        stated if stated.ends_with(tome_text::is_han_or_kana) => "。",
        _ => ".",
    };
    let text = format!("{stated}{stop} {}", caveat.plain);
    let mut raws = best.raws.clone();
    raws.push(caveat.raw);
    AnswerSentence { raws, lead: text.clone(), text, items: Vec::new(), has_caveat: true, ..best }
}

#[cfg(test)]
mod tests {
    use crate::extract::answers::answer::find_conclusion;
    use crate::extract::language::prose::split_message;

    #[track_caller]
    fn check_conclusion(answer: &str, expected: &str) {
        let found = find_conclusion(&split_message(answer), "how can I preview the page?", false);
        assert_eq!(found.map(|found| found.text).as_deref(), Some(expected));
    }

    #[test]
    fn a_conclusion_comes_with_its_limit() {
        check_conclusion(
            "Push the branch and open the page with a `preview` parameter:\n\n```\n/docs?preview=1\n```\n\n\
             The catch: the site only renders pages of the default branch.\n\nThe build takes a minute.",
            "Push the branch and open the page with a `preview` parameter: `/docs?preview=1`. The catch: the site \
             only renders pages of the default branch.",
        );
        check_conclusion(
            "Push the branch and open the page with a `preview` parameter:\n\n```\n/docs?preview=1\n```\n\n\
             ```\n/blog?preview=1\n```\n\nThe catch: **the site only renders pages of the default branch** (usually \
             `main`). Pages on a feature branch won't render.\n\n### Workarounds\n\n1. **Push to a fork** — and \
             test there.\n\nOption 1 (fork) is the safest for a shared repo.",
            "Push the branch and open the page with a `preview` parameter. The catch: the site only renders \
             pages of the default branch (usually `main`).",
        );
        check_conclusion(
            "I said yesterday that `scan` \"reads the whole file.\" It doesn't, only the first page is read.",
            "I said yesterday that `scan` \"reads the whole file.\" It doesn't, only the first page is read.",
        );
        check_conclusion(
            "Push the branch and open the page with a `preview` parameter. The build takes a minute.",
            "Push the branch and open the page with a `preview` parameter.",
        );
    }
}
