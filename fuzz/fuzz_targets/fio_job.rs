#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    (fowler_decoders::target("fio_job").check)(input);
});
