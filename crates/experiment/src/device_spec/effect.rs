//! Rejects settings that would have no effect on a drive, because whoever set one expects to see
//! its effect. The table of keys says what each needs.

use super::defaults;
use crate::keys::{self, Requirement};
use fowler_device::{Config, Refusal};
use std::ptr;

/// Returns an error for every setting in `config` that has no effect on the drive it configures,
/// with the condition for an effect. Default values give no error; keys with the same condition
/// share one; errors about policies come first.
pub(crate) fn without_effect(config: &Config) -> Vec<Refusal> {
    let default = defaults::config();
    let mut keys = keys::all();
    keys.retain(|key| !key.needs.is_empty());
    keys.retain(|key| key.field.print(config) != key.field.print(&default));
    keys.sort_by_key(|key| !key.is_slot());
    let unmet = |row: &&[&Requirement]| {
        let lacks =
            |it: &&Requirement| row.iter().any(|one| ptr::eq(*one, *it)) && !(it.met)(config);
        let idle = keys.iter().filter(|key| key.needs.iter().any(lacks));
        let idle: Vec<&str> = idle.map(|key| key.path).collect();
        (!idle.is_empty()).then(|| row[0].refusal(&idle))
    };
    keys::NEEDS.iter().filter_map(unmet).collect()
}

/// Drops errors about settings of a policy that drives with this mapping cannot use at all:
/// following their hints would not make the policy work. An error about the policy itself, which
/// names the key `ftl.reclaim_unit`, remains.
pub(super) fn drop_advice_on_impossible(refusals: &mut Vec<Refusal>) {
    let by_kind = |refusal: &Refusal| refusal.keys.contains(&"ftl.reclaim_unit");
    let slots: Vec<&str> = refusals.iter().filter(|it| by_kind(it)).map(|it| it.keys[0]).collect();
    let is_ruled_out = |key: &&str| {
        let slot = key.match_indices('.').nth(1).map_or(*key, |(end, _)| &key[..end]);
        slot.starts_with("policy.") && slots.contains(&slot)
    };
    refusals.retain(|it| by_kind(it) || !it.keys.iter().any(is_ruled_out));
}

#[cfg(test)]
mod tests {
    use crate::device_spec::{DeviceSpec, resolve};
    use crate::keys::{self, Requirement};
    use crate::scheme::Scheme;
    use std::ptr;

    /// Returns the diagnostics of a preset drive under a scheme with these settings; empty if they
    /// work.
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
            (
                "pes-mlc",
                "noop",
                &["policy.redundancy.cache=limited"],
                &["saves no page", "(policy.redundancy.saved, policy.redundancy.cache)"],
            ),
            ("pes-mlc", "noop", &["policy.voltage=high"], &["(policy.voltage, reliability.model)"]),
            // RHIO's die order has an effect on any drive.
            ("pes-mlc", "pes_ipc", &["policy.die_order=rhio"], &[]),
        ] {
            expect(device, scheme, set, refused);
        }
    }

    /// On drives with superblocks, every setting without effect is refused, and no setting with an
    /// effect is.
    #[test]
    fn what_changes_nothing_of_superblocks_is_refused() {
        for (device, set, refused) in [
            ("nvme-980pro", &["slc.when_full=wait"][..], &["(slc.when_full", "no SLC cache"][..]),
            (
                "nvme-980pro",
                &["slc.static=4", "slc.keep_erased=9"],
                &["(slc.keep_erased, slc.dynamic)", "reserved superblocks"],
            ),
            ("nvme-980pro", &["slc.static=4", "slc.when_full=wait"], &[]),
            ("nvme-980pro", &["slc.dynamic=40", "slc.keep_erased=9"], &[]),
            ("pes-mlc", &["slc.static=4"], &["slc.static, slc.dynamic, ftl.reclaim_unit"]),
            ("nvme-980pro", &["slc.dynamic=40", "slc.keep_erased=4"], &["at least gc.fore"]),
            (
                "nvme-980pro",
                &["slc.dynamic=9", "flash.word_line=1", "slc.keep_erased=3"],
                &["word lines of 1 pages", "at least gc.fore"],
            ),
            ("nvme-980pro", &["slc.static=341"], &["can hold data"]),
            (
                "nvme-980pro",
                &["aging.tracking=superblock", "aging.correctable=1e-2"],
                &["(aging.correctable, aging.tracking, aging.coding)", "does not age"],
            ),
            ("nvme-980pro", &["aging.coding=balanced", "reliability.cycles=1000"], &[]),
            ("nvme-980pro", &["reliability.cycles=1000"], &["(reliability.cycles, ftl.rec"]),
            ("nvme-980pro", &["policy.scrub=patrol"], &["(policy.scrub, rel", "never fades"]),
            ("nvme-980pro", &["policy.scrub=patrol", "aging.coding=balanced"], &[]),
            ("nvme-980pro", &["policy.scrub=patrol", "reliability.model=analytic"], &[]),
            (
                "nvme-7450",
                &["policy.scrub=patrol", "policy.scrub.stripes=true"],
                &["scrub.stripes", "integ"],
            ),
            (
                "nvme-7450",
                &[
                    "policy.scrub=patrol",
                    "policy.scrub.stripes=true",
                    "policy.redundancy.integrity=true",
                ],
                &[],
            ),
            ("pes-mlc", &["aging.coding=balanced"], &["aging.coding, ftl.reclaim_unit"]),
            ("pes-mlc", &["flash.cache_read=true"], &["(flash.cache_read, ftl.rec", "false"]),
            ("pes-mlc", &["flash.cache_program=true"], &["flash.cache_program, ftl.rec"]),
            ("nvme-980pro", &["flash.cache_read=true", "flash.cache_program=true"], &[]),
            (
                "nvme-980pro",
                &["flash.program_transfer=command", "flash.cache_program=true"],
                &["(flash.program_transfer, flash.cache_program)", "page by page"],
            ),
            ("pes-mlc", &["flash.program_transfer=command"], &[]),
            ("pes-mlc", &["flash.program_passes=2"], &["(flash.program_passes, ftl.rec", "use 1"]),
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

    #[test]
    fn every_need_is_reported_and_of_a_key() {
        let of_keys: Vec<&Requirement> = keys::all().into_iter().flat_map(|it| it.needs).collect();
        let reported: Vec<&Requirement> = keys::NEEDS.iter().copied().flatten().copied().collect();
        let has = |list: &[&Requirement], one| list.iter().any(|it| ptr::eq(*it, one));
        for one in &of_keys {
            assert!(has(&reported, *one), "not reported: {}", one.refusal(&[]).what);
        }
        for one in &reported {
            assert!(has(&of_keys, *one), "of no key: {}", one.refusal(&[]).what);
        }
    }

    /// Asserts that the diagnostics of a preset drive with these settings contain each text of
    /// `refused`; an empty `refused` asserts that there are no diagnostics.
    fn expect(device: &str, scheme: &str, set: &[&str], refused: &[&str]) {
        let reported = reported(device, scheme, set);
        assert_eq!(reported.is_empty(), refused.is_empty(), "{scheme} {set:?}: {reported}");
        for part in refused {
            assert!(reported.contains(part), "{part}: {reported}");
        }
    }
}
