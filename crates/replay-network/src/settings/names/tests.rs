use super::*;
use proptest::prelude::*;

#[test]
fn parses_presets_with_parameters() {
    let parse = |text: &str| text.parse::<Settings>();
    assert_eq!(parse("lo"), Ok(Settings::LO));
    assert_eq!(parse("bani-mohammad[route=2]").map(|s| s.route), Ok(2));
    for bad in
        ["la", "lo[depth=0]", "lo[link=0]", "lo[flow=free]", "lo[speed=1]", "lo[route=70000]"]
    {
        assert!(parse(bad).is_err(), "{bad}");
    }
    assert_eq!(
        parse("lo[depth=0]").map_err(|e| e.to_string()),
        Err("network \"lo[depth=0]\": depth=\"0\" is not an integer from 1 to 65536".to_string())
    );
}

/// Settings that are built in code are checked against the same ranges as parsed settings.
#[test]
fn settings_out_of_range_are_refused() {
    assert!(Settings::LO.validate().is_ok() && Settings::BANI_MOHAMMAD.validate().is_ok());
    let error = Settings { link: 0, ..Settings::LO }.validate().map_err(|e| e.to_string());
    let problem = "network \"lo[link=0]\": link=\"0\" is not an integer from 1 to 65536";
    assert_eq!(error, Err(problem.to_string()));
}

#[test]
fn settings_survive_json() {
    let text = serde_json::to_string(&Settings::LO).expect("JSON");
    assert!(text.contains("\"release-injection\":0,\"depth\":1,\"flow\":\"handshake\""), "{text}");
    assert_eq!(serde_json::from_str::<Settings>(&text).ok(), Some(Settings::LO));
}

proptest! {
    #[test]
    fn print_and_parse_are_inverse(
        times in proptest::array::uniform6(1u32..9), depth in 1u32..9,
        flow in proptest::sample::select(&FLOWS), switching in proptest::sample::select(&SWITCHINGS),
    ) {
        let [route, inject, link, eject, release, release_injection] = times;
        let settings = Settings {
            route, inject, link, eject, release, release_injection, depth,
            flow: flow.1, switching: switching.1,
        };
        prop_assert_eq!(settings.to_string().parse::<Settings>(), Ok(settings));
    }
}
