import Foundation

/// One run of the program, with its options.
struct SyncBenchmarkRun: Sendable {
  private let options: [String: String]
  private let items: Int
  private let changes: Int
  private let rounds: Int
  private let identification: SyncSample.Identification

  init(_ options: [String: String]) {
    self.options = options
    items = options["items"].flatMap { Int($0) } ?? 100_000
    changes = options["changes"].flatMap { Int($0) } ?? min(10_000, items)
    rounds = options["rounds"].flatMap { Int($0) } ?? 3
    identification = options["identified-by"].flatMap(SyncSample.Identification.init) ?? .value
  }

  func run() async throws {
    if let step = options["step"] { try await run(step) } else { try await measureAll() }
  }

  private func contest(in folder: URL, items: Int, changes: Int) -> SyncContest {
    SyncContest(folder: folder, items: items, changes: changes, rounds: rounds, identification: identification)
  }

  private func run(_ step: String) async throws {
    let folder = URL(fileURLWithPath: options["folder"] ?? ".")
    let contest = self.contest(in: folder, items: items, changes: changes)
    switch step {
    case "fill": try contest.fill()
    case "begin": try await contest.begin()
    case "arrive": try await contest.arrive()
    case "change":
      let spread = options["spread"].flatMap(SyncSample.Spread.init) ?? .together
      try contest.change(spread, round: Int(Date().timeIntervalSince1970))
    case "send": try await contest.synchronize("one")
    case "apply": try await contest.synchronize("two")
    default: throw SyncBenchmarkError("There is no step '\(step)'.")
    }
  }

  private func measureAll() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sync-benchmarks-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    func contest(_ name: String, items: Int, changes: Int) throws -> SyncContest {
      let place = folder.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      return self.contest(in: place, items: items, changes: changes)
    }
    let main = try contest("main", items: items, changes: changes)
    try await main.measureArrival()
    for spread in [SyncSample.Spread.together, .apart] { try await main.measureChanges(spread) }
    try await main.measureIdle()
    try? FileManager.default.removeItem(at: main.folder)
    SyncTable.show(
      """

      | items | changed values | sending, ms | processor, ms | applying, ms | processor, ms |
      |---:|---:|---:|---:|---:|---:|
      """)
    for (size, count) in [(items / 10, changes / 10), (items, changes / 10), (items, changes)] {
      try await contest("growth \(size) \(count)", items: size, changes: count).measureGrowth()
    }
  }
}
