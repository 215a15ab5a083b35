//! Properties of `Relays`: every answer of every collector contributes to one bus word of one relay, no two answers of a
//! word own the same element, and a relay ORs no more words than one LUT, unless a single collector needs more.

use crate::module_support::layout::{add_output, frame};
use crate::module_support::*;
use array::contract::relay::{owned, Relays, Source};
use array::contract::turn::{self, Chain};

fn words(v: &array::vsa::Vsa, relays: &Relays) -> Vec<Vec<Source>> {
    let [n0, n1] = relays.extent;
    (0..n0).flat_map(|i| (0..n1).flat_map(move |j| relays.words(v, 0, [i, j]))).collect()
}

#[test]
fn every_answer_has_its_place() {
    for_cases(300, |r| {
        let mut v = frame(r);
        add_output(r, &mut v);
        let (group, relays) = (&v.outputs[0], Relays::new(&v, 0));
        let word = i64::from(v.arrays[group.array as usize].word);
        let answers = &relays.answers;
        let words = words(&v, &relays);
        for sources in &words {
            let elements: Vec<u128> = sources
                .iter()
                .map(|(hops, k)| owned(&group.banks[answers[*k][0]], word, group.pe(&v, *hops)))
                .collect();
            assert_eq!(
                elements.iter().map(|e| e.count_ones()).sum::<u32>(),
                elements.iter().fold(0, |all, e| all | e).count_ones()
            );
        }
        let mut sources = words.concat();
        sources.sort_unstable();
        sources.dedup();
        let [n0, n1] = group.extent();
        assert_eq!((sources.len(), words.concat().len()), ((n0 * n1) as usize * answers.len(), sources.len()));
        assert!(relays.joined <= 4 || relays.block == [1, 1], "{relays:?}");
    });
}

/// Arrays as in AutoSA: each PE owns half a bus word, or a whole one.
#[test]
fn neighbours_share_words() {
    for_cases(1, |r| {
        let mut v = frame(r);
        while v.outputs.is_empty() || v.outputs[0].banks.len() > 1 {
            v.outputs.clear();
            add_output(r, &mut v);
        }
        (v.outputs[0].first, v.outputs[0].last) = ([0, 0], [12, 15]);
        let array = v.outputs[0].array as usize;
        v.arrays[array].word = 16;
        for (elements, block, extent) in [(8, [2, 4], [7, 4]), (16, [1, 4], [13, 4])] {
            let bank = &mut v.outputs[0].banks[0];
            (bank.elements, bank.bank.base, bank.bank.coef) = (elements, 0, [0, elements]);
            assert_eq!(Relays::new(&v, 0), Relays { block, extent, joined: 4, turn: None, answers: vec![vec![0]] });
        }
    });
}

/// Lanes with rows of their own: collectors join elements, so that neighbours share one bus word. Two whole bus words cost
/// less in the relay, which joins them in the LUTs that it has.
#[test]
fn banks_are_joined_where_that_takes_fewer_luts() {
    for_cases(1, |r| {
        let mut v = frame(r);
        while v.outputs.is_empty() || v.outputs[0].banks.len() > 1 {
            v.outputs.clear();
            add_output(r, &mut v);
        }
        (v.outputs[0].first, v.outputs[0].last, v.outputs[0].footprint.words) = ([0, 0], [13, 0], 1);
        let array = v.outputs[0].array as usize;
        v.arrays[array].word = 16;
        for (elements, banks, answers, block) in [(1, 16, 1, [4, 1]), (16, 2, 2, [2, 1])] {
            let bank = &mut v.outputs[0].banks[0];
            (bank.elements, bank.bank.base, bank.bank.coef) = (elements, 0, [elements, 0]);
            (bank.bank.words_per_row, bank.bank.stride) = (1, 0);
            v.outputs[0].banks = vec![v.outputs[0].banks[0].clone(); banks];
            let relays = Relays::new(&v, 0);
            assert_eq!((relays.answers.len(), relays.block, relays.turn), (answers, block, None));
            v.outputs[0].banks.truncate(1);
        }
    });
}

/// Every answer is in one chain, a chain has answered when it is asked again, and the words of a turn have their chains
/// side by side.
#[test]
fn every_answer_has_its_chain() {
    for_cases(300, |r| {
        let mut v = frame(r);
        add_output(r, &mut v);
        let Some(relays) = Relays::in_turn(&v, 0) else { return };
        let (group, of) = (&v.outputs[0], relays.turn.as_ref().expect("it turns"));
        assert!(of.steps <= group.footprint.words);
        let turns: Vec<Vec<Chain>> =
            (0..relays.extent[of.axis]).map(|k| of.chains_of(&v, 0, (relays.block, &relays.answers), k)).collect();
        let mut found: Vec<(i64, usize)> =
            turns.iter().flatten().flat_map(|c| c.answers.iter().map(|k| (c.line, *k))).collect();
        found.sort_unstable();
        let all = (0..group.extent()[of.axis]).flat_map(|line| (0..relays.answers.len()).map(move |k| (line, k)));
        assert_eq!(found, all.collect::<Vec<_>>());
        for chains in &turns {
            let words = turn::words(chains);
            assert!(chains.len() <= of.chains && words.len() <= of.words);
            for word in &words {
                let mut taken = 0;
                for chain in word.chains.iter().map(|c| &chains[*c]) {
                    assert_eq!((chain.word, taken & chain.elements), (word.word, 0));
                    taken |= chain.elements;
                }
            }
        }
    });
}
