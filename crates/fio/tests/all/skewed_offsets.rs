//! Skewed offsets of jobs that do not repeat: `randseed`, with or without `randrepeat=0`.
//!
//! Up to 3.34 the generator of such a job starts from the seed of its offsets alone, from 3.35 on
//! from that and the file's name, as that of any other job (`__init_rand_distribution` of fio's
//! filesetup.c).

use crate::sequences::listed;
use fowler_fio::Seeding;
use fowler_fio::Seeding::{V333, V335};

/// The first offsets of a job on 25,600 blocks.
fn offsets(name: &str, distribution: &str, seeds: &str, seeding: Seeding) -> Vec<u64> {
    let text = format!(
        "[j]\nioengine=null\nfilename={name}\nrandom_distribution={distribution}\nnorandommap\n\
         {seeds}\nbs=8k\nsize=200m\nrw=randwrite\nnumber_ios=3\n"
    );
    let csv = listed(&text, seeding).unwrap_or_else(|error| panic!("{text}{error}"));
    let offset = |line: &str| line.split(',').nth(2).and_then(|it| it.parse().ok());
    csv.lines().skip(1).map(|line| offset(line).expect("an offset")).collect()
}

/// The offsets that a real fio issues: 3.33, and the one that a report names.
#[test]
fn offsets_are_those_of_fio() {
    let rows: [(&str, &str, Seeding, [u64; 3]); 7] = [
        ("zipf:0.8", "randrepeat=0", V335, [60_203_008, 86_228_992, 128_598_016]),
        // From 3.35 on, a given seed switches the repetition off, whatever `randrepeat` says.
        ("zipf:0.8", "", V335, [60_203_008, 86_228_992, 128_598_016]),
        ("zipf:0.8", "randrepeat=1", V335, [60_203_008, 86_228_992, 128_598_016]),
        ("zipf:0.8", "randrepeat=0", V333, [53_411_840, 201_981_952, 197_615_616]),
        // Up to 3.34, a given seed does so only after the first clone has the seed of its offsets.
        ("zipf:0.8", "", V333, [112_435_200, 208_412_672, 22_970_368]),
        ("pareto:0.3", "randrepeat=0", V333, [0x9f9_e000, 0x8b0_2000, 0xb7c_2000]),
        ("normal:10", "randrepeat=0", V333, [0x87a_4000, 0xbc6_6000, 0x85c_2000]),
    ];
    for (distribution, repeat, seeding, expected) in rows {
        let found = offsets("drive", distribution, &format!("{repeat}\nrandseed=99"), seeding);
        assert_eq!(found, expected, "{distribution}, {repeat}, {seeding:?}");
    }
}

#[test]
fn the_name_of_the_file_counts_from_3_35_on() {
    let seeds = "randrepeat=0\nrandseed=99";
    for distribution in ["zipf:1.2", "zipf:0.8:0.3", "pareto:0.2", "normal:20"] {
        let of = |name, seeding| offsets(name, distribution, seeds, seeding);
        assert_eq!(of("a", V333), of("b", V333), "{distribution}");
        assert_ne!(of("a", V335), of("b", V335), "{distribution}");
    }
    // Offsets that are not skewed come from one generator for all files.
    let uniform = |name| offsets(name, "random", seeds, V335);
    assert_eq!(uniform("a"), uniform("b"));
}
