import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel
@testable import PersistCommand

@Suite("Output for people")
struct TerminalStyleTests {
  @Test(
    "Durations have two or three digits",
    arguments: [
      (0, "0 ms"), (0.00042, "0.4 ms"), (0.0731, "73 ms"), (0.9996, "1 s"), (2.44, "2.4 s"), (9.96, "10 s"),
      (59.4, "59 s"), (59.6, "1 min"), (185, "3 min 5 s"), (3599.7, "1 h"), (7800, "2 h 10 min"), (-1, "0 ms"),
      (1e300, "1000000000000000 days"),
    ] as [(Double, String)])
  func durations(_ seconds: Double, _ text: String) { #expect(Measure.duration(seconds: seconds) == text) }

  @Test(
    "Sizes have two or three digits",
    arguments: [
      (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1 KB"), (4200, "4.2 KB"), (122_880, "123 KB"),
      (999_600, "1 MB"), (3_400_000_000, "3.4 GB"), (Int.max, "9.2 EB"),
    ])
  func sizes(_ count: Int, _ text: String) { #expect(Measure.bytes(count) == text) }

  @Test("Colors are shown on a terminal only, and not if NO_COLOR is set")
  func colors() {
    #expect(TerminalStyle.areShown(isTerminal: true, environment: ["TERM": "xterm"]))
    #expect(TerminalStyle.areShown(isTerminal: true, environment: ["NO_COLOR": ""]))
    #expect(!TerminalStyle.areShown(isTerminal: true, environment: ["NO_COLOR": "1"]))
    #expect(!TerminalStyle.areShown(isTerminal: true, environment: ["TERM": "dumb"]))
    #expect(!TerminalStyle.areShown(isTerminal: false, environment: [:]))
    let plan = "A → B: in place\n  1 rows\nlost:\n  x"
    #expect(TerminalStyle.plan(plan, isShown: false) == plan)
    #expect(TerminalStyle.plan(plan, isShown: true).contains("\u{1B}[1;31mlost:\u{1B}[0m\n  x"))
  }

  @Test("Output that isn't on a terminal has no colors")
  func files() throws {
    let outcome = try Command.run("inspect", "/nowhere/at/all", "--json")
    #expect(!(outcome.output + outcome.messages).contains("\u{1B}"))
  }

  @Test("Paths are links on terminals that are known to show them, and not if NO_COLOR is set")
  func links() {
    for environment in [["TERM_PROGRAM": "iTerm.app"], ["VTE_VERSION": "6003"], ["KITTY_WINDOW_ID": "1"]] {
      #expect(TerminalLink.areShown(isTerminal: true, environment: environment))
      #expect(!TerminalLink.areShown(isTerminal: false, environment: environment))
      #expect(!TerminalLink.areShown(isTerminal: true, environment: environment.merging(["NO_COLOR": "1"]) { $1 }))
    }
    for environment in [[:], ["TERM_PROGRAM": "Apple_Terminal"], ["VTE_VERSION": "4600"], ["TERM": "dumb"]] {
      #expect(!TerminalLink.areShown(isTerminal: true, environment: environment))
    }
    let file = URL(fileURLWithPath: "/tmp/a b.sqlite")
    #expect(TerminalLink.path(file, isShown: false) == "/tmp/a b.sqlite")
    #expect(
      TerminalLink.path(file, isShown: true)
        == "\u{1B}]8;;file:///tmp/a%20b.sqlite\u{1B}\\/tmp/a b.sqlite\u{1B}]8;;\u{1B}\\")
  }
}
