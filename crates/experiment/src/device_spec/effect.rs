//! Rejects settings that would have no effect on a drive, because whoever set one expects to see
//! its effect. The device itself rejects settings that cannot work at all.

use fowler_device::policy::placement::PlacementKind;
use fowler_device::policy::redundancy::{CachePower, Checks};
use fowler_device::policy::scrub::ScrubKind;
use fowler_device::policy::sensing::SensingKind;
use fowler_device::policy::step::StepKind;
use fowler_device::reliability::ModelKind;
use fowler_device::{
    AgingConfig, Arbitration, BufferConfig, Config, FlashConfig, QueueConfig, Refusal, SlcConfig,
    bad_blocks,
};
use fowler_units::Span;

/// Returns every setting in `config` that has no effect, and what it needs to have one. Default
/// values are never reported.
///
/// Nor is the die order `rhio`: even where all reads take equally long, it serves reads before
/// writes, and the writes of small requests first.
/// See docs/decisions/policy.md, "May RHIO's order run on a drive without errors?".
/// See docs/decisions/policy.md, "What happens to a policy that would have no effect?".
pub(crate) fn without_effect(config: &Config) -> Vec<Refusal> {
    let all = [
        without_errors(config),
        without_fading(config),
        without_comparisons(config),
        without_kinds(config),
        without_bad_blocks(config),
        without_a_capacitor(config),
        without_torn_programs(config),
        without_turns(config),
        without_a_pace(config),
        without_two_passes(config),
        without_a_cache(config),
        without_a_dynamic_cache(config),
        without_age(config),
    ];
    all.into_iter().flatten().collect()
}

/// How submission queues take turns, on a drive on which they do not.
fn without_turns(config: &Config) -> Option<Refusal> {
    let (queue, default) = (&config.queue, QueueConfig::default());
    let weighted = queue.arbitration == Arbitration::Weighted;
    let turns = queue.arbitration != Arbitration::Arrival;
    let mut keys = chosen([
        (queue.weights != default.weights && !weighted, "queue.weights"),
        (queue.taken != default.taken && !turns, "queue.taken"),
    ]);
    (!keys.is_empty()).then(|| {
        keys.push("queue.arbitration");
        Refusal {
            keys,
            what: "no effect: the queues of this drive do not take such turns".into(),
            hint: Some(
                "set queue.arbitration = \"weighted\", or \"round_robin\" for queue.taken alone"
                    .into(),
            ),
        }
    })
}

/// From where writes are paced, on a drive that does not pace them.
fn without_a_pace(config: &Config) -> Option<Refusal> {
    let (buffer, default) = (&config.buffer, BufferConfig::default());
    (buffer.pace == Span::ZERO && buffer.pace_from != default.pace_from).then(|| Refusal {
        keys: vec!["buffer.pace_from", "buffer.pace"],
        what: "no effect: this drive does not pace writes".into(),
        hint: Some("add buffer.pace, the time between two units that enter a full buffer".into()),
    })
}

/// How long the first of two passes takes, on a drive that programs in one.
fn without_two_passes(config: &Config) -> Option<Refusal> {
    let (flash, default) = (&config.flash, FlashConfig::default());
    let chosen = flash.first_pass_iterations != default.first_pass_iterations;
    (flash.program_passes == 1 && chosen).then(|| Refusal {
        keys: vec!["flash.first_pass_iterations", "flash.program_passes"],
        what: "no effect: this drive programs in one pass".into(),
        hint: Some("set flash.program_passes = 2".into()),
    })
}

/// How an SLC cache works, on a drive that has none.
fn without_a_cache(config: &Config) -> Option<Refusal> {
    let (slc, default) = (&config.slc, SlcConfig::default());
    let mut keys = chosen([
        (slc.keep_erased != default.keep_erased, "slc.keep_erased"),
        (slc.when_full != default.when_full, "slc.when_full"),
        (slc.fold_after != default.fold_after, "slc.fold_after"),
        (slc.read_time != default.read_time, "slc.read_time"),
        (slc.iterations != default.iterations, "slc.iterations"),
    ]);
    (!slc.is_on() && !keys.is_empty()).then(|| {
        keys.extend(["slc.static", "slc.dynamic"]);
        Refusal {
            keys,
            what: "no effect: this drive has no SLC cache".into(),
            hint: Some("add slc.static or slc.dynamic, the superblocks of the cache".into()),
        }
    })
}

