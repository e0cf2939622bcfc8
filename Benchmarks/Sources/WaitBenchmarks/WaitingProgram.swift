import Foundation
import Persist
import Synchronization

/// The threads of a program that reads and writes a file.
final class WaitingProgram: Sendable {
  private struct State {
    var pause = 0.005
    var isEnded = false
    var samples = ProgramSamples()
    var error: (any Error)?
  }

  /// Performs an operation on a row.
  typealias Operation = (Int) throws -> Duration

  private let state = Mutex(State())
  private let threads = DispatchGroup()

  /// - Parameters:
  ///   - rows: The number of rows.
  ///   - write: Makes the operation of the writing thread, on this thread.
  ///   - read: Makes the operation of the reading thread, on this thread.
  init(rows: Int, write: @escaping @Sendable () throws -> Operation, read: @escaping @Sendable () throws -> Operation) {
    start(rows, 37, write) { $0.writes.add($1) }
    start(rows, 41, read) { $0.reads.add($1) }
  }

  private func start(
    _ rows: Int, _ factor: Int, _ make: @escaping @Sendable () throws -> Operation,
    _ add: @escaping @Sendable (inout ProgramSamples, Duration) -> Void
  ) {
    threads.enter()
    Thread.detachNewThread { [self] in
      do {
        let operation = try make()
        var number = 0
        while !state.withLock({ $0.isEnded }) {
          number += 1
          let time = try operation(number * factor % rows + 1)
          state.withLock { add(&$0.samples, time) }
          rest()
        }
      } catch {
        state.withLock { $0.error = error }
      }
      threads.leave()
    }
  }

  private func rest() {
    let end = ContinuousClock.now + .seconds(state.withLock { $0.pause })
    while ContinuousClock.now < end, !state.withLock({ $0.isEnded }) {
      Thread.sleep(forTimeInterval: min(0.05, max(0, (end - .now) / .seconds(1))))
    }
  }

  /// - Parameter pause: The seconds between two operations of a thread.
  func slowDown(_ pause: Double) { state.withLock { $0.pause = pause } }

  func end() throws -> ProgramSamples {
    state.withLock { $0.isEnded = true }
    threads.wait()
    let ended = state.withLock { ($0.samples, $0.error) }
    if let error = ended.1 { throw error }
    return ended.0
  }
}

extension WaitingProgram {
  /// A program that uses an open store.
  convenience init(_ coordinator: PersistentStoreCoordinator, rows: Int) {
    @Sendable func request(_ row: Int) throws -> FetchRequest<ManagedObject> {
      try FetchRequest("Item", where: "name == %@", WaitCase.name(ofRow: row))
    }
    self.init(rows: rows) {
      let context = ManagedObjectContext(coordinator)
      // Two programs may change the same object.
      context.mergePolicy = .mergeByPropertyObjectTrump
      return { row in
        guard let item = try context.fetch(request(row)).first else { throw WaitError("There is no row \(row).") }
        item["quantity"] = row
        let time = try ContinuousClock().measure { try context.save() }
        context.reset()
        return time
      }
    } read: {
      let context = ManagedObjectContext(coordinator)
      return { row in
        let time = try ContinuousClock().measure { _ = try context.fetch(request(row)) }
        context.reset()
        return time
      }
    }
  }

  /// A program without Persist.
  convenience init(plain url: URL, rows: Int) {
    self.init(rows: rows) {
      let database = PlainProgram(url)
      return { row in
        ContinuousClock().measure { database.run("UPDATE ZITEM SET ZQUANTITY = \(row) WHERE Z_PK = \(row)") }
      }
    } read: {
      let database = PlainProgram(url)
      return { row in
        ContinuousClock().measure { database.run("SELECT ZQUANTITY FROM ZITEM WHERE Z_PK = \(row)") }
      }
    }
  }
}

struct WaitError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
