import Foundation
import Persist
import PersistDocuments
import PersistTestSupport
import Testing

@Suite("Documents of killed programs", .timeLimit(.minutes(5)), .onOwnThread)
struct DocumentKillTests {
  @Test(
    "A program killed while it writes leaves the old document or the new one",
    .law("killed documents", short: 6, long: 200))
  func kills() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let kind = DocumentKind.allCases[Int(seed % 2)]
      try withTemporaryFolder { folder in
        let url = folder.appendingPathComponent("Rounds.\(kind.rawValue)")
        var last: Int64 = 0
        for _ in 0..<3 {
          let reported = try lastRound(of: url, kind, killedAfter: Int.random(in: 1...5, using: &random), &random)
          let document = try #require(try kind.store(url).load())
          let rounds = Set(document.objects.map { $0.values["round"] ?? .null })
          #expect(document.objects.count == 20)
          #expect(rounds.count == 1)
          guard case .integer(let round)? = rounds.first else { return }
          // The process may have been killed before it reported a round that it had saved.
          #expect(round >= reported && round >= last)
          last = round
        }
      }
    }
  }

  /// Runs the program until it has reported some rounds and a moment longer, and returns the last round it reported.
  private func lastRound(
    of url: URL, _ kind: DocumentKind, killedAfter count: Int, _ random: inout SeededRandom
  ) throws -> Int64 {
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("DocumentRunner")
    process.arguments = [url.path, kind.rawValue]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = ""
    while text.filter({ $0 == "\n" }).count < count {
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { break }
      text += String(decoding: data, as: UTF8.self)
    }
    usleep(UInt32.random(in: 0..<20_000, using: &random))
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    return Int64(text.split(separator: "\n").last ?? "") ?? 0
  }
}