/// What a dynamic cache leaves erased, on a drive whose cache is static.
fn without_a_dynamic_cache(config: &Config) -> Option<Refusal> {
    let (slc, default) = (&config.slc, SlcConfig::default());
    let kept = slc.keep_erased != default.keep_erased;
    (slc.is_on() && slc.dynamic == 0 && kept).then(|| Refusal {
        keys: vec!["slc.keep_erased", "slc.dynamic"],
        what: "no effect: the cache of this drive uses only what is set aside for it".into(),
        hint: Some("add slc.dynamic, the most superblocks that it uses besides".into()),
    })
}

/// How data ages, on a drive with superblocks whose data does not.
fn without_age(config: &Config) -> Option<Refusal> {
    let (aging, default) = (&config.aging, AgingConfig::default());
    let mut keys = chosen([
        (aging.voltage_window != default.voltage_window, "aging.voltage_window"),
        (aging.erased_below != default.erased_below, "aging.erased_below"),
        (aging.step_share != default.step_share, "aging.step_share"),
        (aging.correctable != default.correctable, "aging.correctable"),
        (aging.retry_entries != default.retry_entries, "aging.retry_entries"),
        (aging.retry_shift != default.retry_shift, "aging.retry_shift"),
        (aging.retry_overhead != default.retry_overhead, "aging.retry_overhead"),
        (aging.tracking != default.tracking, "aging.tracking"),
        (aging.refresh_above != default.refresh_above, "aging.refresh_above"),
    ]);
    (!aging.is_on() && !keys.is_empty()).then(|| {
        keys.push("aging.coding");
        Refusal {
            keys,
            what: "no effect: the data of this drive does not age".into(),
            hint: Some("add aging.coding = \"balanced\"".into()),
        }
    })
}

/// Settings that depend on bit errors, on a drive without any.
fn without_errors(config: &Config) -> Option<Refusal> {
    let by_strength = config.step.name != StepKind::Nominal;
    let soft = config.sensing.name != SensingKind::WorstCase;
    let streams = config.placement.name == PlacementKind::Streams;
    let to_strong = streams && config.placement.hot_to_strong;
    let mut keys = chosen([
        (by_strength, "policy.step"),
        (soft, "policy.sensing"),
        (to_strong, "policy.placement.hot_to_strong"),
    ]);
    if config.reliability.model != ModelKind::Off || keys.is_empty() {
        return None;
    }
    keys.push("reliability.model");
    Some(Refusal {
        keys,
        what: "no effect: the cells of this drive have no bit errors".into(),
        hint: Some(
            "add --set reliability.model=analytic, or use a drive with bit errors: --device rhio"
                .into(),
        ),
    })
}

/// Scrubbing, on a drive whose data never fades, and of which every read succeeds.
fn without_fading(config: &Config) -> Option<Refusal> {
    let fades = !matches!(config.reliability.model, ModelKind::Off | ModelKind::ByVoltage)
        || config.reliability.uber > 0.0
        || config.redundancy.checks == Checks::Versions
        || config.compares_stripes();
    (config.scrub.name != ScrubKind::Off && !fades).then(|| Refusal {
        keys: vec!["policy.scrub", "reliability.model"],
        what: "no effect: the data of this drive never fades".into(),
        hint: Some("add --set reliability.model=analytic, or use --device rhio".into()),
    })
}

/// Comparisons of stripes with their parity, on a drive that does not make any.
fn without_comparisons(config: &Config) -> Option<Refusal> {
    (config.scrub.stripes && !config.compares_stripes()).then(|| Refusal {
        keys: vec!["policy.scrub.stripes"],
        what: "no effect: nothing on this drive compares stripes with their parity".into(),
        hint: Some(
            "it needs policy.scrub = \"patrol\", stripes (policy.redundancy = \"raid5\", for \
             example), and policy.redundancy.integrity = true"
                .into(),
        ),
    })
}

/// Settings that depend on the hotness of data, on a drive that does not classify data.
fn without_kinds(config: &Config) -> Option<Refusal> {
    let streams = config.placement.name == PlacementKind::Streams;
    let by_strength = config.step.name != StepKind::Nominal;
    let mut keys = chosen([(streams, "policy.placement"), (by_strength, "policy.step")]);
    if config.hotness.detectors != 0 || keys.is_empty() {
        return None;
    }
    keys.push("policy.hotness");
    Some(Refusal {
        keys,
        what: "no effect: nothing on this drive detects hot data".into(),
        hint: Some("add a detector: policy.hotness = [\"request_size\"]".into()),
    })
}

