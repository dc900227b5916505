#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    (fowler_decoders::target("sealed_file").check)(input);
});
