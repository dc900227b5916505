"""Every keyword that sets a configuration key, for editors and type checkers, made from the Rust definitions.

Do not edit: `make bless` writes this file anew, and a test says when that is due.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, SupportsFloat, SupportsIndex, TypedDict

from fowler.source import Source


class Keys(TypedDict, total=False):
    """A configuration key: its path with ``_`` for the dots, its last part, or either with a unit."""

    above_n_update: Literal["add", "replace"] | str
    access_class: Literal["mixed", "read_hot", "write_hot"] | str
    ack: Literal["on_insert", "on_program"] | str
    admission: Literal["reads_pass", "in_order", "shared"] | str
    ages: Sequence[str]
    aging_coding: Literal["off", "balanced", "reflected"] | str
    aging_correctable: SupportsFloat
    aging_erased_below: SupportsFloat
    aging_refresh_above: SupportsIndex
    aging_retry_entries: SupportsIndex
    aging_retry_overhead: str
    aging_retry_overhead_ms: SupportsFloat
    aging_retry_overhead_ns: SupportsFloat
    aging_retry_overhead_s: SupportsFloat
    aging_retry_overhead_us: SupportsFloat
    aging_retry_shift: SupportsFloat
    aging_step_share: SupportsFloat
    aging_tracking: Literal["off", "superblock"] | str
    aging_voltage_window: SupportsFloat
    all_above: SupportsIndex
    arbitration: Literal["arrival", "round_robin", "weighted"] | str
    background_below: SupportsIndex
    bad_blocks_erases: SupportsFloat
    bad_blocks_shape: SupportsFloat
    bad_blocks_share: SupportsFloat
    bandwidth: str
    bandwidth_b_s: SupportsFloat
    bandwidth_mb_s: SupportsFloat
    bandwidth_mib_s: SupportsFloat
    blocks_per_plane: SupportsIndex
    buffer_ack: Literal["on_insert", "on_program"] | str
    buffer_cache_reads: bool
    buffer_evict_ahead: SupportsIndex
    buffer_load: str
    buffer_load_ms: SupportsFloat
    buffer_load_ns: SupportsFloat
    buffer_load_s: SupportsFloat
    buffer_load_us: SupportsFloat
    buffer_pace: str
    buffer_pace_from: SupportsFloat
    buffer_pace_ms: SupportsFloat
    buffer_pace_ns: SupportsFloat
    buffer_pace_s: SupportsFloat
    buffer_pace_us: SupportsFloat
    buffer_read_hot: Literal["on_dirty", "on_evict", "rewrite_on_idle"] | str
    buffer_rewrite_share: SupportsFloat
    buffer_size: str
    buffer_size_b: SupportsFloat
    buffer_size_gib: SupportsFloat
    buffer_size_kib: SupportsFloat
    buffer_size_mib: SupportsFloat
    bus_transfer: str
    bus_transfer_ms: SupportsFloat
    bus_transfer_ns: SupportsFloat
    bus_transfer_s: SupportsFloat
    bus_transfer_us: SupportsFloat
    cache: Literal["protected", "volatile", "limited"] | str
    cache_program: bool
    cache_read: bool
    cache_reads: bool
    cancelled_program: Literal["redo", "reached"] | str
    channels: SupportsIndex
    checks: Literal["none", "versions"] | str
    chips_per_channel: SupportsIndex
    coding: Literal["off", "balanced", "reflected"] | str
    command: str
    command_ms: SupportsFloat
    command_ns: SupportsFloat
    command_s: SupportsFloat
    command_us: SupportsFloat
    core_time: str
    core_time_ms: SupportsFloat
    core_time_ns: SupportsFloat
    core_time_s: SupportsFloat
    core_time_us: SupportsFloat
    cores: SupportsIndex
    correctable: SupportsFloat
    correctable_21: SupportsFloat
    correctable_3: SupportsFloat
    correctable_9: SupportsFloat
    cut_off: SupportsIndex
    cut_programs: Literal["finished", "torn"] | str
    cycles_spread: SupportsIndex
    d: SupportsIndex
    deadline: str
    deadline_ms: SupportsFloat
    deadline_ns: SupportsFloat
    deadline_s: SupportsFloat
    deadline_us: SupportsFloat
    delay: str
    delay_ms: SupportsFloat
    delay_ns: SupportsFloat
    delay_s: SupportsFloat
    delay_us: SupportsFloat
    depth: SupportsIndex
    die_order: Literal["fifo", "read_first", "rhio"] | str
    die_order_deadline: str
    die_order_deadline_ms: SupportsFloat
    die_order_deadline_ns: SupportsFloat
    die_order_deadline_s: SupportsFloat
    die_order_deadline_us: SupportsFloat
    dies: Literal["rotate", "by_address"] | str
    dies_per_chip: SupportsIndex
    disturb_cycles: SupportsFloat
    disturb_power: SupportsFloat
    disturb_slope: SupportsFloat
    duplex: Literal["full", "half"] | str
    dynamic: SupportsIndex
    end_age: SupportsFloat
    end_cycles: SupportsFloat
    end_reads: SupportsFloat
    enforcement: Literal["pessimistic", "optimistic"] | str
    epoch: Literal["auto", "fixed"] | str
    epoch_length: str
    epoch_length_ms: SupportsFloat
    epoch_length_ns: SupportsFloat
    epoch_length_s: SupportsFloat
    epoch_length_us: SupportsFloat
    erase_pulse: str
    erase_pulse_ms: SupportsFloat
    erase_pulse_ns: SupportsFloat
    erase_pulse_s: SupportsFloat
    erase_pulse_us: SupportsFloat
    erase_verify: str
    erase_verify_ms: SupportsFloat
    erase_verify_ns: SupportsFloat
    erase_verify_s: SupportsFloat
    erase_verify_us: SupportsFloat
    erased: SupportsFloat
    erased_below: SupportsFloat
    erased_sd: SupportsFloat
    erases: SupportsFloat
    evict_ahead: SupportsIndex
    failed_dies_spare: SupportsIndex
    fill: SupportsFloat
    first_pass_iterations: SupportsIndex
    flash_cache_program: bool
    flash_cache_read: bool
    flash_first_pass_iterations: SupportsIndex
    flash_program_passes: SupportsIndex
    flush_at_end: bool
    flush_moved: bool
    fold_after: str
    fold_after_ms: SupportsFloat
    fold_after_ns: SupportsFloat
    fold_after_s: SupportsFloat
    fold_after_us: SupportsFloat
    foreground_below: SupportsIndex
    frontier: Literal["own", "shared"] | str
    ftl_mapping: Literal["pages", "superblocks"] | str
    ftl_partial_writes: Literal["read_modify_write", "overwrite"] | str
    ftl_unwritten_reads: Literal["preconditioned", "zero", "error"] | str
    gc_background_below: SupportsIndex
    gc_foreground_below: SupportsIndex
    gc_frontier: Literal["own", "shared"] | str
    gc_idle_after: str
    gc_idle_after_ms: SupportsFloat
    gc_idle_after_ns: SupportsFloat
    gc_idle_after_s: SupportsFloat
    gc_idle_after_us: SupportsFloat
    geometry_blocks_per_plane: SupportsIndex
    geometry_channels: SupportsIndex
    geometry_chips_per_channel: SupportsIndex
    geometry_dies_per_chip: SupportsIndex
    geometry_over_provisioning: SupportsFloat
    geometry_over_provisioning_base: Literal["raw", "logical"] | str
    geometry_page_size: str
    geometry_page_size_b: SupportsFloat
    geometry_page_size_gib: SupportsFloat
    geometry_page_size_kib: SupportsFloat
    geometry_page_size_mib: SupportsFloat
    geometry_pages_per_block: SupportsIndex
    geometry_plane_mode: Literal["lockstep", "independent"] | str
    geometry_planes_per_die: SupportsIndex
    growth_bound: SupportsFloat
    growth_mean: SupportsFloat
    growth_sd: SupportsFloat
    history: str
    history_ms: SupportsFloat
    history_ns: SupportsFloat
    history_s: SupportsFloat
    history_us: SupportsFloat
    host_bandwidth: str
    host_bandwidth_b_s: SupportsFloat
    host_bandwidth_mb_s: SupportsFloat
    host_bandwidth_mib_s: SupportsFloat
    host_command: str
    host_command_ms: SupportsFloat
    host_command_ns: SupportsFloat
    host_command_s: SupportsFloat
    host_command_us: SupportsFloat
    host_core_time: str
    host_core_time_ms: SupportsFloat
    host_core_time_ns: SupportsFloat
    host_core_time_s: SupportsFloat
    host_core_time_us: SupportsFloat
    host_cores: SupportsIndex
    host_duplex: Literal["full", "half"] | str
    host_latency: str
    host_latency_ms: SupportsFloat
    host_latency_ns: SupportsFloat
    host_latency_s: SupportsFloat
    host_latency_us: SupportsFloat
    hot_to_strong: bool
    hot_up_to: str
    hot_up_to_b: SupportsFloat
    hot_up_to_gib: SupportsFloat
    hot_up_to_kib: SupportsFloat
    hot_up_to_mib: SupportsFloat
    hotness: str | Sequence[str]
    hotness_hot_up_to: str
    hotness_hot_up_to_b: SupportsFloat
    hotness_hot_up_to_gib: SupportsFloat
    hotness_hot_up_to_kib: SupportsFloat
    hotness_hot_up_to_mib: SupportsFloat
    hotness_watermark: SupportsFloat
    idle_after: str
    idle_after_ms: SupportsFloat
    idle_after_ns: SupportsFloat
    idle_after_s: SupportsFloat
    idle_after_us: SupportsFloat
    inputs: str | Sequence[str]
    integrity: bool
    iterations: SupportsIndex
    keep_erased: SupportsIndex
    latency: str
    latency_ms: SupportsFloat
    latency_ns: SupportsFloat
    latency_s: SupportsFloat
    latency_us: SupportsFloat
    levels: SupportsIndex
    lifetime_cycles: SupportsFloat
    lifetime_dilation: SupportsIndex
    lifetime_history: str
    lifetime_history_ms: SupportsFloat
    lifetime_history_ns: SupportsFloat
    lifetime_history_s: SupportsFloat
    lifetime_history_us: SupportsFloat
    lifetime_miss: SupportsFloat
    lifetime_period: str
    lifetime_period_ms: SupportsFloat
    lifetime_period_ns: SupportsFloat
    lifetime_period_s: SupportsFloat
    lifetime_period_us: SupportsFloat
    lifetime_recovery: Literal["spread", "refit", "literal", "table"] | str
    lifetime_spare: SupportsFloat
    lifetime_streak: SupportsIndex
    lifetime_table_cycles: Sequence[SupportsFloat]
    lifetime_table_idle: Sequence[str]
    lifetime_target: str
    lifetime_target_ms: SupportsFloat
    lifetime_target_ns: SupportsFloat
    lifetime_target_s: SupportsFloat
    lifetime_target_us: SupportsFloat
    lifetime_window: str
    lifetime_window_ms: SupportsFloat
    lifetime_window_ns: SupportsFloat
    lifetime_window_s: SupportsFloat
    lifetime_window_us: SupportsFloat
    limit_growth: SupportsFloat
    mapping: Literal["pages", "superblocks"] | str
    margin: SupportsFloat
    max_reads: SupportsIndex
    max_suspends: SupportsIndex
    max_writes: SupportsIndex
    measure_every: str
    measure_every_ms: SupportsFloat
    measure_every_ns: SupportsFloat
    measure_every_s: SupportsFloat
    measure_every_us: SupportsFloat
    min_progress: str
    min_progress_ms: SupportsFloat
    min_progress_ns: SupportsFloat
    min_progress_s: SupportsFloat
    min_progress_us: SupportsFloat
    miss: SupportsFloat
    model: Literal["off", "analytic", "by_voltage", "table"] | str
    n_update: SupportsIndex
    oldest: str
    oldest_ms: SupportsFloat
    oldest_ns: SupportsFloat
    oldest_s: SupportsFloat
    oldest_us: SupportsFloat
    over_provisioning: SupportsFloat
    over_provisioning_base: Literal["raw", "logical"] | str
    pace: str
    pace_from: SupportsFloat
    pace_ms: SupportsFloat
    pace_ns: SupportsFloat
    pace_s: SupportsFloat
    pace_us: SupportsFloat
    page_size: str
    page_size_b: SupportsFloat
    page_size_gib: SupportsFloat
    page_size_kib: SupportsFloat
    page_size_mib: SupportsFloat
    pages_per_block: SupportsIndex
    parity: SupportsIndex
    parity_ahead: SupportsIndex
    parity_cache: str
    parity_cache_b: SupportsFloat
    parity_cache_gib: SupportsFloat
    parity_cache_kib: SupportsFloat
    parity_cache_mib: SupportsFloat
    partial_writes: Literal["read_modify_write", "overwrite"] | str
    pattern: Literal["sequential", "random", "steady", "rested"] | str
    placement: Literal["single_stream", "streams"] | str
    placement_dies: Literal["rotate", "by_address"] | str
    placement_hot_to_strong: bool
    placement_stripe_unit: SupportsIndex
    plane_mode: Literal["lockstep", "independent"] | str
    planes_per_die: SupportsIndex
    policy_die_order: Literal["fifo", "read_first", "rhio"] | str
    policy_die_order_deadline: str
    policy_die_order_deadline_ms: SupportsFloat
    policy_die_order_deadline_ns: SupportsFloat
    policy_die_order_deadline_s: SupportsFloat
    policy_die_order_deadline_us: SupportsFloat
    policy_hotness: str | Sequence[str]
    policy_hotness_hot_up_to: str
    policy_hotness_hot_up_to_b: SupportsFloat
    policy_hotness_hot_up_to_gib: SupportsFloat
    policy_hotness_hot_up_to_kib: SupportsFloat
    policy_hotness_hot_up_to_mib: SupportsFloat
    policy_hotness_watermark: SupportsFloat
    policy_placement: Literal["single_stream", "streams"] | str
    policy_placement_dies: Literal["rotate", "by_address"] | str
    policy_placement_hot_to_strong: bool
    policy_placement_stripe_unit: SupportsIndex
    policy_redundancy: Literal["none", "raid5", "ppc", "udl", "pe_aware", "hc", "da_raid5"] | str
    policy_redundancy_above_n_update: Literal["add", "replace"] | str
    policy_redundancy_all_above: SupportsIndex
    policy_redundancy_cache: Literal["protected", "volatile", "limited"] | str
    policy_redundancy_checks: Literal["none", "versions"] | str
    policy_redundancy_cut_off: SupportsIndex
    policy_redundancy_cut_programs: Literal["finished", "torn"] | str
    policy_redundancy_flush_at_end: bool
    policy_redundancy_flush_moved: bool
    policy_redundancy_integrity: bool
    policy_redundancy_limit_growth: SupportsFloat
    policy_redundancy_n_update: SupportsIndex
    policy_redundancy_parity_ahead: SupportsIndex
    policy_redundancy_parity_cache: str
    policy_redundancy_parity_cache_b: SupportsFloat
    policy_redundancy_parity_cache_gib: SupportsFloat
    policy_redundancy_parity_cache_kib: SupportsFloat
    policy_redundancy_parity_cache_mib: SupportsFloat
    policy_redundancy_reads: SupportsIndex
    policy_redundancy_rebuild_at_once: SupportsIndex
    policy_redundancy_rebuild_rate: str
    policy_redundancy_rebuild_rate_b_s: SupportsFloat
    policy_redundancy_rebuild_rate_mb_s: SupportsFloat
    policy_redundancy_rebuild_rate_mib_s: SupportsFloat
    policy_redundancy_retention: str
    policy_redundancy_retention_ms: SupportsFloat
    policy_redundancy_retention_ns: SupportsFloat
    policy_redundancy_retention_s: SupportsFloat
    policy_redundancy_retention_us: SupportsFloat
    policy_redundancy_saved: SupportsIndex
    policy_redundancy_stripe: SupportsIndex
    policy_redundancy_update_order: Literal["program_first", "read_first"] | str
    policy_redundancy_word_line: SupportsIndex
    policy_redundancy_worn_above: SupportsIndex
    policy_redundancy_worn_erase_pulse: str
    policy_redundancy_worn_erase_pulse_ms: SupportsFloat
    policy_redundancy_worn_erase_pulse_ns: SupportsFloat
    policy_redundancy_worn_erase_pulse_s: SupportsFloat
    policy_redundancy_worn_erase_pulse_us: SupportsFloat
    policy_replacement: Literal["clean_first", "lru", "cflru"] | str
    policy_replacement_window: SupportsIndex
    policy_scrub: Literal["off", "patrol"] | str
    policy_scrub_margin: SupportsFloat
    policy_scrub_period: str
    policy_scrub_period_ms: SupportsFloat
    policy_scrub_period_ns: SupportsFloat
    policy_scrub_period_s: SupportsFloat
    policy_scrub_period_us: SupportsFloat
    policy_scrub_stripes: bool
    policy_sensing: Literal["worst_case", "model", "retry"] | str
    policy_sensing_inputs: str | Sequence[str]
    policy_step: Literal["nominal", "by_strength"] | str
    policy_suspension: Literal["never", "ips", "ipc"] | str
    policy_suspension_cancelled_program: Literal["redo", "reached"] | str
    policy_suspension_delay: str
    policy_suspension_delay_ms: SupportsFloat
    policy_suspension_delay_ns: SupportsFloat
    policy_suspension_delay_s: SupportsFloat
    policy_suspension_delay_us: SupportsFloat
    policy_suspension_max_suspends: SupportsIndex
    policy_suspension_min_progress: str
    policy_suspension_min_progress_ms: SupportsFloat
    policy_suspension_min_progress_ns: SupportsFloat
    policy_suspension_min_progress_s: SupportsFloat
    policy_suspension_min_progress_us: SupportsFloat
    policy_suspension_reads: Literal["host", "all"] | str
    policy_suspension_reload: Literal["abort", "finish"] | str
    policy_suspension_shadow_buffer: bool
    policy_throttle: Literal["off", "fixed_rate", "dynamic", "ready"] | str
    policy_throttle_enforcement: Literal["pessimistic", "optimistic"] | str
    policy_throttle_epoch: Literal["auto", "fixed"] | str
    policy_throttle_epoch_length: str
    policy_throttle_epoch_length_ms: SupportsFloat
    policy_throttle_epoch_length_ns: SupportsFloat
    policy_throttle_epoch_length_s: SupportsFloat
    policy_throttle_epoch_length_us: SupportsFloat
    policy_victim: Literal["greedy", "fifo", "d_choices", "cost_benefit"] | str
    policy_victim_d: SupportsIndex
    policy_voltage: Literal["nominal", "high", "low", "by_hotness"] | str
    policy_wear: Literal["off", "hot_cold_swap"] | str
    policy_wear_threshold: SupportsIndex
    precondition_access_class: Literal["mixed", "read_hot", "write_hot"] | str
    precondition_fill: SupportsFloat
    precondition_pattern: Literal["sequential", "random", "steady", "rested"] | str
    precondition_warm_up: SupportsIndex
    program_erase: Literal["nominal", "read", "zero"] | str
    program_iterations: SupportsIndex | Sequence[SupportsIndex]
    program_passes: SupportsIndex
    program_phase: str
    program_phase_ms: SupportsFloat
    program_phase_ns: SupportsFloat
    program_phase_s: SupportsFloat
    program_phase_us: SupportsFloat
    programmed_1: SupportsFloat
    programmed_2: SupportsFloat
    programmed_3: SupportsFloat
    queue_admission: Literal["reads_pass", "in_order", "shared"] | str
    queue_arbitration: Literal["arrival", "round_robin", "weighted"] | str
    queue_max_reads: SupportsIndex
    queue_max_writes: SupportsIndex
    queue_reads_behind: SupportsIndex
    queue_taken: SupportsIndex
    queue_weights: str
    rates: Sequence[Sequence[SupportsFloat]]
    rber_unworn: SupportsFloat
    read: str | Sequence[str]
    read_hot: Literal["on_dirty", "on_evict", "rewrite_on_idle"] | str
    read_ms: SupportsFloat | Sequence[SupportsFloat]
    read_ns: SupportsFloat | Sequence[SupportsFloat]
    read_s: SupportsFloat | Sequence[SupportsFloat]
    read_time: str
    read_time_ms: SupportsFloat
    read_time_ns: SupportsFloat
    read_time_s: SupportsFloat
    read_time_us: SupportsFloat
    read_us: SupportsFloat | Sequence[SupportsFloat]
    reads_behind: SupportsIndex
    rebuild_at_once: SupportsIndex
    rebuild_rate: str
    rebuild_rate_b_s: SupportsFloat
    rebuild_rate_mb_s: SupportsFloat
    rebuild_rate_mib_s: SupportsFloat
    recovery: Literal["spread", "refit", "literal", "table"] | str
    redundancy: Literal["none", "raid5", "ppc", "udl", "pe_aware", "hc", "da_raid5"] | str
    redundancy_above_n_update: Literal["add", "replace"] | str
    redundancy_all_above: SupportsIndex
    redundancy_cache: Literal["protected", "volatile", "limited"] | str
    redundancy_checks: Literal["none", "versions"] | str
    redundancy_cut_off: SupportsIndex
    redundancy_cut_programs: Literal["finished", "torn"] | str
    redundancy_flush_at_end: bool
    redundancy_flush_moved: bool
    redundancy_integrity: bool
    redundancy_limit_growth: SupportsFloat
    redundancy_n_update: SupportsIndex
    redundancy_parity_ahead: SupportsIndex
    redundancy_parity_cache: str
    redundancy_parity_cache_b: SupportsFloat
    redundancy_parity_cache_gib: SupportsFloat
    redundancy_parity_cache_kib: SupportsFloat
    redundancy_parity_cache_mib: SupportsFloat
    redundancy_reads: SupportsIndex
    redundancy_rebuild_at_once: SupportsIndex
    redundancy_rebuild_rate: str
    redundancy_rebuild_rate_b_s: SupportsFloat
    redundancy_rebuild_rate_mb_s: SupportsFloat
    redundancy_rebuild_rate_mib_s: SupportsFloat
    redundancy_retention: str
    redundancy_retention_ms: SupportsFloat
    redundancy_retention_ns: SupportsFloat
    redundancy_retention_s: SupportsFloat
    redundancy_retention_us: SupportsFloat
    redundancy_saved: SupportsIndex
    redundancy_stripe: SupportsIndex
    redundancy_update_order: Literal["program_first", "read_first"] | str
    redundancy_word_line: SupportsIndex
    redundancy_worn_above: SupportsIndex
    redundancy_worn_erase_pulse: str
    redundancy_worn_erase_pulse_ms: SupportsFloat
    redundancy_worn_erase_pulse_ns: SupportsFloat
    redundancy_worn_erase_pulse_s: SupportsFloat
    redundancy_worn_erase_pulse_us: SupportsFloat
    refresh_above: SupportsIndex
    reliability_cells_correctable_21: SupportsFloat
    reliability_cells_correctable_3: SupportsFloat
    reliability_cells_correctable_9: SupportsFloat
    reliability_cells_disturb_cycles: SupportsFloat
    reliability_cells_disturb_power: SupportsFloat
    reliability_cells_disturb_slope: SupportsFloat
    reliability_cells_end_age: SupportsFloat
    reliability_cells_end_cycles: SupportsFloat
    reliability_cells_end_reads: SupportsFloat
    reliability_cells_erased: SupportsFloat
    reliability_cells_erased_sd: SupportsFloat
    reliability_cells_growth_bound: SupportsFloat
    reliability_cells_growth_mean: SupportsFloat
    reliability_cells_growth_sd: SupportsFloat
    reliability_cells_programmed_1: SupportsFloat
    reliability_cells_programmed_2: SupportsFloat
    reliability_cells_programmed_3: SupportsFloat
    reliability_cells_rber_unworn: SupportsFloat
    reliability_cells_retention_charge: SupportsFloat
    reliability_cells_retention_onset: SupportsFloat
    reliability_cells_retention_shift: SupportsFloat
    reliability_cells_retention_shift_power: SupportsFloat
    reliability_cells_retention_spread: SupportsFloat
    reliability_cells_retention_spread_power: SupportsFloat
    reliability_cells_step: SupportsFloat
    reliability_cycles: SupportsIndex
    reliability_cycles_spread: SupportsIndex
    reliability_levels: SupportsIndex
    reliability_measure_every: str
    reliability_measure_every_ms: SupportsFloat
    reliability_measure_every_ns: SupportsFloat
    reliability_measure_every_s: SupportsFloat
    reliability_measure_every_us: SupportsFloat
    reliability_model: Literal["off", "analytic", "by_voltage", "table"] | str
    reliability_oldest: str
    reliability_oldest_ms: SupportsFloat
    reliability_oldest_ns: SupportsFloat
    reliability_oldest_s: SupportsFloat
    reliability_oldest_us: SupportsFloat
    reliability_retry: Literal["whole", "increment"] | str
    reliability_risk: SupportsFloat
    reliability_strength: Literal["oracle", "measured"] | str
    reliability_table_ages: Sequence[str]
    reliability_table_cycles: Sequence[SupportsFloat]
    reliability_table_rates: Sequence[Sequence[SupportsFloat]]
    reliability_uber: SupportsFloat
    reload: Literal["abort", "finish"] | str
    replacement: Literal["clean_first", "lru", "cflru"] | str
    replacement_window: SupportsIndex
    retention: str
    retention_charge: SupportsFloat
    retention_ms: SupportsFloat
    retention_ns: SupportsFloat
    retention_onset: SupportsFloat
    retention_s: SupportsFloat
    retention_shift: SupportsFloat
    retention_shift_power: SupportsFloat
    retention_spread: SupportsFloat
    retention_spread_power: SupportsFloat
    retention_us: SupportsFloat
    retry_entries: SupportsIndex
    retry_overhead: str
    retry_overhead_ms: SupportsFloat
    retry_overhead_ns: SupportsFloat
    retry_overhead_s: SupportsFloat
    retry_overhead_us: SupportsFloat
    retry_shift: SupportsFloat
    rewrite_share: SupportsFloat
    risk: SupportsFloat
    saved: SupportsIndex
    scrub: Literal["off", "patrol"] | str
    scrub_margin: SupportsFloat
    scrub_period: str
    scrub_period_ms: SupportsFloat
    scrub_period_ns: SupportsFloat
    scrub_period_s: SupportsFloat
    scrub_period_us: SupportsFloat
    scrub_stripes: bool
    sensing: Literal["worst_case", "model", "retry"] | str
    sensing_inputs: str | Sequence[str]
    shadow_buffer: bool
    shape: SupportsFloat
    share: SupportsFloat
    size: str
    size_b: SupportsFloat
    size_gib: SupportsFloat
    size_kib: SupportsFloat
    size_mib: SupportsFloat
    slc_dynamic: SupportsIndex
    slc_fold_after: str
    slc_fold_after_ms: SupportsFloat
    slc_fold_after_ns: SupportsFloat
    slc_fold_after_s: SupportsFloat
    slc_fold_after_us: SupportsFloat
    slc_iterations: SupportsIndex
    slc_keep_erased: SupportsIndex
    slc_read_time: str
    slc_read_time_ms: SupportsFloat
    slc_read_time_ns: SupportsFloat
    slc_read_time_s: SupportsFloat
    slc_read_time_us: SupportsFloat
    slc_static: SupportsIndex
    slc_when_full: Literal["direct", "wait"] | str
    static: SupportsIndex
    step_share: SupportsFloat
    streak: SupportsIndex
    strength: Literal["oracle", "measured"] | str
    stripe: SupportsIndex
    stripe_unit: SupportsIndex
    stripes: bool
    superblocks_parity: SupportsIndex
    superblocks_unit: str
    superblocks_unit_b: SupportsFloat
    superblocks_unit_gib: SupportsFloat
    superblocks_unit_kib: SupportsFloat
    superblocks_unit_mib: SupportsFloat
    superblocks_word_line: SupportsIndex
    suspension: Literal["never", "ips", "ipc"] | str
    suspension_cancelled_program: Literal["redo", "reached"] | str
    suspension_delay: str
    suspension_delay_ms: SupportsFloat
    suspension_delay_ns: SupportsFloat
    suspension_delay_s: SupportsFloat
    suspension_delay_us: SupportsFloat
    suspension_max_suspends: SupportsIndex
    suspension_min_progress: str
    suspension_min_progress_ms: SupportsFloat
    suspension_min_progress_ns: SupportsFloat
    suspension_min_progress_s: SupportsFloat
    suspension_min_progress_us: SupportsFloat
    suspension_reads: Literal["host", "all"] | str
    suspension_reload: Literal["abort", "finish"] | str
    suspension_shadow_buffer: bool
    taken: SupportsIndex
    target: str
    target_ms: SupportsFloat
    target_ns: SupportsFloat
    target_s: SupportsFloat
    target_us: SupportsFloat
    threshold: SupportsIndex
    throttle: Literal["off", "fixed_rate", "dynamic", "ready"] | str
    throttle_enforcement: Literal["pessimistic", "optimistic"] | str
    throttle_epoch: Literal["auto", "fixed"] | str
    throttle_epoch_length: str
    throttle_epoch_length_ms: SupportsFloat
    throttle_epoch_length_ns: SupportsFloat
    throttle_epoch_length_s: SupportsFloat
    throttle_epoch_length_us: SupportsFloat
    timing_buffer_load: str
    timing_buffer_load_ms: SupportsFloat
    timing_buffer_load_ns: SupportsFloat
    timing_buffer_load_s: SupportsFloat
    timing_buffer_load_us: SupportsFloat
    timing_bus_transfer: str
    timing_bus_transfer_ms: SupportsFloat
    timing_bus_transfer_ns: SupportsFloat
    timing_bus_transfer_s: SupportsFloat
    timing_bus_transfer_us: SupportsFloat
    timing_erase_pulse: str
    timing_erase_pulse_ms: SupportsFloat
    timing_erase_pulse_ns: SupportsFloat
    timing_erase_pulse_s: SupportsFloat
    timing_erase_pulse_us: SupportsFloat
    timing_erase_verify: str
    timing_erase_verify_ms: SupportsFloat
    timing_erase_verify_ns: SupportsFloat
    timing_erase_verify_s: SupportsFloat
    timing_erase_verify_us: SupportsFloat
    timing_program_erase: Literal["nominal", "read", "zero"] | str
    timing_program_iterations: SupportsIndex | Sequence[SupportsIndex]
    timing_program_phase: str
    timing_program_phase_ms: SupportsFloat
    timing_program_phase_ns: SupportsFloat
    timing_program_phase_s: SupportsFloat
    timing_program_phase_us: SupportsFloat
    timing_read: str | Sequence[str]
    timing_read_ms: SupportsFloat | Sequence[SupportsFloat]
    timing_read_ns: SupportsFloat | Sequence[SupportsFloat]
    timing_read_s: SupportsFloat | Sequence[SupportsFloat]
    timing_read_us: SupportsFloat | Sequence[SupportsFloat]
    timing_verify_phase: str
    timing_verify_phase_ms: SupportsFloat
    timing_verify_phase_ns: SupportsFloat
    timing_verify_phase_s: SupportsFloat
    timing_verify_phase_us: SupportsFloat
    timing_voltage_reset: str
    timing_voltage_reset_ms: SupportsFloat
    timing_voltage_reset_ns: SupportsFloat
    timing_voltage_reset_s: SupportsFloat
    timing_voltage_reset_us: SupportsFloat
    tracking: Literal["off", "superblock"] | str
    uber: SupportsFloat
    unit: str
    unit_b: SupportsFloat
    unit_gib: SupportsFloat
    unit_kib: SupportsFloat
    unit_mib: SupportsFloat
    unwritten_reads: Literal["preconditioned", "zero", "error"] | str
    update_order: Literal["program_first", "read_first"] | str
    verify_phase: str
    verify_phase_ms: SupportsFloat
    verify_phase_ns: SupportsFloat
    verify_phase_s: SupportsFloat
    verify_phase_us: SupportsFloat
    victim: Literal["greedy", "fifo", "d_choices", "cost_benefit"] | str
    victim_d: SupportsIndex
    voltage: Literal["nominal", "high", "low", "by_hotness"] | str
    voltage_reset: str
    voltage_reset_ms: SupportsFloat
    voltage_reset_ns: SupportsFloat
    voltage_reset_s: SupportsFloat
    voltage_reset_us: SupportsFloat
    voltage_window: SupportsFloat
    warm_up: SupportsIndex
    watermark: SupportsFloat
    wear: Literal["off", "hot_cold_swap"] | str
    wear_threshold: SupportsIndex
    weights: str
    when_full: Literal["direct", "wait"] | str
    window_ms: SupportsFloat
    window_ns: SupportsFloat
    window_s: SupportsFloat
    window_us: SupportsFloat
    worn_above: SupportsIndex
    worn_erase_pulse: str
    worn_erase_pulse_ms: SupportsFloat
    worn_erase_pulse_ns: SupportsFloat
    worn_erase_pulse_s: SupportsFloat
    worn_erase_pulse_us: SupportsFloat


class DriveKeys(Keys, total=False):
    """The keywords of drives."""

    dilation: SupportsIndex
    idle: Sequence[str]
    queue_depth: SupportsIndex
    retry: Literal["whole", "increment"] | str
    seed: SupportsIndex


class Keywords(Source, Keys, total=False):
    """The keywords of runs, lives and sweeps: those of traces, and configuration keys."""