/// How blocks fail, on a drive whose blocks never do.
fn without_bad_blocks(config: &Config) -> Option<Refusal> {
    let (its, usual) = (config.bad_blocks, bad_blocks::Params::default());
    let keys = chosen([
        (its.shape != usual.shape, "bad_blocks.shape"),
        (its.erases != usual.erases, "bad_blocks.erases"),
    ]);
    (its.share == 0.0 && !keys.is_empty()).then(|| Refusal {
        keys,
        what: "no effect: no block of this drive fails".into(),
        hint: Some("set bad_blocks.share, 0.02 for example".into()),
    })
}

/// A capacitor that saves nothing, and what one would save on a drive that has none.
fn without_a_capacitor(config: &Config) -> Option<Refusal> {
    let its = &config.redundancy;
    let (what, hint) = match (its.cache, its.saved) {
        (CachePower::Limited, 0) => (
            "no effect: a capacitor that saves no page is none",
            "set policy.redundancy.saved, or policy.redundancy.cache = \"volatile\"",
        ),
        (CachePower::Volatile | CachePower::Protected, 1..) => (
            "no effect: used only with policy.redundancy.cache = \"limited\"",
            "set policy.redundancy.cache = \"limited\"",
        ),
        _ => return None,
    };
    let keys = vec!["policy.redundancy.saved", "policy.redundancy.cache"];
    Some(Refusal { keys, what: what.into(), hint: Some(hint.into()) })
}

/// The pages of a word line, on a drive that ends its programs.
fn without_torn_programs(config: &Config) -> Option<Refusal> {
    let its = &config.redundancy;
    (its.word_line > 1 && !its.tears_programs()).then(|| Refusal {
        keys: vec!["policy.redundancy.word_line", "policy.redundancy.cut_programs"],
        what: "no effect: the drive ends its programs when the power fails".into(),
        hint: Some("set policy.redundancy.cut_programs = \"torn\"".into()),
    })
}

