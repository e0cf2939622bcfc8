import Foundation
import Persist

/// Eight programs that change the same objects for a while, each three of them in a save. No update may be lost, and no
/// two saves may wait for each other.
enum Writers {
  private static let schema = "benchmark_writers"
  private static let programs = 8
  private static let objects = 40

  /// Starts the programs and compares what they saved with what is stored.
  ///
  /// - Returns: The outcome in a sentence.
  static func run(_ url: String, seconds: Double) throws -> String {
    let admin = try PlainConnection(url)
    try admin.run([("DROP SCHEMA IF EXISTS \(schema) CASCADE", [])])
    let context = try Sample.context(url, schema: schema)
    for row in Sample.rows(objects) {
      let item = Item(context: context)
      item.take(row)
      item.quantity = 0
    }
    try context.save()
    let deadlocks = try deadlockCount(admin)
    let children = try (0..<programs).map { _ in
      let (process, output) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      process.arguments = [url, "writer", "\(seconds)"]
      process.standardOutput = output
      try process.run()
      return (process: process, output: output)
    }
    var (saves, conflicts) = (0, 0)
    for child in children {
      let text = String(decoding: child.output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      child.process.waitUntilExit()
      let numbers = text.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }
      guard child.process.terminationStatus == 0, numbers.count == 2 else {
        throw BenchmarkError("A writing program failed: \(text)")
      }
      saves += numbers[0]
      conflicts += numbers[1]
    }
    let items = try Sample.context(url, schema: schema).fetch(FetchRequest<Item>("Item"))
    let stored = items.reduce(0) { $0 + $1.quantity }
    guard stored == Int64(3 * saves) else {
      throw BenchmarkError("\(3 * saves) updates were saved, and \(stored) are stored.")
    }
    let found = try deadlockCount(admin) - deadlocks
    guard found == 0 else { throw BenchmarkError("There were \(found) deadlocks.") }
    try admin.run([("DROP SCHEMA \(schema) CASCADE", [])])
    return "\(programs) programs changed 3 of \(objects) objects in each save for \(Int(seconds)) seconds: "
      + "\(saves) saves, \(conflicts) conflicts that were tried again, no deadlock, no lost update."
  }

  private static func deadlockCount(_ connection: PlainConnection) throws -> Int64 {
    let rows = try connection.run([("SELECT coalesce(sum(deadlocks), 0)::bigint FROM pg_stat_database", [])])
    return rows.first?.integer(0, 0) ?? 0
  }

  /// One of the programs; it writes the numbers of its saves and of its conflicts.
  static func write(_ url: String, seconds: Double) throws {
    let coordinator = try Sample.context(url, schema: schema).persistentStoreCoordinator
    let deadline = ContinuousClock.now + .seconds(seconds)
    var (saves, conflicts) = (0, 0)
    while ContinuousClock.now < deadline {
      let context = ManagedObjectContext(coordinator, classes: ["Item": Item.self, "Group": Group.self])
      let names = Set((0..<objects).shuffled().prefix(3).map { "Item \($0)" })
      var request = FetchRequest<Item>("Item")
      request.predicate = try FetchPredicate("name IN %@", Array(names))
      for item in try context.fetch(request) { item.quantity += 1 }
      do {
        try context.save()
        saves += 1
      } catch let error as PersistenceError where error.code == .mergeConflict {
        conflicts += 1
      }
    }
    print("\(saves) \(conflicts)")
  }
}
