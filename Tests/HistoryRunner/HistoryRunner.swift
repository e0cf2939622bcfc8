import Foundation
import Persist
import PersistTestSupport

/// Another process that writes a store or follows its history, to be killed at any moment.
///
/// - `HistoryRunner FILE write NAME SEED STOP` writes at random until there is a file STOP.
/// - `HistoryRunner FILE follow STATE STOP` follows the store's history until there is a file STOP, and then to its end.
/// - `HistoryRunner FILE send COUNT` saves the time so many times, and pauses in between.
@main
struct HistoryRunner {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 3 else { exit(2) }
    let store = storeURL(ofArgument: arguments[1])
    switch (arguments[2], arguments.count) {
    case ("write", 6): try write(store, arguments[3], UInt64(arguments[4]) ?? 0, until: arguments[5])
    case ("follow", 5): try await follow(store, URL(fileURLWithPath: arguments[3]), until: arguments[4])
    case ("send", 4): try send(store, count: Int(arguments[3]) ?? 0)
    default: exit(2)
    }
  }

  private static func write(_ store: URL, _ name: String, _ seed: UInt64, until stop: String) throws {
    var writer = try StoreWriter(store, name: name, seed: seed)
    while !FileManager.default.fileExists(atPath: stop) {
      do { try writer.write() } catch let error as PersistenceError {
        // Objects that others have deleted meanwhile can't be saved; everything else is a fault.
        guard [.objectNotFound, .mergeConflict].contains(error.code) else { throw error }
      }
      Thread.sleep(forTimeInterval: 0.002)
    }
  }

  private static func follow(_ store: URL, _ file: URL, until stop: String) async throws {
    var follower = try StoreFollower(store, file: file)
    let changes = follower.changes
    try follower.follow()
    let stopping = Task {
      while !FileManager.default.fileExists(atPath: stop) { try? await Task.sleep(for: .milliseconds(20)) }
    }
    var isStopped = false
    while !isStopped {
      // Whichever comes first: a change, or the end.
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for await _ in changes { return } }
        group.addTask {
          _ = await stopping.value
        }
        await group.next()
        group.cancelAll()
      }
      isStopped = FileManager.default.fileExists(atPath: stop)
      try follower.follow()
    }
  }

  private static func send(_ store: URL, count: Int) throws {
    let context = ManagedObjectContext(try FollowedStore.open(store))
    for _ in 0..<count {
      Thread.sleep(forTimeInterval: 0.04)
      ManagedObject(entity: "Item", context: context)["number"] = Date().timeIntervalSinceReferenceDate
      try context.save()
    }
  }
}