fn chosen<const N: usize>(choices: [(bool, &'static str); N]) -> Vec<&'static str> {
    choices.into_iter().filter_map(|(chosen, key)| chosen.then_some(key)).collect()
}

#[cfg(test)]
mod tests {
    use crate::device_spec::{DeviceSpec, resolve};
    use crate::scheme::Scheme;

    /// The diagnostics of a preset with these settings; empty if it works.
    fn reported(device: &str, scheme: &str, set: &[&str]) -> String {
        let spec = DeviceSpec {
            device: device.into(),
            set: set.iter().map(ToString::to_string).collect(),
            ..DeviceSpec::default()
        };
        let resolved = resolve(&spec.source().unwrap(), &Scheme::load(scheme).unwrap(), &spec);
        resolved.err().map_or(String::new(), |diagnostics| diagnostics.to_string())
    }

    #[test]
    fn what_changes_nothing_is_refused() {
        let analytic = "reliability.model=analytic";
        let hot = "policy.hotness=request_size";
        for (device, scheme, set, refused) in [
            ("pes-mlc", "noop", &[][..], &[][..]),
            ("pes-mlc", "rhio", &[], &["policy.step, policy.sensing", "rhio:5", "--device rhio"]),
            ("pes-mlc", "rhio", &[analytic], &[]),
            ("pes-mlc", "rt_r", &[], &["(policy.sensing, reliability.model)"]),
            ("pes-mlc", "pes_ipc+rhio", &[analytic], &[]),
            ("pes-mlc", "noop", &["policy.sensing=retry"], &["(policy.sensing, rel", "--set"]),
            ("pes-mlc", "noop", &["policy.sensing=worst_case", "policy.step=nominal"], &[]),
            ("pes-mlc", "noop", &["policy.placement=streams"], &["policy.hotness = ["]),
            ("pes-mlc", "noop", &["policy.placement=streams", hot], &[]),
            ("rhio", "noop", &["policy.step=by_strength"], &["(policy.step, policy.hotness)"]),
            ("rhio", "noop", &["policy.step=by_strength", hot], &[]),
            ("pes-mlc", "scrub", &[], &["(policy.scrub, reliability.model)", "never fades"]),
            ("hire", "scrub", &[], &["never fades"]),
            ("pes-mlc", "scrub", &[analytic], &[]),
            (
                "da-raid5",
                "scrub+raid5",
                &["policy.scrub.stripes=true"],
                &["scrub.stripes", "integ"],
            ),
            (
                "da-raid5",
                "scrub+raid5",
                &["policy.scrub.stripes=true", "policy.redundancy.integrity=true"],
                &[],
            ),
            ("hire", "hire", &[], &[]),
            ("hire", "rhio+hire", &[analytic], &[]),
            ("rhio", "rhio", &["reliability.model=off", "policy.hotness=[]"], &["err", "hot data"]),
            ("pes-mlc", "noop", &["bad_blocks.shape=2"], &["(bad_blocks.shape)", "0.02"]),
            ("pes-mlc", "noop", &["bad_blocks.shape=2", "bad_blocks.share=0.02"], &[]),
            ("pes-mlc", "noop", &["policy.redundancy.saved=9"], &["used only with", "limited"]),
            (
                "pes-mlc",
                "noop",
                &["policy.redundancy.saved=9", "policy.redundancy.cache=limited"],
                &[],
            ),
            ("pes-mlc", "noop", &["policy.redundancy.cache=limited"], &["saves no page"]),
            // RHIO's order has an effect on any drive.
            ("pes-mlc", "pes_ipc", &["policy.die_order=rhio"], &[]),
        ] {
            expect(device, scheme, set, refused);
        }
    }

    /// All that is wrong with what only drives with superblocks have is said, and what works is not
    /// refused.
    #[test]
    fn what_changes_nothing_of_superblocks_is_refused() {
        for (device, set, refused) in [
            ("nvme-980pro", &["slc.when_full=wait"][..], &["(slc.when_full", "no SLC cache"][..]),
            (
                "nvme-980pro",
                &["slc.static=4", "slc.keep_erased=9"],
                &["(slc.keep_erased, slc.dynamic)", "set aside"],
            ),
            ("nvme-980pro", &["slc.static=4", "slc.when_full=wait"], &[]),
            ("nvme-980pro", &["slc.dynamic=40", "slc.keep_erased=9"], &[]),
            ("pes-mlc", &["slc.static=4"], &["slc.static, slc.dynamic, ftl.mapping"]),
            ("nvme-980pro", &["slc.dynamic=40", "slc.keep_erased=4"], &["at least gc.fore"]),
            (
                "nvme-980pro",
                &["slc.dynamic=9", "superblocks.word_line=1", "slc.keep_erased=3"],
                &["word lines of 1 pages", "at least gc.fore"],
            ),
            ("nvme-980pro", &["slc.static=341"], &["can hold data"]),
            (
                "nvme-980pro",
                &["aging.tracking=superblock", "aging.correctable=1e-2"],
                &["(aging.correctable, aging.tracking, aging.coding)", "does not age"],
            ),
            ("nvme-980pro", &["aging.coding=balanced", "reliability.cycles=1000"], &[]),
            ("nvme-980pro", &["reliability.cycles=1000"], &["(reliability, ftl.mapping)"]),
            ("pes-mlc", &["aging.coding=balanced"], &["aging.coding, ftl.mapping"]),
            ("pes-mlc", &["flash.cache_read=true"], &["(flash.cache_read, ftl.map", "false"]),
            ("pes-mlc", &["flash.cache_program=true"], &["flash.cache_program, ftl.map"]),
            ("nvme-980pro", &["flash.cache_read=true", "flash.cache_program=true"], &[]),
            ("pes-mlc", &["flash.program_passes=2"], &["(flash.program_passes, ftl.map", "use 1"]),
            ("nvme-980pro", &["flash.first_pass_iterations=9"], &["programs in one pass"]),
            (
                "nvme-980pro",
                &["flash.program_passes=2", "buffer.size=1MiB"],
                &["(flash.program_passes, buffer.size)", "set buffer.size = \""],
            ),
            ("nvme-980pro", &["flash.program_passes=2", "flash.first_pass_iterations=9"], &[]),
        ] {
            expect(device, "noop", set, refused);
        }
    }

    /// Expects the diagnostics to have these parts; none if there are no parts.
    fn expect(device: &str, scheme: &str, set: &[&str], refused: &[&str]) {
        let reported = reported(device, scheme, set);
        assert_eq!(reported.is_empty(), refused.is_empty(), "{scheme} {set:?}: {reported}");
        for part in refused {
            assert!(reported.contains(part), "{part}: {reported}");
        }
    }
}
