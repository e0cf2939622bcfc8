import Foundation

/// The files that a run of a law leaves for `Scripts/campaign`, in the folder named by `PERSIST_CAMPAIGN`.
///
/// While the law runs, a file `NAME.UUID.running` contains the current seed, so that a seed that ends the whole program
/// is known. Afterward, `NAME.UUID.done` contains the number of inputs, seconds, the failed seeds, and the first and the
/// last seed, separated by tabs.
struct CampaignLog: Sendable {
  private let running: URL
  private let done: URL
  private let handle: FileHandle

  init?(law: String, environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard let path = environment["PERSIST_CAMPAIGN"] else { return nil }
    let file = URL(fileURLWithPath: path).appendingPathComponent("\(law).\(UUID().uuidString)")
    running = file.appendingPathExtension("running")
    done = file.appendingPathExtension("done")
    guard FileManager.default.createFile(atPath: running.path, contents: nil),
      let handle = try? FileHandle(forWritingTo: running)
    else { return nil }
    self.handle = handle
  }

  func begin(_ seed: UInt64) {
    try? handle.seek(toOffset: 0)
    // All have the same width, so that a shorter one completely replaces a longer one.
    let digits = String(seed)
    try? handle.write(contentsOf: Data((String(repeating: "0", count: 20 - digits.count) + digits).utf8))
  }

  func finish(inputs: Int, seconds: Double, failures: [UInt64], seeds: ClosedRange<UInt64>?) {
    try? handle.close()
    let failures = failures.map(String.init).joined(separator: ",")
    let range = seeds.map { "\($0.lowerBound)\t\($0.upperBound)" } ?? "\t"
    try? Data("\(inputs)\t\(Int(seconds))\t\(failures)\t\(range)\n".utf8).write(to: done)
    try? FileManager.default.removeItem(at: running)
  }
}
