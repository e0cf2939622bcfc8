import ArgumentParser
import Foundation
import Persist
import PersistSync

/// `persist sync`: sends the changes of a store to a hub, and applies those of other replicas.
struct SyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Synchronize a store with others through a hub.",
    discussion: """
      The hub is a folder that all replicas reach, a store, or a server. The store gets a history if it has none. \
      Other programs may have it open; change sets that can't be read are named, and tried again next time.

        persist sync Notes.sqlite /mnt/shared/notes --identify Note=id --watch
        persist sync Notes.sqlite https://notes.example/sync --identify Note=id
      """)

  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var store: String

  @OptionGroup var hub: HubArguments

  @Option(help: "A folder with models, or one model; by default the store's embedded model is used.")
  var models: String?

  @Option(
    help: ArgumentHelp(
      "An attribute that identifies the objects of an entity, as the program that uses the store names it.",
      valueName: "entity=attribute"))
  var identify: [String] = []

  @Flag(help: "Continue until the program is stopped.")
  var watch = false

  @Option(help: ArgumentHelp("The pause between two synchronizations with --watch.", valueName: "seconds"))
  var interval = 5.0

  @Flag(
    help: ArgumentHelp(
      "Send a snapshot of the whole store, and delete what it replaces.",
      discussion: """
        For another hub than before, and for one that was put back to an earlier state. Replicas that haven't \
        synchronized for 90 days aren't waited for.
        """))
  var snapshot = false

  @OptionGroup var common: OutputArguments

  func validate() throws {
    _ = try identifiers()
    guard interval >= 0.1, interval <= 86_400 else {
      throw ValidationError("--interval takes a number of seconds from 0.1 to 86400.")
    }
  }

  private func identifiers() throws -> [String: String] {
    var identifiers: [String: String] = [:]
    for text in identify {
      let parts = text.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
        throw ValidationError("--identify takes an entity and an attribute, such as Note=id, not '\(text)'.")
      }
      identifiers[String(parts[0])] = String(parts[1])
    }
    return identifiers
  }

  func run() throws {
    let registry = try models.map(ModelRegistry.forStores(at:))
    let coordinator = try StoreArgument.coordinator(StoreArgument.url(store), registry)
    let replica = try Replica(coordinator, identifiedBy: try identifiers())
    let hub = try hub.open(registry)
    if snapshot {
      _ = try Blocking.result { try await replica.compact(hub, forgetting: .seconds(90 * 86_400)) }
    }
    var isChecked = snapshot
    while true {
      do {
        if !isChecked {
          let isKnown = try Blocking.result { try await replica.isKnown(to: hub) }
          isChecked = true
          if !isKnown { StandardError.print(Self.unknown) }
        }
        let report = try Blocking.result { try await replica.synchronize(with: hub) }
        let isNew = report.sent > 0 || report.received > 0 || !report.refused.isEmpty
        if !watch || isNew { try show(report) }
        guard watch else {
          if !report.refused.isEmpty { throw Failure.found }
          return
        }
      } catch let error as PersistenceError where watch && Self.temporary.contains(error.code) {
        StandardError.print("persist: \(error)")
      }
      Thread.sleep(forTimeInterval: interval)
    }
  }

  private static let unknown = """
    note: The hub doesn't have the change sets that the store has sent before, to another hub or to an earlier state \
    of this one. With --snapshot, it gets everything, unless the server gives each user a part of its store.
    """

  /// Failures that the next attempt may not have.
  private static let temporary: Set<PersistenceError.Code> = [.serverFailed, .storeBusy, .fileAccess]

  private func show(_ report: SyncReport) throws {
    for refused in report.refused {
      StandardError.print("persist: \(refused.entry.replica) \(refused.entry.number): \(refused.error)")
    }
    for error in report.waiting { StandardError.print("persist: \(error)") }
    for problem in report.problems { StandardError.print("note: \(problem.message)") }
    if common.json {
      try StandardOutput.print {
        $0.field("sent", report.sent)
        $0.field("received", report.received)
        $0.field("refused", report.refused.count)
        $0.field("problems", report.problems.count)
      }
    } else {
      try StandardOutput.print("change sets: \(report.sent) sent, \(report.received) received")
    }
  }
}

/// `persist replicas`: the replicas that use a hub.
struct ReplicasCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replicas", abstract: "List the replicas that use a hub, and how far each one is. Never writes.")

  @OptionGroup var hub: HubArguments

  @OptionGroup var common: OutputArguments

  func run() throws {
    let hub = try hub.open(isReadOnly: true)
    let (positions, entries) = try Blocking.result {
      (try await hub.positions(), try await hub.entries(after: [:]))
    }
    let last = Dictionary(entries.map { ($0.replica, $0.number) }, uniquingKeysWith: max)
    for position in positions {
      let missing: Int64 = last.reduce(into: 0) { sum, other in
        if other.key != position.replica { sum += max(0, other.value - (position.received[other.key] ?? 0)) }
      }
      if common.json {
        try StandardOutput.print {
          $0.field("replica", position.replica.uuidString)
          $0.field("sent", Int(clamping: position.sent))
          $0.field("missing", Int(clamping: missing))
          $0.field("date", position.date.timeIntervalSinceReferenceDate)
        }
      } else {
        let date = position.date.formatted(.iso8601)
        try StandardOutput.print("\(position.replica)  \(date)  \(position.sent) sent  \(missing) not received yet")
      }
    }
  }
}

/// Waits for asynchronous work, on the program's only thread that has anything to do.
enum Blocking {
  // Sendable: the semaphore orders the only write before the only read.
  private final class Box<Value>: @unchecked Sendable { var result: Result<Value, any Error>? }

  static func result<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let box = Box<Value>()
    let semaphore = DispatchSemaphore(value: 0)
    Task {
      do { box.result = .success(try await body()) } catch { box.result = .failure(error) }
      semaphore.signal()
    }
    semaphore.wait()
    guard let result = box.result else { throw CancellationError() }
    return try result.get()
  }
}
